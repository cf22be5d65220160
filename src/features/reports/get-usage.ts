import { GetUsageResponseSchema, type ReportService } from "../../../gen/shipments/v1/report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Call } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import type { LimitClass } from "../../domain/rate-limit.ts";
import type { UsageCounter } from "./usage-counter.ts";

/** Selects the calls in each of the last 24 hours, including the current hour. */
const READ = `
  select (extract(epoch from hours.hour) * 1000)::float8 as "startsAt",
    coalesce(sum(calls) filter (where limit_class in ('quote', 'preview')), 0)::float8 as quote,
    coalesce(sum(calls) filter (where limit_class = 'read'), 0)::float8 as read,
    coalesce(sum(calls) filter (where limit_class = 'write'), 0)::float8 as write
  from generate_series(
    date_trunc('hour', now(), 'UTC') - interval '23 hours', now(), interval '1 hour'
  ) as hours (hour)
  left join lateral (
    select limit_class, calls from usage_hour
    where usage_hour.workspace_id = $1 and usage_hour.hour = hours.hour offset 0
  ) as counted on true
  group by hours.hour order by hours.hour`;

const respond = compileResponse(GetUsageResponseSchema);

interface Row extends Record<LimitClass, number> {
  /** Start of the hour, in milliseconds since the epoch. */
  readonly startsAt: number;
}

type ReportFunctions = ServiceFunctions<
  typeof ReportService,
  Call,
  { readonly em: EntityManager; readonly usage: UsageCounter }
>;

/**
 * Returns the calls per hour. Includes counts that this process has not written yet, so with a
 * single replica all finished calls are included.
 */
export const getUsage: ReportFunctions["getUsage"] = async (_request, { caller }, { em, usage }) => {
  const { workspaceId, limits } = caller;
  const rows = await runStatement<Row>(em, READ, [workspaceId]);
  const unwritten = usage.unwrittenOf(workspaceId);
  const current = rows.at(-1)!;
  current.quote += unwritten.quote + unwritten.preview;
  current.read += unwritten.read;
  current.write += unwritten.write;
  return respond({ data: { ...limits, hours: rows } });
};
