import { create } from "@bufbuild/protobuf";
import { type EventService, WatchEventsResponseSchema } from "../../../gen/shipments/v1/event_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { countThatFit, DEFAULT_PAGE_SIZE } from "../../pipeline/page.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { resolveCursor, writeCursor } from "./cursor.ts";
import { eventBytes, eventMessage, readEventId } from "./event-message.ts";
import { Event } from "./event.entity.ts";
import type { FeedWatch } from "./feed-watch.ts";
import { loadFeed, loadFeedEnds } from "./load-feed.ts";

export interface WatchDeps {
  readonly em: EntityManager;
  readonly feeds: FeedWatch;
}

/** Position after all events. */
const BEYOND_ALL = Number.MAX_SAFE_INTEGER;
/** Maximum number of events that a stream holds in memory. */
const BATCH = 50;
/** Interval of heartbeats on a stream, in milliseconds. The documented maximum is 15 seconds. */
export const HEARTBEAT_MS = 10_000;

export const EVENT_FUNCTIONS: Omit<ServiceFunctions<typeof EventService, Call, WatchDeps>, "listShipmentEvents"> = {
  /**
   * Always returns a cursor, unlike a page token, because new events can follow. A page ends before it is too large
   * to send. A filtered page also ends after a limited number of examined events, possibly without a match.
   */
  async listEvents(request, { caller }, { em }) {
    const { workspaceId } = caller;
    const { types, subject, newestFirst = false, pageSize = DEFAULT_PAGE_SIZE } = request;
    const isFromNewest = newestFirst && request.after === undefined;
    const after = isFromNewest ? BEYOND_ALL : resolveCursor(workspaceId, request.after);
    const query = { after, types, subject, newestFirst, limit: pageSize + 1 };
    const found = await loadFeed(em, workspaceId, query);
    const events = found.events.slice(0, countThatFit(found.events.slice(0, pageSize), eventBytes));
    const isCut = events.length < found.events.length;
    const end = isCut ? events.at(-1)!.position : found.end;
    return {
      data: events.map((event) => eventMessage(event, caller)),
      cursor: end === after ? (request.after ?? "") : writeCursor(workspaceId, end),
      hasMore: isCut || found.mayHaveMore,
    };
  },

  async getEvent({ event: id }, { caller }, { em }) {
    const key = readEventId(id);
    const where = { workspace: caller.workspaceId, ...key };
    const event = key && (await em.fork().findOne(Event, where));
    if (!event) throw refuse("EVENT_NOT_FOUND");
    return { data: eventMessage(event, caller) };
  },

  /**
   * Streams events. A message without an event is a heartbeat. If there are no events yet, a heartbeat is sent
   * immediately, because the headers are sent with the first message. The heartbeat's cursor skips events of other
   * types.
   */
  async *watchEvents(request, { caller }, { em, feeds }, signal) {
    const { workspaceId } = caller;
    const { types, fromNow = false } = request;
    const isFromNow = fromNow && request.after === undefined;
    let after = isFromNow
      ? ((await loadFeedEnds(em, [workspaceId])).get(workspaceId) ?? 0)
      : resolveCursor(workspaceId, request.after);
    let lastSentMs = -Infinity;
    let mayHaveMore = true;
    const cursor = () => (after === 0 ? "" : writeCursor(workspaceId, after));
    const subscription = feeds.subscribe(workspaceId);
    try {
      while (!signal.aborted) {
        const found = mayHaveMore ? await loadFeed(em, workspaceId, { after, types, limit: BATCH }) : undefined;
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
  },
};
