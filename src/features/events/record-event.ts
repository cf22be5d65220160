import { toJson, type JsonObject } from "@bufbuild/protobuf";
import {
  ShipmentSchema,
  type Shipment as ShipmentMessage,
} from "../../../gen/shipments/v1/shipment_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { EventType } from "../../domain/event-type.ts";
import { shipmentEventTypes } from "../../domain/event-type.ts";
import type { ShipmentState } from "../../domain/shipment/shipment-state.ts";
import type { FoundShipment } from "../shipments/find-shipment.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import { Event } from "./event.entity.ts";

/** Whatever counts its own events. */
interface Subject {
  readonly workspace: number;
  eventCount: number;
}

/**
 * Writes, with the caller's unit of work, what happened to a subject whose row is locked or new:
 * the lock makes the numbers go up without gaps.
 *
 * @param name the shipment's reference, or the webhook's id
 * @param data the subject as the change left it
 */
export function recordEvent(
  tx: EntityManager,
  subject: Subject,
  name: string,
  event: { readonly type: EventType; readonly data: JsonObject; readonly at: Date },
): Event {
  subject.eventCount += 1;
  return tx.create(Event, {
    workspace: subject.workspace,
    subject: name,
    number: subject.eventCount,
    type: event.type,
    data: event.data,
    createdAt: event.at,
  });
}

/**
 * Writes what happened to a shipment that was changed, or booked if `before` is undefined, since
 * the unit of work began.
 *
 * @returns the shipment as the change leaves it once it is written
 */
export function recordShipmentEvents(
  tx: EntityManager,
  shipment: FoundShipment,
  before: ShipmentState | undefined,
): ShipmentMessage {
  const message = shipmentMessage(shipment);
  // The unit of work will count this change when it writes it.
  message.etag = String(before === undefined ? 1 : shipment.version + 1);
  const data = toJson(ShipmentSchema, message) as JsonObject;
  for (const type of shipmentEventTypes(before, shipment)) {
    recordEvent(tx, shipment, shipment.reference, { type, data, at: shipment.updatedAt });
  }
  return message;
}
