import { create } from "@bufbuild/protobuf";
import {
  ListShipmentEventsResponseSchema,
  type ListShipmentEventsRequestValid,
  type ListShipmentEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import {
  DEFAULT_PAGE_SIZE,
  invalidPageToken,
  readPageToken,
  writePageToken,
} from "../../domain/page-token.ts";
import type { Call } from "../../pipeline/call.ts";
import { findShipment } from "./find-shipment.ts";
import { eventMessage } from "../events/event-message.ts";
import { Event } from "../events/event.entity.ts";

/**
 * Lists what happened to one shipment of the workspace, the first first.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, or FIELD_INVALID for a page token that is none
 */
export async function listShipmentEvents(
  request: ListShipmentEventsRequestValid,
  { caller: { workspaceId } }: Call,
  em: EntityManager,
): Promise<ListShipmentEventsResponse> {
  const { pageToken, pageSize = DEFAULT_PAGE_SIZE } = request;
  const reading = em.fork();
  const { reference } = await findShipment(reading, workspaceId, request.shipment);
  const filters = { eventsOf: reference };
  const after = pageToken === undefined ? 0 : readPosition(pageToken, filters);
  const found = await reading.find(
    Event,
    { workspace: workspaceId, subject: reference, number: { $gt: after } },
    { orderBy: { number: "asc" }, limit: pageSize + 1 },
  );
  const page = found.slice(0, pageSize);
  const last = found.length > pageSize ? page.at(-1) : undefined;
  return create(ListShipmentEventsResponseSchema, {
    data: page.map(eventMessage),
    nextPageToken: last === undefined ? "" : writePageToken([last.number], filters),
  });
}

function readPosition(token: string, filters: object): number {
  const [number] = readPageToken(token, filters) ?? [];
  if (!Number.isInteger(number) || (number as number) > 2 ** 31 - 1) throw invalidPageToken();
  return number as number;
}
