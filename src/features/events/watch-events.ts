import { create } from "@bufbuild/protobuf";
import {
  WatchEventsResponseSchema,
  type WatchEventsRequestValid,
  type WatchEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { resolveCursor, writeCursor } from "./cursor.ts";
import { eventMessage } from "./event-message.ts";
import type { FeedWatch } from "./feed-watch.ts";
import { loadFeed, loadFeedEnds } from "./load-feed.ts";

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
 * are no events yet, since headers are sent with the first message. Its cursor is past the events that
 * are not of the types asked for.
 *
 * @throws Refusal FIELD_INVALID for a cursor that is not one of this workspace's
 */
export async function* watchEvents(
  request: WatchEventsRequestValid,
  { caller }: Call,
  { em, feeds }: WatchDeps,
  signal: AbortSignal,
): AsyncIterable<WatchEventsResponse> {
  const { workspaceId } = caller;
  const { types } = request;
  let after = await startOf(request, workspaceId, em);
  let lastSentMs = -Infinity;
  let mayHaveMore = true;
  const cursor = () => (after === 0 ? "" : writeCursor(workspaceId, after));
  const subscription = feeds.subscribe(workspaceId);
  try {
    while (!signal.aborted) {
      const found = mayHaveMore
        ? await loadFeed(em, workspaceId, { after, types, limit: BATCH })
        : undefined;
      for (const event of found?.events ?? []) {
        if (signal.aborted) return;
        after = event.position;
        const data = eventMessage(event, caller);
        yield create(WatchEventsResponseSchema, { data, cursor: cursor() });
        lastSentMs = performance.now();
      }
      after = found?.end ?? after;
      if (performance.now() - lastSentMs >= HEARTBEAT_MS) {
        yield create(WatchEventsResponseSchema, { cursor: cursor() });
        lastSentMs = performance.now();
      }
      if (found?.mayHaveMore) continue;
      const leftMs = Math.max(0, lastSentMs + HEARTBEAT_MS - performance.now());
      mayHaveMore = await subscription.wait(after, leftMs, signal);
    }
  } finally {
    subscription.close();
  }
}

/** The position after which a stream begins. */
async function startOf(
  { after, fromNow = false }: WatchEventsRequestValid,
  workspace: number,
  em: EntityManager,
): Promise<number> {
  if (after !== undefined || !fromNow) return resolveCursor(em, workspace, after);
  return (await loadFeedEnds(em, [workspace])).get(workspace) ?? 0;
}
