import { createWaiter } from "../events/waiter.ts";

/** Which workspaces may have deliveries that are due. */
export interface Announced {
  readonly isEmpty: boolean;
  /** Undefined for all. */
  readonly workspaces: readonly number[] | undefined;
  includes(workspace: number): boolean;
}

/** Collects announcements until they are taken. */
export interface Announcements {
  /** @param workspaces undefined for all */
  hear(workspaces: readonly number[] | undefined): void;
  /** Ends a wait without an announcement. */
  wake(): void;
  /** Takes what has been heard since the last time; all workspaces when a poll is due. */
  take(): Announced;
  /** Waits until something is heard, `wake` is called, or a poll is due. */
  wait(): Promise<void>;
}

/**
 * Builds the collection.
 *
 * @param pollMs after how long all workspaces count as announced, without any announcement
 */
export function createAnnouncements(pollMs: number): Announcements {
  const heard = new Set<number>();
  let pollAtMs = 0;
  const waiter = createWaiter();

  return {
    hear(workspaces) {
      if (workspaces === undefined) pollAtMs = 0;
      else for (const workspace of workspaces) heard.add(workspace);
      waiter.wake();
    },
    wake: waiter.wake,
    take() {
      const workspaces = [...heard];
      heard.clear();
      if (performance.now() < pollAtMs) return announced(workspaces);
      pollAtMs = performance.now() + pollMs;
      return announced(undefined);
    },
    async wait() {
      await waiter.wait(Math.max(0, pollAtMs - performance.now()));
    },
  };
}

function announced(workspaces: readonly number[] | undefined): Announced {
  return {
    isEmpty: workspaces?.length === 0,
    workspaces,
    includes: (workspace) => workspaces?.includes(workspace) ?? true,
  };
}
