import { create } from "@bufbuild/protobuf";
import {
  WatchEventsResponseSchema,
  type WatchEventsRequestValid,
  type WatchEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { eventMessage } from "./event-message.ts";
import type { EventSignal } from "./event-signal.ts";
import { readCursor, readFeed, readFeedEnd, writeCursor } from "./read-feed.ts";

/** What `watchEvents` works with. */
export interface WatchDeps {
  readonly em: EntityManager;
  readonly events: Pick<EventSignal, "subscribe">;
}

/** How many events one stream holds in memory at most. */
const BATCH = 50;
/**
 * Bounds on the wait between two reads, in milliseconds. It starts short again after an
 * announcement, because an event becomes readable only when all earlier transactions have ended,
 * and doubles while nothing comes.
 */
const SHORTEST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 1_000;
/**
 * How long a stream stays silent before it sends a heartbeat, in milliseconds. With a wait and a read
 * on top, callers hear something at least every 15 seconds.
 */
const HEARTBEAT_MS = 10_000;

/**
 * Streams the workspace's events after a cursor, or from the first or the present, then new ones as they happen,
 * until `signal` aborts. A message without an event is a heartbeat: the first comes at once when there
 * are no events yet, since headers are sent with the first message.
 *
 * @throws Refusal FIELD_INVALID for a cursor that is not one of this workspace's
 */
export async function* watchEvents(
  request: WatchEventsRequestValid,
  { caller: { workspaceId } }: Call,
  { em, events }: WatchDeps,
  signal: AbortSignal,
): AsyncIterable<WatchEventsResponse> {
  const { types } = request;
  let after =
    request.after === undefined && request.fromNow === true
      ? await readFeedEnd(em.fork(), workspaceId)
      : readCursor(workspaceId, request.after);
  let cursor = after === undefined ? "" : writeCursor(workspaceId, after);
  let waitMs = SHORTEST_WAIT_MS;
  let lastSentMs = -Infinity;
  const subscription = events.subscribe(workspaceId);
  try {
    while (!signal.aborted) {
      const found = await readFeed(em.fork(), workspaceId, { after, types, limit: BATCH });
      for (const event of found) {
        if (signal.aborted) return;
        after = event;
        cursor = writeCursor(workspaceId, event);
        yield create(WatchEventsResponseSchema, { data: eventMessage(event), cursor });
        lastSentMs = performance.now();
      }
      if (found.length === BATCH) continue;
      if (performance.now() - lastSentMs >= HEARTBEAT_MS) {
        yield create(WatchEventsResponseSchema, { cursor });
        lastSentMs = performance.now();
      }
      const isActive = (await subscription.wait(waitMs, signal)) || found.length > 0;
      waitMs = isActive ? SHORTEST_WAIT_MS : Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
  } finally {
    subscription.close();
  }
}
