import type { Event } from "../../gen/shipments/v1/event_pb.js";
import type { EventService, WatchEventsResponse } from "../../gen/shipments/v1/event_service_pb.js";
import type { Calls } from "./calls.ts";
import { isRetryable } from "./retry-calls.ts";
import { ShipmentsError } from "./shipments-error.ts";
import { wait } from "./wait.ts";

export interface FollowOptions {
  /**
   * `position` of the last known event, or a returned cursor. `"now"` for future events only.
   * Defaults to the beginning.
   */
  readonly after?: bigint | number | string | undefined;
  /** Only events of these types, such as `shipment.delivered`. Defaults to all. */
  readonly types?: readonly string[] | undefined;
  /** Stops the feed. */
  readonly signal?: AbortSignal | undefined;
  /** Poll interval where streams are unavailable, in milliseconds. Defaults to 2000. */
  readonly pollMs?: number | undefined;
}

/** Maximum number of polls before a stream is tried again. */
const MAX_POLLS = 16;
/**
 * The service sends a message at once, then at least every 15 seconds. A stream that is silent for
 * longer is broken. One that sends another message later is working.
 */
const FIRST_MS = 10_000;
const SILENCE_MS = 30_000;

type EventCalls = Pick<Calls<typeof EventService>, "watchEvents" | "listEvents">;

/**
 * Yields all events of the workspace, then new ones as they happen, each once and in the order of
 * positions. Reads a stream, and polls while it is unavailable. Continues after broken connections
 * and restarts. Ends when `signal` aborts.
 *
 * Store the `position` of the last event with your data, and pass it as `after` at the next start.
 *
 * @throws ShipmentsError if retrying does not help, for example for a revoked key or an empty
 *   `after`
 */
export async function* followEvents(
  events: EventCalls,
  { after, types = [], signal, pollMs = 2_000 }: FollowOptions = {},
): AsyncGenerator<Event, void, void> {
  // As from a truncated file. The feed would start over.
  if (after === "") throw ShipmentsError.from(new TypeError("after is empty"));
  const filter = { types: [...types] };
  const options = { signal };
  let cursor = after === undefined ? undefined : String(after);
  /** Consecutive streams without an event that ended early. */
  let failures = 0;

  async function* readStream() {
    const openedMs = performance.now();
    for await (const { cursor: next, data } of watch(
      events,
      { after: cursor, ...filter },
      signal,
    )) {
      // Empty if there are no events at all.
      cursor = next || cursor;
      if (data !== undefined || performance.now() - openedMs > FIRST_MS) failures = 0;
      if (data !== undefined) yield data;
    }
  }

  async function* readPages() {
    for (let hasMore = true; hasMore;) {
      const page = await events.listEvents({ after: cursor, ...filter, pageSize: 100 }, options);
      cursor = page.cursor || cursor;
      yield* page.data;
      hasMore = page.hasMore;
    }
  }

  /** Polls: once if a stream has worked before, otherwise longer after each failed stream. */
  async function* poll() {
    if (failures === 0) return yield* readPages();
    for (let polls = Math.min(2 ** failures, MAX_POLLS); polls > 0; polls--) {
      await wait(pollMs, signal);
      yield* readPages();
    }
  }

  /** Waits after a transient error. @throws other errors */
  async function backOff(thrown: unknown) {
    if (!isRetryable(ShipmentsError.from(thrown))) throw thrown;
    await wait(pollMs, signal).catch(() => {});
  }

  for (; ; failures++) {
    try {
      cursor = cursor === "now" ? await presentPosition(events, options) : cursor;
      yield* readStream();
      yield* poll();
    } catch (thrown) {
      if (signal?.aborted) return;
      await backOff(thrown);
    }
  }
}

async function presentPosition(events: EventCalls, options: { signal?: AbortSignal | undefined }) {
  const { data } = await events.listEvents({ newestFirst: true, pageSize: 1 }, options);
  return String(data[0]?.position ?? 0);
}

/** Reads a stream until it ends, breaks or becomes silent. @throws ShipmentsError if retrying does not help */
async function* watch(
  events: EventCalls,
  request: { readonly after: string | undefined; readonly types: string[] },
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEventsResponse> {
  const silence = new AbortController();
  const ends = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), FIRST_MS);
  try {
    for await (const message of events.watchEvents(request, { signal: ends })) {
      // Time in the consumer does not count as silence.
      clearTimeout(timer);
      yield message;
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
    }
  } catch (thrown) {
    const error = ShipmentsError.from(thrown);
    // A proxy that blocks streams may allow polling.
    if (error.reason !== undefined && !isRetryable(error)) throw error;
  } finally {
    clearTimeout(timer);
  }
}
