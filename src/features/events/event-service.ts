import type { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import type { EventSignal } from "./event-signal.ts";
import { listEvents } from "./list-events.ts";
import { listShipmentEvents } from "../shipments/list-shipment-events.ts";
import { watchEvents } from "./watch-events.ts";

/** What the functions of the event service work with. */
export interface EventDeps {
  readonly em: EntityManager;
  readonly events: Pick<EventSignal, "listen">;
}

/** The functions behind `shipments.v1.EventService`. */
export function eventService(deps: EventDeps): ServiceFunctions<typeof EventService> {
  return {
    listShipmentEvents: (request, call) => listShipmentEvents(request, call, deps.em),
    listEvents: (request, call) => listEvents(request, call, deps.em),
    watchEvents: (request, call, signal) => watchEvents(request, call, deps, signal),
  };
}
