import { create } from "@bufbuild/protobuf";
import type { Overview } from "../../../gen/shipments/v1/report_pb.js";
import {
  GetOverviewResponseSchema,
  type GetOverviewRequest,
  type GetOverviewResponse,
} from "../../../gen/shipments/v1/report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Call } from "../../pipeline/call.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { findTimeZone } from "../workspaces/workspace.entity.ts";
import { indexPredicate } from "../shipments/shipment.entity.ts";
import { BOOKED_FIGURES, overviewMessage, type Booked } from "./overview.ts";
import { parseReportDays, type ReportDays } from "./report-days.ts";
import type { ReportCache } from "./report-cache.ts";

/**
 * The day is the number of the last bound that is not after the booking, from 1. The bounds come with the
 * statement, so that PostgreSQL need not know the time zones that Node knows, nor have the same rules of them.
 */
const BOOKED = `
  select width_bucket(created_at, $2::timestamptz[]) as day, currency, ${BOOKED_FIGURES}
  from shipment
  where workspace_id = $1 and created_at >= $3 and created_at < $4
    and ${indexPredicate("shipment_by_age")}
  group by 1, currency`;

/** No time zone of this century is off by less than a quarter of an hour; the first and last hour may be parts. */
const QUOTES = `
  select width_bucket(hour + minutes * interval '1 minute', $2::timestamptz[]) as day,
    sum(quarter.calls)::float8 as quotes
  from usage_hour cross join lateral (values
    (0, usage_hour.calls - second_quarter - third_quarter - fourth_quarter),
    (15, second_quarter), (30, third_quarter), (45, fourth_quarter)
  ) as quarter (minutes, calls)
  where workspace_id = $1 and hour > $3::timestamptz - interval '1 hour' and hour < $4
    and limit_class = 'quote'
  group by 1`;

export interface OverviewDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  readonly overviews: ReportCache<Overview>;
}

/**
 * Sums up what a workspace booked, by day of its time zone.
 *
 * @throws Refusal FIELD_INVALID for days that are none, or too many
 */
export async function getOverview(
  request: GetOverviewRequest,
  call: Call,
  { em, now, overviews }: OverviewDeps,
): Promise<GetOverviewResponse> {
  const { workspaceId } = call.caller;
  const timeZone = await findTimeZone(em, workspaceId);
  const days = parseReportDays(request, timeOf(call, now), timeZone);
  const key = `${workspaceId} ${timeZone} ${days.dates[0]} ${days.dates.at(-1)}`;
  const data = await overviews.get(key, () =>
    loadOverview(em, workspaceId, days, timeOf(call, now)),
  );
  return create(GetOverviewResponseSchema, { data });
}

async function loadOverview(
  em: EntityManager,
  workspace: number,
  days: ReportDays,
  now: Date,
): Promise<Overview> {
  const { dates, bounds } = days;
  const values = [workspace, bounds, bounds[0], bounds.at(-1)];
  const booked = await runStatement<Booked & Numbered>(em, BOOKED, values);
  const quoted = await runStatement<Numbered & { readonly quotes: number }>(em, QUOTES, values);
  const withDate = <Row extends Numbered>(row: Row) => {
    const date = dates[row.day - 1];
    return date === undefined ? [] : [{ ...row, date }];
  };
  return overviewMessage(days, booked.flatMap(withDate), quoted.flatMap(withDate), now);
}

interface Numbered {
  /** From 1 in the order of the days; another number for none of them. */
  readonly day: number;
}
