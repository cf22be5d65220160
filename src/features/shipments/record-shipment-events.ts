import { toJson, type JsonObject } from "@bufbuild/protobuf";
import {
  ShipmentSchema,
  type Shipment as ShipmentMessage,
} from "../../../gen/shipments/v1/shipment_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { shipmentEventTypes } from "../../domain/event-type.ts";
import type { ShipmentState } from "../../domain/shipment/shipment-state.ts";
import { recordEvent } from "../events/record-event.ts";
import type { FoundShipment } from "./find-shipment.ts";
import { shipmentMessage } from "./shipment-message.ts";

/**
 * Adds the events of a changed shipment to the unit of work.
 *
 * @param before its state before the change; undefined when it has just been booked
 * @returns the shipment as it will be once the change is flushed
 */
export function recordShipmentEvents(
  tx: EntityManager,
  shipment: FoundShipment,
  before: ShipmentState | undefined,
): ShipmentMessage {
  const message = shipmentMessage(shipment);
  // The flush raises the version by one.
  message.etag = String(before === undefined ? 1 : shipment.version + 1);
  const data = toJson(ShipmentSchema, message) as JsonObject;
  for (const type of shipmentEventTypes(before, shipment)) {
    recordEvent(tx, shipment, shipment.reference, { type, data, at: shipment.updatedAt });
  }
  return message;
}
