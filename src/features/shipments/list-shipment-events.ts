import { create } from "@bufbuild/protobuf";
import {
  ListShipmentEventsResponseSchema,
  type ListShipmentEventsRequestValid,
  type ListShipmentEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import { isEventNumber, eventBytes, eventMessage } from "../events/event-message.ts";
import { Event } from "../events/event.entity.ts";
import type { Call } from "../../pipeline/call.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import type { ShipmentDeps } from "./change-shipment.ts";

/**
 * Lists the events of one shipment of the workspace, oldest first.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, FIELD_INVALID for a page token that is not of this list
 */
export async function listShipmentEvents(
  request: ListShipmentEventsRequestValid,
  { caller }: Call,
  { em, findShipment }: Pick<ShipmentDeps, "em" | "findShipment">,
): Promise<ListShipmentEventsResponse> {
  const { workspaceId } = caller;
  const { reference } = await findShipment({ workspace: workspaceId, reference: request.shipment });
  const page = readPage(request, { eventsOf: reference }, readNumber);
  const found = await em
    .fork()
    .find(
      Event,
      { workspace: workspaceId, subject: reference, number: { $gt: page.after ?? 0 } },
      { orderBy: { number: "asc" }, limit: page.limit },
    );
  const { rows, nextPageToken } = endPage(found, page, ({ number }) => [number], eventBytes);
  const data = rows.map((event) => eventMessage(event, caller));
  return create(ListShipmentEventsResponseSchema, { data, nextPageToken });
}

function readNumber([number]: readonly unknown[]): number | undefined {
  return isEventNumber(number) ? number : undefined;
}
