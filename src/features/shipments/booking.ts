import type {
  CreateShipmentRequestValid,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../../pipeline/call.ts";

/** A call that asks for a booking. */
export interface Booking {
  readonly method: typeof ShipmentService.method.createShipment;
  readonly request: CreateShipmentRequestValid;
  readonly call: Call;
}
