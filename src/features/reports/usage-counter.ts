import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement } from "../../db/statement.ts";
import type { AnyCall } from "../../pipeline/call.ts";
import { USAGE_CLASSES, type UsageClass } from "./usage-hour.entity.ts";

type CallCounts = Record<UsageClass, number>;

/**
 * Maximum number of workspaces that are counted between two writes, to limit memory. Calls of
 * further workspaces are not counted.
 */
const MAX_WORKSPACES = 50_000;

const NONE: Readonly<CallCounts> = { quote: 0, read: 0, write: 0, preview: 0 };

/** Counter that collects the workspaces' calls in memory until they are written. */
export type UsageCounter = ReturnType<typeof createUsageCounter>;

export function createUsageCounter(maxWorkspaces = MAX_WORKSPACES) {
  const byWorkspace = new Map<number, CallCounts>();

  function countFirst(workspace: number, usageClass: UsageClass): void {
    if (byWorkspace.size >= maxWorkspaces) return;
    byWorkspace.set(workspace, { ...NONE, [usageClass]: 1 });
  }

  /** Returns the unwritten counts above 0 by workspace and class. */
  const unwritten = () =>
    [...byWorkspace]
      .toSorted(([a], [b]) => a - b)
      .flatMap(([workspace, counts]) =>
        USAGE_CLASSES.filter((limitClass) => counts[limitClass] > 0).map((limitClass) => ({
          workspace,
          limitClass,
          calls: counts[limitClass],
        })),
      );

  return {
    unwritten,
    count({ caller, received: { rateLimit } }: AnyCall): void {
      if (rateLimit === undefined || caller.audience !== "workspace") return;
      const { limitClass } = rateLimit;
      const isPreview = limitClass === "quote" && caller.keyId === undefined;
      const usageClass = isPreview ? "preview" : limitClass;
      const counts = byWorkspace.get(caller.workspaceId);
      if (counts === undefined) countFirst(caller.workspaceId, usageClass);
      else counts[usageClass]++;
    },
    unwrittenOf: (workspace: number): CallCounts => ({ ...(byWorkspace.get(workspace) ?? NONE) }),
    written(counted: ReturnType<typeof unwritten>): void {
      for (const { workspace, limitClass, calls } of counted) {
        const counts = byWorkspace.get(workspace)!;
        counts[limitClass] -= calls;
        if (USAGE_CLASSES.every((each) => counts[each] === 0)) byWorkspace.delete(workspace);
      }
    },
  };
}

/** Maximum number of rows per statement, which limits how long a statement takes. */
const BATCH = 5_000;

/**
 * Adds counts to the current hour, by the database's clock at the time of the write. All replicas
 * write in the same order to avoid deadlocks.
 */
const WRITE = `
  insert into usage_hour as kept (workspace_id, hour, limit_class, calls,
    second_quarter, third_quarter, fourth_quarter)
  select counted.workspace, date_trunc('hour', now(), 'UTC'), counted."limitClass", counted.calls,
    ${inQuarter(1)}, ${inQuarter(2)}, ${inQuarter(3)}
  from json_to_recordset($1) as counted (workspace bigint, "limitClass" text, calls bigint)
  where exists (select from workspace where id = counted.workspace offset 0)
  order by counted.workspace, counted."limitClass"
  on conflict (workspace_id, hour, limit_class) do update set calls = kept.calls + excluded.calls,
    second_quarter = kept.second_quarter + excluded.second_quarter,
    third_quarter = kept.third_quarter + excluded.third_quarter,
    fourth_quarter = kept.fourth_quarter + excluded.fourth_quarter`;

/**
 * Returns SQL for the number of calls if the current quarter of the hour is the given one, otherwise 0. Quarters are
 * numbered from 0 to 3, in UTC. The quarter is part of the text, because a distributed database cannot send a `case`
 * with a parameter to its nodes.
 */
function inQuarter(quarter: number): string {
  return `case when floor(extract(epoch from now()) / 900)::bigint % 4 = ${quarter} then counted.calls else 0 end`;
}

/**
 * Writes the counts. Counts that cannot be written are kept for the next write. If the connection
 * breaks during a commit, the batch may be written twice.
 *
 * @throws errors of the database
 */
export async function writeUsage(em: EntityManager, counter: UsageCounter): Promise<void> {
  const counted = counter.unwritten();
  for (let i = 0; i < counted.length; i += BATCH) {
    const batch = counted.slice(i, i + BATCH);
    await runStatement(em, WRITE, [JSON.stringify(batch)]);
    counter.written(batch);
  }
}

/** Retention of call counts, in days. */
export const USAGE_DAYS = 100;

/**
 * Deletes call counts older than 100 days, and replicas without a heartbeat for one day.
 *
 * @returns the number of deleted call counts
 */
export async function purgeReports(em: EntityManager): Promise<number> {
  await runStatement(em, "delete from replica where seen_at < now() - interval '1 day'");
  return deleteOldest(em, "usage_hour", "hour", "now() - make_interval(days => $1)", [USAGE_DAYS]);
}
