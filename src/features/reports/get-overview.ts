import type { Overview } from "../../../gen/shipments/v1/report_pb.js";
import type { GetOverviewRequest } from "../../../gen/shipments/v1/report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Call } from "../../pipeline/call.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { findTimeZone } from "../workspaces/workspace.entity.ts";
import { indexPredicate } from "../shipments/shipment.entity.ts";
import {
  bookedBy,
  type Booked,
  type Delivered,
  deliveryMessage,
  FIGURE_NAMES,
  GROUPED_BY,
  overviewMessage,
} from "./overview.ts";
import { MAX_EVENTS } from "./roll-up-bookings.ts";
import { parseReportDays, type ReportDays } from "./report-days.ts";
import type { ReportCache } from "./report-cache.ts";

/** Returns SQL for whether an hour lies within one day of the report. */
const inOneDay = (hour: string) =>
  `width_bucket(${hour}, $2::timestamptz[]) = width_bucket(${hour} + interval '59 min 59.999999 s', $2::timestamptz[])`;

/** Position of the kind in an hour of `BookingDay`. Hours that earlier releases counted have no kind. */
const KIND = FIGURE_NAMES.length + 1;

/**
 * Selects the bookings of each day and currency. Adds up the hours of `BookingDay`, which are in UTC. Counts shipments
 * directly on days that are not in `BookingDay` yet or have changed since, and in UTC hours that span two days of the
 * report. A single statement reads all figures from one snapshot.
 *
 * Days are numbered from 1 by the bounds in `$2`. The bounds are parameters, because PostgreSQL may
 * not have the same time zone rules as Node.
 */
const BOOKED = `
  with counted as materialized (
    select rolled_up.position, coalesce(fill_before, '-infinity') as since,
      feed.position - rolled_up.position as behind
    from booking_roll_up as rolled_up join feed on feed.workspace_id = $1
    where rolled_up.workspace_id = $1
  ), later as materialized (
    select subject from counted join event on event.workspace_id = $1
      and event.position > counted.position and counted.behind <= ${MAX_EVENTS}
  ), changed as materialized (
    select distinct (booked.created_at at time zone 'UTC')::date as date
    from later cross join lateral (
      select created_at from shipment where workspace_id = $1 and reference = later.subject limit 1
    ) as booked
  ), asked as materialized (
    select day at time zone 'UTC' as starts_at, day::date as date,
      exists (select from counted
              where behind = (select count(*) from later) and since <= day at time zone 'UTC')
        and not exists (select from changed where changed.date = day::date)
        -- Earlier releases count days without groups.
        and not exists (select from booking_day
                        where workspace_id = $1 and booking_day.date = day::date and grouped_hours = '[]')
        as is_counted
    from generate_series(date_trunc('day', $3::timestamptz at time zone 'UTC'),
      $4::timestamptz at time zone 'UTC', interval '1 day') as day
  ), own as materialized (
    -- Compares pairs, so that PostgreSQL uses the primary key and not the index by date.
    select date, currency, hours || grouped_hours as hours from booking_day
    where workspace_id = $1
      and (workspace_id, date) >= ($1, ($3::timestamptz at time zone 'UTC')::date)
      and (workspace_id, date) <= ($1, ($4::timestamptz at time zone 'UTC')::date)
  ), part as materialized (
    select starts_at, starts_at + interval '1 day' as ends_at from asked where not is_counted
    union
    select hour, hour + interval '1 hour'
    from unnest($2::timestamptz[]) as bound
      cross join lateral (select date_trunc('hour', bound, 'UTC') as hour) as cut
      join asked on asked.date = (hour at time zone 'UTC')::date
    where is_counted and hour <> bound
  ), booked as (
    select figures.* from part cross join lateral (${bookedBy(
      "width_bucket(created_at, $2::timestamptz[]) as day, currency",
      "day, currency",
      `from shipment
       where workspace_id = $1 and created_at >= part.starts_at and created_at < part.ends_at
         and created_at >= $3 and created_at < $4 and ${indexPredicate("shipment_by_age")}`,
    )}) as figures
    union all
    select width_bucket(hour.starts_at, $2::timestamptz[]), currency,
      ${FIGURE_NAMES.map((_, i) => `(hours.hour ->> ${i + 1})::float8`).join(", ")},
      coalesce((hours.hour ->> ${KIND})::int, ${GROUPED_BY.neither}), hours.hour ->> ${KIND + 1}
    from asked
      join own on own.date = asked.date
      cross join lateral jsonb_array_elements(own.hours) as hours (hour)
      cross join lateral (
        select asked.starts_at + (hours.hour ->> 0)::int * interval '1 hour' as starts_at
      ) as hour
    where is_counted and ${inOneDay("hour.starts_at")}
  )
  select case when kind = ${GROUPED_BY.neither} then day end as day,
    case when kind = ${GROUPED_BY.neither} then currency end as currency, kind, name,
    ${FIGURE_NAMES.map((name) => `sum("${name}") as "${name}"`).join(", ")}
  from booked where day between 1 and cardinality($2::timestamptz[]) - 1
  group by 1, 2, kind, name`;

/**
 * Selects the quotes of each day by quarter of an hour, because all current time zone offsets are multiples of 15
 * minutes. The first and last hour may belong to the report only in part.
 */
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

/** Returns the overview by day in the workspace's time zone. */
export async function getOverview(request: GetOverviewRequest, call: Call, { em, now, overviews }: OverviewDeps) {
  const { workspaceId } = call.caller;
  const timeZone = await findTimeZone(em, workspaceId);
  const days = parseReportDays(request, timeOf(call, now), timeZone);
  const key = `${workspaceId} ${timeZone} ${days.dates[0]} ${days.dates.at(-1)}`;
  const data = await overviews.get(key, () => loadOverview(em, workspaceId, days, timeOf(call, now)));
  return { data };
}

async function loadOverview(em: EntityManager, workspace: number, days: ReportDays, now: Date): Promise<Overview> {
  const { dates, bounds } = days;
  const values = [workspace, bounds, bounds[0], bounds.at(-1)];
  const grouped = Map.groupBy(await runStatement<Grouped>(em, BOOKED, values), ({ kind }) => kind);
  const quoted = await runStatement<Numbered & { readonly quotes: number }>(em, QUOTES, values);
  const withDate = <Row extends Numbered>(row: Row) => {
    const date = dates[row.day - 1];
    return date === undefined ? [] : [{ ...row, date }];
  };
  const booked = grouped.get(GROUPED_BY.neither) ?? [];
  return Object.assign(overviewMessage(days, booked.flatMap(withDate), quoted.flatMap(withDate), now), {
    deliveries: deliveryMessage(booked),
    couriers: largest(grouped.get(GROUPED_BY.courier)),
    zones: largest(grouped.get(GROUPED_BY.zone)),
  });
}

function largest(groups: readonly Grouped[] = []) {
  return groups
    .toSorted((a, b) => Number(a.name === null) - Number(b.name === null) || b.bookings - a.bookings)
    .slice(0, MAX_GROUPS)
    .map((group) => deliveryMessage([group], group.name));
}

/** Maximum number of couriers and of zones. */
const MAX_GROUPS = 50;

interface Grouped extends Booked, Delivered, Numbered {
  readonly kind: number;
  /** Name of the courier or zone. null if the shipments have none. */
  readonly name: string | null;
}

interface Numbered {
  /** Number of the day in the report, from 1. Other numbers are outside the report. */
  readonly day: number;
}
