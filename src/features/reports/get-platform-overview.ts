import { create } from "@bufbuild/protobuf";
import {
  GetPlatformOverviewResponseSchema,
  type GetPlatformOverviewRequest,
  type GetPlatformOverviewResponse,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { bookedMessage, overviewMessage, type Booked, type BookedOnDay, type QuotesOnDay } from "./overview.ts";
import { parseReportDays, type ReportDays } from "./report-days.ts";
import { calendarsOf, loadSlotUse } from "../slots/upcoming-slots.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import type { ReportCache } from "./report-cache.ts";

const SUMS = `
  sum(bookings)::float8 as bookings, sum(cancellations)::float8 as cancellations,
  sum(quoted)::float8 as quoted, sum(paid_minor)::float8 as "paidMinor",
  sum(awaiting_minor)::float8 as "awaitingMinor"`;

const BOOKED = `
  select date::text as date, currency, ${SUMS}
  from booking_day where date >= $1::date and date <= $2::date
  group by booking_day.date, currency`;

const TOP = `
  select workspace_id::float8 as workspace
  from booking_day where date >= $1::date and date <= $2::date
  group by workspace_id order by sum(bookings) desc, workspace_id limit 10`;

const BOOKED_IN_WORKSPACES = `
  select workspace.id::float8 as workspace, workspace.name, currency, ${SUMS}
  from booking_day join workspace on workspace.id = booking_day.workspace_id
  where booking_day.workspace_id = any ($3::bigint[]) and date >= $1::date and date <= $2::date
  group by workspace.id, workspace.name, currency`;

const QUOTES = `
  select (hour at time zone 'UTC')::date::text as date, sum(calls)::float8 as quotes
  from usage_hour join workspace on workspace.id = usage_hour.workspace_id
  where hour >= $1 and hour < $2 and limit_class = 'quote' and workspace.twin_of is null
  group by 1`;

interface BookedInWorkspace extends Booked {
  readonly workspace: number;
  readonly name: string;
}

export interface PlatformOverviewDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  readonly platformOverviews: ReportCache<GetPlatformOverviewResponse>;
  readonly tariffs: Pick<TariffCache, "current" | "currentVersion">;
}

/**
 * Sums up the bookings of all live workspaces by day in UTC, and returns the workspaces with the most bookings.
 *
 * @throws Refusal FIELD_INVALID for invalid or too many days
 */
export async function getPlatformOverview(
  request: GetPlatformOverviewRequest,
  _call: unknown,
  deps: PlatformOverviewDeps,
): Promise<GetPlatformOverviewResponse> {
  const days = parseReportDays(request, deps.now(), "UTC");
  const key = `${days.dates[0]} ${days.dates.at(-1)}`;
  return deps.platformOverviews.get(key, () => loadOverview(days, deps));
}

async function loadOverview(
  days: ReportDays,
  { em, now, tariffs }: PlatformOverviewDeps,
): Promise<GetPlatformOverviewResponse> {
  const dates = [days.dates[0], days.dates.at(-1)];
  const booked = await runStatement<BookedOnDay>(em, BOOKED, dates);
  const top = await runStatement<{ workspace: number }>(em, TOP, dates);
  const ids = top.map(({ workspace }) => workspace);
  const ofTop = await runStatement<BookedInWorkspace>(em, BOOKED_IN_WORKSPACES, [...dates, ids]);
  const quoted = await runStatement<QuotesOnDay>(em, QUOTES, [days.bounds[0], days.bounds.at(-1)]);
  const own = Map.groupBy(ofTop, ({ workspace }) => workspace);
  return create(GetPlatformOverviewResponseSchema, {
    data: overviewMessage(days, booked, quoted, now()),
    topWorkspaces: ids.flatMap((id) => {
      const rows = own.get(id);
      return rows === undefined ? [] : [{ workspace: BigInt(id), name: rows[0]!.name, ...bookedMessage(rows) }];
    }),
    slots: await loadSlotUse(em, calendarsOf(tariffs), now().getTime()),
  });
}
