import { useContext, useEffect, useRef } from "preact/hooks";
import type { Event } from "../../../gen/shipments/v1/event_pb.js";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { clientFor, noteError } from "./clients.ts";
import { connected, untilElapsed } from "./connection.ts";
import { WorkspaceId } from "./session.ts";

/** Default minimum interval between calls of a listener, in milliseconds. */
const MIN_INTERVAL_MS = 1_000;
/**
 * Silence after which a stream counts as broken, in milliseconds. The service sends a message at least every 15
 * seconds.
 */
const SILENCE_MS = 30_000;
/** Time that a stream without listeners stays open, in milliseconds. Page changes can then reuse it. */
const LINGER_MS = 5_000;
/** Delay before an ended stream is reopened, in milliseconds. */
const RETRY_MS = 10_000;

/**
 * Calls `changed` soon after an event in the page's workspace, so that the page can reload:
 *
 *     useLive(query.reload);
 *
 * @param concerns selects the events that matter; all by default
 * @param minIntervalMs minimum interval between calls; raise it for data that is expensive to load
 */
export function useLive(changed: () => void, concerns?: (event: Event) => boolean, minIntervalMs = MIN_INTERVAL_MS) {
  const workspace = useContext(WorkspaceId);
  const latest = useRef({ changed, concerns });
  latest.current = { changed, concerns };
  useEffect(() => {
    if (workspace === undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = listen(workspace, (event) => {
      if (event !== undefined && latest.current.concerns?.(event) === false) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current.changed();
      }, minIntervalMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [workspace, minIntervalMs]);
}

/** Receives each event, or `undefined` if events may have been missed. */
type Listener = (event: Event | undefined) => void;

interface Feed {
  readonly listeners: Set<Listener>;
  readonly close: () => void;
}

const feeds = new Map<string, Feed>();

/** Subscribes to a workspace's events. All listeners share one stream. Returns an unsubscribe function. */
function listen(workspace: string, listener: Listener): () => void {
  let feed = feeds.get(workspace);
  if (feed === undefined) {
    feed = openFeed(workspace);
    feeds.set(workspace, feed);
  }
  const { listeners, close } = feed;
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    setTimeout(() => {
      if (listeners.size > 0 || feeds.get(workspace) !== feed) return;
      feeds.delete(workspace);
      close();
    }, LINGER_MS);
  };
}

/**
 * Streams a workspace's events while the tab is visible. Browsers allow six connections per host, and hidden tabs
 * would use them up. A tab that becomes visible again first receives the missed events.
 */
function openFeed(workspace: string): Feed {
  const listeners = new Set<Listener>();
  let cursor: string | undefined;
  let stream: AbortController | undefined;
  const tell: Listener = (event) => {
    for (const listener of listeners) listener(event);
  };
  const follow = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      let isFirst = true;
      await watchOnce(workspace, cursor, signal, (event, at) => {
        // Reload on the first message: the data was loaded before the stream began, or failed to load.
        if (isFirst) tell(undefined);
        else if (event !== undefined) tell(event);
        isFirst = false;
        cursor = at;
      });
      if (signal.aborted) return;
      await untilElapsed(RETRY_MS, signal, "abort");
      // Without a stream, for example when the workspace has too many, the page reloads periodically.
      tell(undefined);
    }
  };
  const stop = () => {
    stream?.abort();
    stream = undefined;
  };
  const adapt = () => {
    if (document.hidden) return stop();
    if (stream !== undefined) return;
    stream = new AbortController();
    void follow(stream.signal);
  };
  const reopen = () => {
    if (!connected.get()) return;
    stop();
    adapt();
  };
  adapt();
  document.addEventListener("visibilitychange", adapt);
  const unsubscribe = connected.subscribe(reopen);
  const close = () => {
    unsubscribe();
    document.removeEventListener("visibilitychange", adapt);
    stop();
  };
  return { listeners, close };
}

async function watchOnce(
  workspace: string,
  cursor: string | undefined,
  signal: AbortSignal,
  received: (event: Event | undefined, cursor: string) => void,
): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const options = { signal: AbortSignal.any([signal, silence.signal]), timeoutMs: 0 };
  // The cursor is empty until the workspace has its first event. The stream then begins with that event.
  const after = cursor === "" ? undefined : cursor;
  try {
    const events = clientFor(EventService, workspace);
    const fromNow = cursor === undefined;
    for await (const message of events.watchEvents({ after, fromNow }, options)) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      if (!signal.aborted) received(message.data, message.cursor);
    }
  } catch (error) {
    if (!options.signal.aborted) noteError(error);
  } finally {
    clearTimeout(timer);
  }
}
