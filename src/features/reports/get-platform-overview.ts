import { create } from "@bufbuild/protobuf";
import {
  GetPlatformOverviewResponseSchema,
  type GetPlatformOverviewRequest,
  type GetPlatformOverviewResponse,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import {
  BOOKED_DATE,
  BOOKED_FIGURES,
  bookedMessage,
  overviewMessage,
  type BookedOnDay,
  type QuotesOnDay,
  parseReportDays,
  type ReportDays,
} from "./overview.ts";
import type { ReportCache } from "./report-cache.ts";

/** Rows of days have no workspace, and those of the ten workspaces no date. */
const BOOKED = `
  with counted as materialized (
    select workspace_id, ${BOOKED_DATE} as date, currency, ${BOOKED_FIGURES}
    from shipment where created_at >= $1 and created_at < $2
    group by workspace_id, date, currency
  ),
  top as (
    select workspace_id as id, row_number() over (order by sum(bookings) desc, workspace_id) as rank
    from counted group by workspace_id order by rank limit 10
  ),
  counted_top as (
    select * from counted where workspace_id = any (array(select id from top))
  )
  select date::text as date, null::float8 as workspace, null as name, null::int as rank, currency,
    sum(bookings) as bookings, sum(cancellations) as cancellations,
    sum(quoted) as quoted, sum("paidMinor") as "paidMinor", sum("awaitingMinor") as "awaitingMinor"
  from counted group by date, currency
  union all
  select null, workspace.id::float8, workspace.name, top.rank::int, currency,
    sum(bookings), sum(cancellations), sum(quoted), sum("paidMinor"), sum("awaitingMinor")
  from counted_top as counted join top on top.id = counted.workspace_id
    join workspace on workspace.id = top.id
  group by workspace.id, workspace.name, top.rank, currency
  order by rank`;

const QUOTES = `
  select (hour at time zone 'UTC')::date::text as date, sum(calls)::float8 as quotes
  from usage_hour where hour >= $1 and hour < $2 and limit_class = 'quote'
  group by 1`;

interface BookedInWorkspace extends Omit<BookedOnDay, "date"> {
  readonly date: null;
  readonly workspace: number;
  readonly name: string;
}

export interface PlatformOverviewDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  readonly platformOverviews: ReportCache<GetPlatformOverviewResponse>;
}

/**
 * Sums up what all workspaces booked, by day, and names those that booked most.
 *
 * @throws Refusal FIELD_INVALID for days that are none, or too many
 */
export async function getPlatformOverview(
  request: GetPlatformOverviewRequest,
  _call: unknown,
  { em, now, platformOverviews }: PlatformOverviewDeps,
): Promise<GetPlatformOverviewResponse> {
  const days = parseReportDays(request, now());
  const key = `${days.dates[0]} ${days.dates.at(-1)}`;
  return platformOverviews.get(key, () => loadOverview(em, days, now()));
}

async function loadOverview(
  em: EntityManager,
  days: ReportDays,
  now: Date,
): Promise<GetPlatformOverviewResponse> {
  const values = [days.startsAt, days.endsAt];
  const rows = await runStatement<BookedOnDay | BookedInWorkspace>(em, BOOKED, values);
  const quoted = await runStatement<QuotesOnDay>(em, QUOTES, values);
  const onDays = rows.filter((row) => row.date !== null);
  const ofTop = rows.filter((row) => row.date === null);
  return create(GetPlatformOverviewResponseSchema, {
    data: overviewMessage(days, onDays, quoted, now),
    topWorkspaces: [...Map.groupBy(ofTop, ({ workspace }) => workspace)].map(([id, own]) => ({
      workspace: BigInt(id),
      name: own[0]!.name,
      ...bookedMessage(own),
    })),
  });
}
