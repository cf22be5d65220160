import { LIMIT_CLASSES, type LimitClass } from "../../domain/rate-limit.ts";
import type { ReceivedCall } from "../../pipeline/call.ts";

/** Numbers of calls, by class. */
export type CallCounts = Record<LimitClass, number>;

/** Calls of a workspace, all of one class. */
export interface CountedCalls {
  readonly workspace: number;
  readonly limitClass: LimitClass;
  /** At least 1. */
  readonly calls: number;
}

/** Counts the calls of workspaces in memory, until they are written. */
export interface UsageCounter {
  /** Counts a call that has ended, if it was a workspace's and within the limits. */
  count(call: ReceivedCall): void;
  /** What has been counted of a workspace and not written. */
  unwrittenOf(workspace: number): Readonly<CallCounts>;
  /** All that has been counted and not written, by workspace and class. */
  unwritten(): CountedCalls[];
  /** Takes off what has been written. */
  written(counted: readonly CountedCalls[]): void;
}

/**
 * Of how many workspaces calls are counted between two writes, so that memory is bounded; calls of
 * more are not counted.
 */
const MAX_WORKSPACES = 50_000;

const NONE: Readonly<CallCounts> = { quote: 0, read: 0, write: 0 };

/** Builds the counter of one process. */
export function createUsageCounter(maxWorkspaces = MAX_WORKSPACES): UsageCounter {
  const byWorkspace = new Map<number, CallCounts>();

  function countFirst(workspace: number, limitClass: LimitClass): void {
    if (byWorkspace.size >= maxWorkspaces) return;
    byWorkspace.set(workspace, { ...NONE, [limitClass]: 1 });
  }

  return {
    count({ caller, rateLimit }) {
      if (rateLimit === undefined || caller?.audience !== "workspace") return;
      const counts = byWorkspace.get(caller.workspaceId);
      if (counts === undefined) countFirst(caller.workspaceId, rateLimit.limitClass);
      else counts[rateLimit.limitClass]++;
    },
    unwrittenOf: (workspace) => ({ ...(byWorkspace.get(workspace) ?? NONE) }),
    unwritten: () =>
      [...byWorkspace]
        .toSorted(([a], [b]) => a - b)
        .flatMap(([workspace, counts]) =>
          LIMIT_CLASSES.filter((limitClass) => counts[limitClass] > 0).map((limitClass) => ({
            workspace,
            limitClass,
            calls: counts[limitClass],
          })),
        ),
    written(counted) {
      for (const { workspace, limitClass, calls } of counted) {
        const counts = byWorkspace.get(workspace)!;
        counts[limitClass] -= calls;
        if (LIMIT_CLASSES.every((each) => counts[each] === 0)) byWorkspace.delete(workspace);
      }
    },
  };
}
