import { toJson, type JsonObject } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { shipmentEventTypes } from "../../domain/event-type.ts";
import type { ShipmentState } from "../../domain/shipment/shipment-state.ts";
import { recordEvent } from "../events/record-event.ts";
import { shipmentMessage } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * Records, in the unit of work, what happened to a shipment whose row is locked or new.
 *
 * @param before its state before the change; undefined when it was just booked
 * @param after the row as it will be written, but for `eventCount`, which does not count these yet
 * @returns the row with these events counted
 */
export function recordShipmentEvents(
  tx: EntityManager,
  workspace: number,
  before: ShipmentState | undefined,
  after: ShipmentRow,
): ShipmentRow {
  const data = toJson(ShipmentSchema, shipmentMessage(after)) as JsonObject;
  const at = new Date(after.updatedAtMs);
  const subject = { workspace, eventCount: after.eventCount };
  for (const type of shipmentEventTypes(before, after)) {
    recordEvent(tx, subject, after.reference, { type, data, at });
  }
  return { ...after, eventCount: subject.eventCount };
}
