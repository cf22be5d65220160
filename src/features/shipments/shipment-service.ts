import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { recordPayment } from "../payments/record-payment.ts";
import { recordRefund } from "../payments/record-refund.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { advanceShipment } from "./advance-shipment.ts";
import { batchQuoteShipments } from "./batch-quote-shipments.ts";
import { cancelShipment } from "./cancel-shipment.ts";
import { createBookings } from "./create-shipment.ts";
import { getShipment } from "./get-shipment.ts";
import { listShipments } from "./list-shipments.ts";
import { quoteShipment } from "./quote-shipment.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { updateShipment } from "./update-shipment.ts";

/** The functions behind `shipments.v1.ShipmentService`. */
export function shipmentService(deps: ShipmentDeps): ServiceFunctions<typeof ShipmentService> {
  const createShipment = createBookings(deps);
  return {
    quoteShipment: (request) => quoteShipment(request, deps.tariffs),
    batchQuoteShipments: (request, call) => batchQuoteShipments(request, call, deps),
    createShipment,
    getShipment: (request, call) => getShipment(request, call, deps),
    listShipments: (request, call) => listShipments(request, call, deps),
    updateShipment: (request, call) => updateShipment(request, call, deps),
    advanceShipment: (request, call) => advanceShipment(request, call, deps),
    recordPayment: (request, call) => recordPayment(request, call, deps),
    recordRefund: (request, call) => recordRefund(request, call, deps),
    cancelShipment: (request, call) => cancelShipment(request, call, deps),
  };
}
