import type { LeasedQueue } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runSlowStatement, runStatement } from "../../db/statement.ts";
import { indexPredicate } from "../shipments/shipment.entity.ts";
import { bookedBy, FIGURE_NAMES, GROUPED_BY } from "./overview.ts";
import { type Changed, createRollUp, readEvents } from "./roll-up.ts";

/** Maximum number of uncounted events that a transaction or a report reads. */
export const MAX_EVENTS = 20_000;

/** Reads the next events and the booking days that they changed. */
const CHANGED = readEvents(
  MAX_EVENTS,
  `json_agg(distinct (booked.created_at at time zone 'UTC')::date)
    filter (where booked.created_at is not null) as dates`,
  `left join lateral (
    select created_at from shipment
    where shipment.workspace_id = $1 and reference = event.subject limit 1
  ) as booked on true`,
);

const OF_SHIPMENTS = `from shipment where workspace_id = $1 and ${indexPredicate("shipment_by_age")}`;

const NEWEST_UNFILLED = `
  select (created_at at time zone 'UTC')::date::text as date ${OF_SHIPMENTS}
    and created_at < $2::timestamptz
  order by created_at desc, reference desc limit 1`;

const FORGET_DAY = "delete from booking_day where workspace_id = $1 and date = $2::date";

const HOUR = `jsonb_build_array(hour, ${FIGURE_NAMES.map((name) => `"${name}"`).join(", ")}, kind, name)`;

const COUNT_DAY = `
  insert into booking_day (workspace_id, date, currency,
    bookings, cancellations, quoted, paid_minor, awaiting_minor, hours, grouped_hours)
  select workspace_id, $2::date, currency, ${FIGURE_NAMES.slice(0, 5)
    .map((name) => `sum("${name}") filter (where kind = ${GROUPED_BY.neither})`)
    .join(", ")},
    jsonb_agg(${HOUR} order by hour) filter (where kind = ${GROUPED_BY.neither}),
    jsonb_agg(${HOUR} order by hour, kind, name) filter (where kind <> ${GROUPED_BY.neither})
  from (${bookedBy(
    "workspace_id, currency, date_part('hour', created_at at time zone 'UTC') as hour",
    "workspace_id, currency, hour",
    `${OF_SHIPMENTS} and created_at >= $3::timestamptz and created_at < $4::timestamptz`,
  )}) as by_hour
  group by workspace_id, currency`;

/** Creates the queue that maintains `BookingDay`. */
export function createRollUpQueue(em: EntityManager): LeasedQueue {
  return createRollUp(em, {
    table: "booking_roll_up",
    workspaces: "workspace.twin_of is null",
    beyondAll: "infinity",
    maxEvents: MAX_EVENTS,
    fill,
    countChanged,
  });
}

/** Counts the newest day with bookings before a time. */
async function fill(tx: EntityManager, workspace: number, before: string): Promise<string | null> {
  const [newest] = await runStatement<Day>(tx, NEWEST_UNFILLED, [workspace, before]);
  if (newest === undefined) return null;
  await countDay(tx, workspace, newest.date);
  return startOf(newest.date);
}

interface Day {
  /** Date, such as `2026-11-01`. */
  readonly date: string;
}

async function countChanged(tx: EntityManager, workspace: number, position: number): Promise<Changed> {
  const [changed] = await runStatement<ChangedDays>(tx, CHANGED, [workspace, position]);
  const { until, events, dates } = changed!;
  // If events were purged before they were processed, any day may have changed.
  const isKnown = events === until - position;
  if (isKnown) for (const date of dates ?? []) await countDay(tx, workspace, date);
  return { until, isKnown };
}

interface ChangedDays {
  readonly until: number;
  readonly events: number;
  /** Dates such as `2026-11-01`. null if there are none. */
  readonly dates: readonly string[] | null;
}

async function countDay(tx: EntityManager, workspace: number, date: string): Promise<void> {
  const startsAt = startOf(date);
  const endsAt = new Date(Date.parse(startsAt) + 24 * 60 * 60 * 1_000).toISOString();
  await runStatement(tx, FORGET_DAY, [workspace, date]);
  await runSlowStatement(tx, COUNT_DAY, [workspace, date, startsAt, endsAt]);
}

function startOf(date: string): string {
  return `${date}T00:00:00.000Z`;
}
