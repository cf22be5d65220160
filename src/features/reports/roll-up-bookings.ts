import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runSlowStatement, runStatement } from "../../db/statement.ts";
import { indexPredicate } from "../shipments/shipment.entity.ts";
import { bookedBy, FIGURE_NAMES, GROUPED_BY } from "./overview.ts";

/** Minimum interval between polls and between counts of the same workspace, in milliseconds. */
const POLL_MS = 10_000;
/** Minimum pause after counting a workspace, as a multiple of the time it took. */
const REST_FACTOR = 20;
/** Maximum time for which one transaction counts missing days, in milliseconds. */
const FILL_MS = 500;
/** Maximum number of uncounted events that a transaction or a report reads. */
export const MAX_EVENTS = 20_000;

/** Selects live workspaces with uncounted bookings whose pause is over. */
const BEHIND = `
  select feed.workspace_id::float8 as workspace, rolled_up.workspace_id is null as "isNew"
  from feed left join booking_roll_up as rolled_up on rolled_up.workspace_id = feed.workspace_id
    join workspace on workspace.id = feed.workspace_id and workspace.twin_of is null
  where rolled_up.workspace_id is null
    or (rolled_up.position < feed.position or rolled_up.fill_before is not null)
      and rolled_up.rest_until <= now()
  order by feed.workspace_id`;

const START = `
  insert into booking_roll_up (workspace_id, position, fill_before, rest_until)
  select workspace_id, position, 'infinity', now() from feed where workspace_id = $1
  on conflict do nothing`;

const LOCK = `
  select position::float8 as position, fill_before::text as "fillBefore"
  from booking_roll_up where workspace_id = $1 and rest_until <= now() for update skip locked`;

/**
 * Reads the next events in the feed: the position of the last one, their number, and the booking days that they
 * changed.
 */
const CHANGED = `
  with part as materialized (
    select least(position, $2::bigint + ${MAX_EVENTS}) as until from feed where workspace_id = $1
  )
  select part.until::float8 as until, count(event.position)::float8 as events,
    json_agg(distinct (booked.created_at at time zone 'UTC')::date)
      filter (where booked.created_at is not null) as dates
  from part
    left join event on event.workspace_id = $1
      and event.position > $2::bigint and event.position <= part.until
    left join lateral (
      select created_at from shipment
      where shipment.workspace_id = $1 and reference = event.subject limit 1
    ) as booked on true
  group by part.until`;

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

const FILLED = "update booking_roll_up set fill_before = $2::timestamptz where workspace_id = $1";

const COUNTED = `
  update booking_roll_up set position = $2, rest_until = now() + $3::float8 * interval '1 ms'
  where workspace_id = $1`;

/**
 * Creates the queue that maintains `BookingDay`. Events only determine which days have changed. A changed day is
 * counted again from its shipments, so repeated counts are harmless and correct earlier errors. The counting process
 * locks the workspace and commits the days together with the progress.
 */
export function createRollUpQueue(em: EntityManager): LeasedQueue<Behind> {
  /** Remaining workspaces of the last poll. Kept, because a poll reads the feeds of all workspaces. */
  let behind: Behind[] | undefined;
  return {
    name: "booking_roll_ups",
    outcomes: ["counted", "lost"],
    pollMs: POLL_MS,
    concurrency: { total: 1, perWorkspace: 1 },
    async find({ limit }) {
      behind ??= await runStatement<Behind>(em, BEHIND);
      const found = behind.splice(0, limit);
      if (found.length === 0) behind = undefined;
      return found;
    },
    async work({ workspace, isNew }) {
      if (isNew) await runStatement(em, START, [workspace]);
      const part = await rollUpPart(em, workspace);
      if (part === "more") behind?.push({ workspace, isNew: false });
      return part === "lost" ? part : "counted";
    },
  };
}

interface Behind extends WorkItem {
  readonly isNew: boolean;
}

/**
 * Counts some of a workspace's uncounted bookings: missing days first, then the days changed by new events.
 *
 * @returns `more` if more may be left, `lost` if another process counts or has counted the workspace
 */
function rollUpPart(em: EntityManager, workspace: number): Promise<"more" | "done" | "lost"> {
  return em.fork().transactional(async (tx) => {
    const [rolledUp] = await runStatement<RolledUp>(tx, LOCK, [workspace]);
    if (rolledUp === undefined) return "lost";
    const { position, fillBefore } = rolledUp;
    if (fillBefore !== null && !(await fillDays(tx, workspace, fillBefore))) return "more";
    return (await countChanged(tx, workspace, position)) ? "more" : "done";
  });
}

interface RolledUp {
  readonly position: number;
  readonly fillBefore: string | null;
}

/** Counts missing days from the newest to the oldest. Returns whether all days are counted. */
async function fillDays(tx: EntityManager, workspace: number, before: string): Promise<boolean> {
  const startedMs = performance.now();
  let fillBefore: string | null = before;
  while (fillBefore !== null && performance.now() < startedMs + FILL_MS) {
    const newest: Day | undefined = await findNewestDay(tx, workspace, fillBefore);
    if (newest !== undefined) await countDay(tx, workspace, newest.date);
    fillBefore = newest === undefined ? null : startOf(newest.date);
  }
  await runStatement(tx, FILLED, [workspace, fillBefore]);
  return fillBefore === null;
}

interface Day {
  /** Date, such as `2026-11-01`. */
  readonly date: string;
}

/** Returns the newest day with bookings before a time. */
async function findNewestDay(tx: EntityManager, workspace: number, before: string): Promise<Day | undefined> {
  const [day] = await runStatement<Day>(tx, NEWEST_UNFILLED, [workspace, before]);
  return day;
}

async function countChanged(tx: EntityManager, workspace: number, position: number): Promise<boolean> {
  const startedMs = performance.now();
  const [changed] = await runStatement<Changed>(tx, CHANGED, [workspace, position]);
  const { until, events, dates } = changed!;
  // If events were purged before they were processed, any day may have changed.
  const isFilled = events === until - position;
  if (!isFilled) await runStatement(tx, FILLED, [workspace, "infinity"]);
  else for (const date of dates ?? []) await countDay(tx, workspace, date);
  const mayHaveMore = !isFilled || until - position === MAX_EVENTS;
  const restMs = mayHaveMore ? 0 : Math.max(POLL_MS, (performance.now() - startedMs) * REST_FACTOR);
  await runStatement(tx, COUNTED, [workspace, until, restMs]);
  return mayHaveMore;
}

interface Changed {
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
