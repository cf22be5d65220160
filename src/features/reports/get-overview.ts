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
import { indexPredicate } from "../shipments/shipment.entity.ts";
import {
  BOOKED_DATE,
  BOOKED_FIGURES,
  overviewMessage,
  type BookedOnDay,
  type QuotesOnDay,
  parseReportDays,
  type ReportDays,
} from "./overview.ts";
import type { ReportCache } from "./report-cache.ts";

const BOOKED = `
  select (${BOOKED_DATE})::text as date, currency, ${BOOKED_FIGURES}
  from shipment
  where workspace_id = $1 and created_at >= $2 and created_at < $3
    and ${indexPredicate("shipment_by_age")}
  group by ${BOOKED_DATE}, currency`;

const QUOTES = `
  select (hour at time zone 'UTC')::date::text as date, sum(calls)::float8 as quotes
  from usage_hour
  where workspace_id = $1 and hour >= $2 and hour < $3 and limit_class = 'quote'
  group by 1`;

export interface OverviewDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  readonly overviews: ReportCache<Overview>;
}

/**
 * Sums up what a workspace booked, by day.
 *
 * @throws Refusal FIELD_INVALID for days that are none, or too many
 */
export async function getOverview(
  request: GetOverviewRequest,
  { caller: { workspaceId } }: Call,
  { em, now, overviews }: OverviewDeps,
): Promise<GetOverviewResponse> {
  const days = parseReportDays(request, now());
  const key = `${workspaceId} ${days.dates[0]} ${days.dates.at(-1)}`;
  const data = await overviews.get(key, () => loadOverview(em, workspaceId, days, now()));
  return create(GetOverviewResponseSchema, { data });
}

async function loadOverview(
  em: EntityManager,
  workspace: number,
  days: ReportDays,
  now: Date,
): Promise<Overview> {
  const values = [workspace, days.startsAt, days.endsAt];
  const booked = await runStatement<BookedOnDay>(em, BOOKED, values);
  const quoted = await runStatement<QuotesOnDay>(em, QUOTES, values);
  return overviewMessage(days, booked, quoted, now);
}
