import { onBehalfOfAll } from "../../db/connection-shares.ts";
import type { WatchDeps } from "./event-functions.ts";
import { loadFeedEnds, loadHappened } from "./load-feed.ts";

/** Watches the subjects of events, such as shipments. */
export type SubjectWatch = ReturnType<typeof createSubjectWatch>;

type Listeners = Map<string, Set<(type: string) => void>>;

interface Watched {
  readonly listeners: Listeners;
  /** Position in the feed after which listeners are notified. */
  readonly ready: Promise<number>;
  readonly ending: AbortController;
}

const POLL_MS = 60_000;

/** Creates the watch of one process. One statement reads the new events for all listeners in a workspace. */
export function createSubjectWatch(deps: WatchDeps) {
  const watched = new Map<number, Watched>();

  function begin(workspace: number): Watched {
    const ready = onBehalfOfAll(() => loadFeedEnds(deps.em, [workspace])).then((ends) => ends.get(workspace) ?? 0);
    const begun = { listeners: new Map(), ready, ending: new AbortController() };
    watched.set(workspace, begun);
    // If the watch fails, it ends for the current listeners. The next listener starts a new watch.
    onBehalfOfAll(() => run(deps, workspace, begun)).catch(() => end(workspace, begun));
    return begun;
  }

  function end(workspace: number, { ending }: Watched): void {
    ending.abort();
    if (watched.get(workspace)?.ending === ending) watched.delete(workspace);
  }

  return {
    /**
     * Calls `changed` with the type of each event of a subject from the moment the promise resolves.
     * Resolves to a function that removes the listener.
     *
     * @param changed must not throw
     */
    async listen(workspace: number, subject: string, changed: (type: string) => void): Promise<() => void> {
      const own = watched.get(workspace) ?? begin(workspace);
      const { listeners, ready } = own;
      const ofSubject = listeners.get(subject) ?? new Set();
      listeners.set(subject, ofSubject.add(changed));
      const stop = () => {
        ofSubject.delete(changed);
        if (ofSubject.size === 0 && listeners.get(subject) === ofSubject) listeners.delete(subject);
        if (listeners.size === 0) end(workspace, own);
      };
      await ready.catch((error: unknown) => {
        stop();
        throw error;
      });
      return stop;
    },
  };
}

/** Notifies the listeners of a workspace until there are none left. */
async function run({ em, feeds }: WatchDeps, workspace: number, { listeners, ready, ending }: Watched): Promise<void> {
  const { signal } = ending;
  const subscription = feeds.subscribe(workspace);
  try {
    let after = await ready;
    while (!signal.aborted) {
      try {
        const { happened, mayHaveMore } = await loadHappened(em, workspace, after);
        for (const { subject, type, position } of happened) {
          after = position;
          for (const changed of listeners.get(subject) ?? []) changed(type);
        }
        if (mayHaveMore) continue;
      } catch {
        // The feed watch notifies this loop again once the database is back.
      }
      await subscription.wait(after, POLL_MS, signal);
    }
  } finally {
    subscription.close();
  }
}
