import type { Event } from "../../gen/shipments/v1/event_pb.js";
import type { EventService, WatchEventsResponse } from "../../gen/shipments/v1/event_service_pb.js";
import type { Calls } from "./calls.ts";
import { isRetryable } from "./retry-calls.ts";
import { ShipmentsError } from "./shipments-error.ts";
import { wait } from "./wait.ts";

export interface FollowOptions {
  /**
   * The `position` of the last event that is known, or a cursor that the service gave out; `"now"` for
   * what happens from now on. From the beginning unless given.
   */
  readonly after?: bigint | number | string | undefined;
  /** Only events of these types, such as `shipment.delivered`; of all unless given. */
  readonly types?: readonly string[] | undefined;
  /** Ends the feed. */
  readonly signal?: AbortSignal | undefined;
  /** How often the feed is read by pages where streams do not get through, in milliseconds; 2000 unless given. */
  readonly pollMs?: number | undefined;
}

/** How often at most it is read by pages before a stream is tried again. */
const MAX_POLLS = 16;
/**
 * The service says something at once, and then every 15 seconds: a stream silent for longer is broken, and
 * one that says something later than at first has lasted.
 */
const FIRST_MS = 10_000;
const SILENCE_MS = 30_000;

type EventCalls = Pick<Calls<typeof EventService>, "watchEvents" | "listEvents">;

/**
 * What has happened in the workspace, and then what happens, as it happens: each event once, in the
 * order of positions. It reads a stream, and by pages while there is none; it goes on where it was when
 * a connection breaks or the service restarts, and ends when `signal` aborts.
 *
 * Keep the `position` of the last event with your other data, as `after` of the next start.
 *
 * @throws ShipmentsError where retrying is of no use, such as for a revoked key or an empty `after`
 */
export async function* followEvents(
  events: EventCalls,
  { after, types = [], signal, pollMs = 2_000 }: FollowOptions = {},
): AsyncGenerator<Event, void, void> {
  // As of a file that was cut short; the feed would begin anew.
  if (after === "") throw ShipmentsError.from(new TypeError("after is empty"));
  const filter = { types: [...types] };
  const options = { signal };
  let cursor = after === undefined ? undefined : String(after);
  /** How many streams in a row had no event, and did not last. */
  let failures = 0;

  async function* readStream() {
    const openedMs = performance.now();
    for await (const { cursor: next, data } of watch(
      events,
      { after: cursor, ...filter },
      signal,
    )) {
      // Empty as long as nothing has happened at all.
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

  /** Reads by pages: once where a stream has worked, else for longer with each one that has not. */
  async function* poll() {
    if (failures === 0) return yield* readPages();
    for (let polls = Math.min(2 ** failures, MAX_POLLS); polls > 0; polls--) {
      await wait(pollMs, signal);
      yield* readPages();
    }
  }

  /** Waits after what may pass. @throws what does not */
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

/** Reads a stream until it ends, breaks or falls silent. @throws ShipmentsError where retrying is of no use */
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
      // What the reader takes is no silence.
      clearTimeout(timer);
      yield message;
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
    }
  } catch (thrown) {
    const error = ShipmentsError.from(thrown);
    // A proxy that refuses streams may let pages through.
    if (error.reason !== undefined && !isRetryable(error)) throw error;
  } finally {
    clearTimeout(timer);
  }
}
