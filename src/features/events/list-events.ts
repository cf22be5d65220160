import { create } from "@bufbuild/protobuf";
import {
  ListEventsResponseSchema,
  type ListEventsRequestValid,
  type ListEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { countThatFit, DEFAULT_PAGE_SIZE } from "../../pipeline/page.ts";
import type { Call } from "../../pipeline/call.ts";
import { eventBytes, eventMessage } from "./event-message.ts";
import { parseCursor, loadFeed, writeCursor } from "./load-feed.ts";

/**
 * Lists the events of the workspace after a cursor, oldest first. There is always a cursor to go on
 * from, unlike a page token: new events follow the last. A page ends before it would be too large to
 * send.
 *
 * @throws Refusal FIELD_INVALID for a cursor that is not one of this workspace's
 */
export async function listEvents(
  request: ListEventsRequestValid,
  { caller: { workspaceId } }: Call,
  { em }: DatabaseDeps,
): Promise<ListEventsResponse> {
  const { types, pageSize = DEFAULT_PAGE_SIZE } = request;
  const after = parseCursor(workspaceId, request.after);
  const found = await loadFeed(em.fork(), workspaceId, { after, types, limit: pageSize + 1 });
  const events = found.slice(0, countThatFit(found.slice(0, pageSize), eventBytes));
  const last = events.at(-1);
  return create(ListEventsResponseSchema, {
    data: events.map(eventMessage),
    cursor: last === undefined ? (request.after ?? "") : writeCursor(workspaceId, last),
    hasMore: found.length > events.length,
  });
}
