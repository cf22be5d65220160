import { create } from "@bufbuild/protobuf";
import {
  ListEventsResponseSchema,
  type ListEventsRequestValid,
  type ListEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { DEFAULT_PAGE_SIZE } from "../../domain/page-token.ts";
import type { Call } from "../../pipeline/call.ts";
import { eventMessage } from "./event-message.ts";
import { readCursor, readFeed, writeCursor } from "./read-feed.ts";

/**
 * Lists what happened in the workspace from a cursor on.
 *
 * @throws Refusal FIELD_INVALID for a cursor that is none
 */
export async function listEvents(
  request: ListEventsRequestValid,
  { caller: { workspaceId } }: Call,
  em: EntityManager,
): Promise<ListEventsResponse> {
  const { types, pageSize = DEFAULT_PAGE_SIZE } = request;
  const after = readCursor(workspaceId, request.after);
  const found = await readFeed(em.fork(), workspaceId, { after, types, limit: pageSize + 1 });
  const page = found.slice(0, pageSize);
  const last = page.at(-1);
  return create(ListEventsResponseSchema, {
    data: page.map(eventMessage),
    cursor: last === undefined ? (request.after ?? "") : writeCursor(workspaceId, last),
    hasMore: found.length > pageSize,
  });
}
