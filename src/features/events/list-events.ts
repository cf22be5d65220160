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
import { resolveCursor, writeCursor } from "./cursor.ts";
import { loadFeed } from "./load-feed.ts";

/**
 * Lists the events of the workspace after a cursor, oldest first. There is always a cursor to go on
 * from, unlike a page token: new events follow the last. A page ends before it would be too large to
 * send, and one of some types after a bounded number of events, of which there may be none of these.
 *
 * @throws Refusal FIELD_INVALID for a cursor that is not one of this workspace's
 */
export async function listEvents(
  request: ListEventsRequestValid,
  { caller }: Call,
  { em }: DatabaseDeps,
): Promise<ListEventsResponse> {
  const { workspaceId } = caller;
  const { types, pageSize = DEFAULT_PAGE_SIZE } = request;
  const after = await resolveCursor(em, workspaceId, request.after);
  const found = await loadFeed(em, workspaceId, { after, types, limit: pageSize + 1 });
  const events = found.events.slice(0, countThatFit(found.events.slice(0, pageSize), eventBytes));
  const isCut = events.length < found.events.length;
  const end = isCut ? events.at(-1)!.position : found.end;
  return create(ListEventsResponseSchema, {
    data: events.map((event) => eventMessage(event, caller)),
    cursor: end === after ? (request.after ?? "") : writeCursor(workspaceId, end),
    hasMore: isCut || found.mayHaveMore,
  });
}
