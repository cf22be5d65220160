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
import { readCursor, readFeed, writeCursor } from "./read-feed.ts";

/** What `watchEvents` works with. */
export interface WatchDeps {
  readonly em: EntityManager;
  readonly events: Pick<EventSignal, "listen">;
}

/** How many events are held in memory for one stream. */
const BATCH = 50;
/**
 * How long to wait before looking again, in milliseconds: little after something was heard, since
 * an event shows only when earlier transactions have ended, and longer the longer nothing comes.
 */
const SHORTEST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 1_000;
/** After how long without an event the stream shows that it is alive, in milliseconds. */
const HEARTBEAT_MS = 20_000;

/**
 * Gives the workspace's events from a cursor on, then those that happen, until `signal` aborts.
 *
 * @throws Refusal FIELD_INVALID for a cursor that is none
 */
export async function* watchEvents(
  request: WatchEventsRequestValid,
  { caller: { workspaceId } }: Call,
  { em, events }: WatchDeps,
  signal: AbortSignal,
): AsyncIterable<WatchEventsResponse> {
  const { types } = request;
  let after = readCursor(workspaceId, request.after);
  let cursor = request.after ?? "";
  let waitMs = SHORTEST_WAIT_MS;
  let spokenMs = performance.now();
  const ear = events.listen(workspaceId);
  try {
    while (!signal.aborted) {
      const found = await readFeed(em.fork(), workspaceId, { after, types, limit: BATCH });
      for (const event of found) {
        if (signal.aborted) return;
        after = event;
        cursor = writeCursor(workspaceId, event);
        yield create(WatchEventsResponseSchema, { data: eventMessage(event), cursor });
        spokenMs = performance.now();
      }
      if (found.length === BATCH) continue;
      if (performance.now() - spokenMs >= HEARTBEAT_MS) {
        yield create(WatchEventsResponseSchema, { cursor });
        spokenMs = performance.now();
      }
      const heard = (await ear.hear(waitMs, signal)) === "heard" || found.length > 0;
      waitMs = heard ? SHORTEST_WAIT_MS : Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
  } finally {
    ear.close();
  }
}
