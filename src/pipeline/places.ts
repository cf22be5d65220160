import { unavailable, type Refusal } from "../domain/refusal.ts";

/** The work that a process takes in flight, of which no workspace has more than its share. */
export interface Places {
  /** @throws Refusal UNAVAILABLE when all places are taken, or too many calls wait for one */
  assertSome(workspaceId: number): void;
  /** Whether a workspace may begin more work now. */
  has(workspaceId: number): boolean;
  /** Takes a place for work that has begun, until it ends. */
  track(workspaceId: number, work: Promise<unknown>): void;
  /** Begins work when other work of the workspace has ended, in the order of these calls. */
  runLater<T>(workspaceId: number, begin: () => T | Promise<T>): Promise<T>;
}

/** How much work one process has in flight at most; more is refused. */
const MAX_IN_FLIGHT = 1_000;
/** How much of it may be one workspace's; more waits. */
const MAX_OF_WORKSPACE = 250;
/** How many calls of one workspace may wait; more are refused. */
const MAX_WAITING = 10_000;

interface OfWorkspace {
  inFlight: number;
  readonly waiting: Set<() => void>;
  /** Ends a piece of work, and hands its place to the next that waits. */
  readonly ended: () => void;
}

/** Builds the places of one process. Work counts until it ends, even if its caller has left. */
export function createPlaces(): Places {
  const ofWorkspaces = new Map<number, OfWorkspace>();
  let inFlight = 0;

  function createOfWorkspace(workspaceId: number): OfWorkspace {
    const own: OfWorkspace = {
      inFlight: 0,
      waiting: new Set(),
      ended() {
        const [next] = own.waiting;
        if (next !== undefined) {
          own.waiting.delete(next);
          return next();
        }
        inFlight--;
        if (--own.inFlight === 0) ofWorkspaces.delete(workspaceId);
      },
    };
    return own;
  }

  return {
    assertSome(workspaceId) {
      if (inFlight >= MAX_IN_FLIGHT) throw overloadError("The service is overloaded");
      if ((ofWorkspaces.get(workspaceId)?.waiting.size ?? 0) < MAX_WAITING) return;
      throw overloadError("The workspace has too many calls in flight");
    },
    has: (workspaceId) => (ofWorkspaces.get(workspaceId)?.inFlight ?? 0) < MAX_OF_WORKSPACE,
    track(workspaceId, work) {
      const own = ofWorkspaces.getOrInsertComputed(workspaceId, createOfWorkspace);
      inFlight++;
      own.inFlight++;
      work.then(own.ended, own.ended);
    },
    async runLater(workspaceId, begin) {
      const own = ofWorkspaces.get(workspaceId);
      if (own === undefined) throw new Error(`workspace ${workspaceId} has nothing to wait for`);
      const { promise, resolve } = Promise.withResolvers<void>();
      own.waiting.add(resolve);
      await promise;
      try {
        return await begin();
      } finally {
        own.ended();
      }
    },
  };
}

function overloadError(what: string): Refusal {
  return unavailable(`${what}; try again in a moment.`);
}
