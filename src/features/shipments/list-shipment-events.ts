import type { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { isEventNumber, eventBytes, eventMessage } from "../events/event-message.ts";
import { Event } from "../events/event.entity.ts";
import type { Call } from "../../pipeline/call.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";

type EventFunctions = ServiceFunctions<typeof EventService, Call, Pick<ShipmentDeps, "em" | "findShipment">>;

/** Lists the events of a shipment, oldest first. */
export const listShipmentEvents: EventFunctions["listShipmentEvents"] = async (
  request,
  { caller },
  { em, findShipment },
) => {
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
  return { data: rows.map((event) => eventMessage(event, caller)), nextPageToken };
};

function readNumber([number]: readonly unknown[]): number | undefined {
  return isEventNumber(number) ? number : undefined;
}
