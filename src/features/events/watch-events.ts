import { create } from "@bufbuild/protobuf";
import {
  WatchEventsResponseSchema,
  type WatchEventsRequestValid,
  type WatchEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { eventMessage } from "./event-message.ts";
import type { FeedWatch } from "./feed-watch.ts";
import { parseCursor, loadFeed, loadFeedEnds, writeCursor } from "./load-feed.ts";

export interface WatchDeps {
  readonly em: EntityManager;
  readonly feeds: FeedWatch;
}

/** How many events one stream holds in memory at most. */
const BATCH = 50;
/**
 * How long a stream stays silent before it sends a heartbeat, in milliseconds: callers are told
 * that they hear something at least every 15 seconds.
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
  { em, feeds }: WatchDeps,
  signal: AbortSignal,
): AsyncIterable<WatchEventsResponse> {
  const { types } = request;
  const ends = request.fromNow === true ? await loadFeedEnds(em, [workspaceId]) : undefined;
  let after = parseCursor(workspaceId, request.after ?? ends?.get(workspaceId));
  let cursor = after === undefined ? "" : writeCursor(workspaceId, after);
  let lastSentMs = -Infinity;
  let mayHaveGrown = true;
  const subscription = feeds.subscribe(workspaceId);
  try {
    while (!signal.aborted) {
      const found = mayHaveGrown
        ? await loadFeed(em.fork(), workspaceId, { after, types, limit: BATCH })
        : [];
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
      const leftMs = Math.max(0, lastSentMs + HEARTBEAT_MS - performance.now());
      mayHaveGrown = await subscription.wait(leftMs, signal);
    }
  } finally {
    subscription.close();
  }
}
