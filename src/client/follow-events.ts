import type { Event } from "../../gen/shipments/v1/event_pb.js";
import type { EventService, WatchEventsResponse } from "../../gen/shipments/v1/event_service_pb.js";
import type { Calls } from "./calls.ts";
import { isRetryable } from "./retry-calls.ts";
import { ShipmentsError } from "./shipments-error.ts";
import { wait } from "./wait.ts";

export interface FollowOptions {
  /**
   * `position` of the last known event, or a returned cursor. `"now"` yields only future events.
   * Defaults to the beginning.
   */
  readonly after?: bigint | number | string | undefined;
  /** Types of the events to yield, such as `shipment.delivered`. Defaults to all types. */
  readonly types?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Poll interval in milliseconds, used if streams are unavailable. Defaults to 2000. */
  readonly pollMs?: number | undefined;
}

/** Maximum number of polls before another attempt to stream. */
const MAX_POLLS = 16;
/**
 * Times in milliseconds after which a silent stream counts as broken: before the first message, and after later
 * messages. The service sends a message immediately, then at least every 15 seconds. A stream that still sends messages
 * after `FIRST_MS` is working.
 */
const FIRST_MS = 10_000;
const SILENCE_MS = 30_000;

type EventCalls = Pick<Calls<typeof EventService>, "watchEvents" | "listEvents">;

/**
 * Yields all events of the workspace, then new events as they happen. Each event is yielded once, in
 * the order of positions. Reads a stream, and polls while streams are unavailable. Continues after
 * broken connections and restarts of the service. Ends when `signal` aborts.
 *
 * Store the `position` of the last event with your data, and pass it as `after` at the next start.
 *
 * @throws ShipmentsError if retrying does not help, for example for a revoked key or an empty `after`
 */
export async function* followEvents(
  events: EventCalls,
  { after, types = [], signal, pollMs = 2_000 }: FollowOptions = {},
): AsyncGenerator<Event, void, void> {
  // An empty value may come from a truncated file, and the feed would start from the beginning.
  if (after === "") throw ShipmentsError.from(new TypeError("after is empty"));
  const filter = { types: [...types] };
  const options = { signal };
  let cursor = after === undefined ? undefined : String(after);
  /** Number of consecutive streams that ended early without an event. */
  let failures = 0;

  async function* readStream() {
    const openedMs = performance.now();
    for await (const { cursor: next, data } of watch(events, { after: cursor, ...filter }, signal)) {
      // `next` is empty if there are no events at all.
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

  /** Polls once if the last stream worked. Otherwise polls longer after each failed stream. */
  async function* poll() {
    if (failures === 0) return yield* readPages();
    for (let polls = Math.min(2 ** failures, MAX_POLLS); polls > 0; polls--) {
      await wait(pollMs, signal);
      yield* readPages();
    }
  }

  /**
   * Waits after a transient error.
   *
   * @throws other errors
   */
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

/**
 * Reads a stream until it ends, breaks or becomes silent.
 *
 * @throws ShipmentsError if retrying does not help
 */
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
      // The timer stops, because time spent in the consumer does not count as silence.
      clearTimeout(timer);
      yield message;
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
    }
  } catch (thrown) {
    const error = ShipmentsError.from(thrown);
    // An error without a reason may come from a proxy that blocks streams but allows polling.
    if (error.reason !== undefined && !isRetryable(error)) throw error;
  } finally {
    clearTimeout(timer);
  }
}
