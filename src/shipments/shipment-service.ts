import type { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import type { Tariffs } from "../platform/tariffs.ts";
import type { ServiceFunctions } from "../rpc/rpc.ts";
import { cancelShipment } from "./cancel-shipment.ts";
import { createShipment } from "./create-shipment.ts";
import { quoteShipment } from "./quote-shipment.ts";

/** What the shipment service works with. */
export interface ShipmentDeps {
  readonly em: EntityManager;
  readonly tariffs: Tariffs;
  readonly now: () => Date;
}

/** The functions behind `shipments.v1.ShipmentService`. */
export function shipmentService(deps: ShipmentDeps): ServiceFunctions<typeof ShipmentService> {
  return {
    quoteShipment: (request) => quoteShipment(request, deps.tariffs),
    createShipment: (request, call) => createShipment(request, call, deps),
    cancelShipment: (request, call) => cancelShipment(request, call, deps),
  };
}
