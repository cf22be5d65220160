import { setTimeout as sleep } from "node:timers/promises";
import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** Minimum interval between polls and between counts of the same workspace, in milliseconds. */
const POLL_MS = 10_000;
/** Minimum pause after counting a workspace, as a multiple of the time it took. */
const REST_FACTOR = 20;
/** Maximum time for which one transaction counts missing figures, in milliseconds. */
const FILL_MS = 500;

/**
 * Figures that are counted from shipments. Events only determine which figures have changed. A changed figure is counted
 * again from its shipments, so repeated counts are harmless and correct earlier errors.
 */
export interface RollUp {
  /**
   * Table with the progress of each workspace:
   * - `position`: position of the last processed event
   * - `fill_before`: bound below which figures are not counted yet, null if all are counted
   * - `rest_until`: end of the pause after a count
   */
  readonly table: "booking_roll_up" | "customer_roll_up";
  /** SQL condition for the workspaces to count. */
  readonly workspaces: string;
  /** Value of `fill_before` before the first count. */
  readonly beyondAll: string;
  /** Maximum number of events whose changes one transaction counts. */
  readonly maxEvents: number;
  /** Counts some figures before a bound. Returns the next bound, or null if no figures are left. */
  fill(tx: EntityManager, workspace: number, before: string): Promise<string | null>;
  /** Counts the figures that the next events changed. */
  countChanged(tx: EntityManager, workspace: number, position: number): Promise<Changed>;
}

export interface Changed {
  /** Position of the last processed event. */
  readonly until: number;
  /** Whether the changed figures are known. If not, all figures are counted again. */
  readonly isKnown: boolean;
}

/**
 * Returns a statement that reads the next events in the feed of workspace `$1` after position `$2`: the position of the
 * last one as `until`, their number as `events`, and the given aggregates.
 *
 * @param limit maximum number of events
 * @param joins SQL that joins other tables to `event`
 */
export function readEvents(limit: number, aggregates: string, joins: string): string {
  return `
    with part as materialized (
      select least(position, $2::bigint + ${limit}) as until from feed where workspace_id = $1
    )
    select part.until::float8 as until, count(event.position)::float8 as events, ${aggregates}
    from part
      left join event on event.workspace_id = $1
        and event.position > $2::bigint and event.position <= part.until
      ${joins}
    group by part.until`;
}

/**
 * Creates a queue that counts figures. The counting process locks the workspace's progress and commits the figures
 * together with it.
 */
export function createRollUp(em: EntityManager, rollUp: RollUp): LeasedQueue<Behind> {
  const { table, workspaces } = rollUp;
  /** Selects workspaces with uncounted changes whose pause is over. */
  const behindSql = `
    select feed.workspace_id::float8 as workspace, rolled_up.workspace_id is null as "isNew"
    from feed left join ${table} as rolled_up on rolled_up.workspace_id = feed.workspace_id
      join workspace on workspace.id = feed.workspace_id and ${workspaces}
    where rolled_up.workspace_id is null
      or (rolled_up.position < feed.position or rolled_up.fill_before is not null)
        and rolled_up.rest_until <= now()
    order by feed.workspace_id`;
  /**
   * Workspaces found by the last poll that are not counted yet. Kept, because each poll reads the feeds of all
   * workspaces.
   */
  let behind: Behind[] | undefined;
  return {
    name: `${table}s`,
    outcomes: ["counted", "lost"],
    pollMs: POLL_MS,
    concurrency: { total: 1, perWorkspace: 1 },
    async find({ limit }) {
      behind ??= await runStatement<Behind>(em, behindSql);
      const found = behind.splice(0, limit);
      if (found.length === 0) behind = undefined;
      return found;
    },
    async work({ workspace, isNew }) {
      if (isNew) await startRollUp(em, rollUp, workspace);
      const startedMs = performance.now();
      const part = await countPart(em, rollUp, workspace);
      if (part === "more") {
        // Leaves the database as much time for calls as the count took.
        await sleep(performance.now() - startedMs);
        behind?.push({ workspace, isNew: false });
      }
      return part === "lost" ? part : "counted";
    },
  };
}

interface Behind extends WorkItem {
  readonly isNew: boolean;
}

/** Creates the progress of a workspace if it does not exist. */
export async function startRollUp(
  em: EntityManager,
  { table, beyondAll }: Pick<RollUp, "table" | "beyondAll">,
  workspace: number,
): Promise<void> {
  const sql = `
    insert into ${table} (workspace_id, position, fill_before, rest_until)
    select workspace_id, position, '${beyondAll}', now() from feed where workspace_id = $1
    on conflict do nothing`;
  await runStatement(em, sql, [workspace]);
}

/**
 * Counts some of a workspace's figures: missing ones first, then those changed by new events.
 *
 * @returns `more` if more may be left, `lost` if another process counts or has counted the workspace
 */
function countPart(em: EntityManager, rollUp: RollUp, workspace: number): Promise<"more" | "done" | "lost"> {
  const lock = `
    select position::float8 as position, fill_before::text as "fillBefore"
    from ${rollUp.table} where workspace_id = $1 and rest_until <= now() for update skip locked`;
  return em.fork().transactional(async (tx) => {
    const [progress] = await runStatement<Progress>(tx, lock, [workspace]);
    if (progress === undefined) return "lost";
    const { position, fillBefore } = progress;
    if (fillBefore !== null && !(await fillMissing(tx, rollUp, workspace, fillBefore))) return "more";
    return (await countNext(tx, rollUp, workspace, position)) ? "more" : "done";
  });
}

interface Progress {
  readonly position: number;
  readonly fillBefore: string | null;
}

/** Counts missing figures for a limited time. Returns whether all are counted. */
async function fillMissing(tx: EntityManager, rollUp: RollUp, workspace: number, before: string): Promise<boolean> {
  const startedMs = performance.now();
  let fillBefore: string | null = before;
  while (fillBefore !== null && performance.now() < startedMs + FILL_MS) {
    fillBefore = await rollUp.fill(tx, workspace, fillBefore);
  }
  const filled = `
    update ${rollUp.table} set fill_before = $2, rest_until = now() + $3::float8 * interval '1 ms'
    where workspace_id = $1`;
  // The pause begins after the transaction, but `now()` is its start.
  await runStatement(tx, filled, [workspace, fillBefore, 2 * (performance.now() - startedMs)]);
  return fillBefore === null;
}

/** Counts what the next events changed. Returns whether more events may be left. */
async function countNext(tx: EntityManager, rollUp: RollUp, workspace: number, position: number): Promise<boolean> {
  const startedMs = performance.now();
  const { until, isKnown } = await rollUp.countChanged(tx, workspace, position);
  const mayHaveMore = isKnown && until - position === rollUp.maxEvents;
  const restMs = mayHaveMore ? 0 : Math.max(POLL_MS, (performance.now() - startedMs) * REST_FACTOR);
  const counted = `
    update ${rollUp.table} set position = $2, fill_before = $3, rest_until = now() + $4::float8 * interval '1 ms'
    where workspace_id = $1`;
  await runStatement(tx, counted, [workspace, until, isKnown ? null : rollUp.beyondAll, restMs]);
  return mayHaveMore;
}
