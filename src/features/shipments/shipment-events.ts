import { toJson, type JsonObject } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { shipmentEventTypes } from "../../domain/event-type.ts";
import type { ShipmentState } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import type { NewEvent } from "../events/insert-events.ts";
import { shipmentMessage } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/** A shipment as a change leaves it, and what happened to it. */
export interface RecordedChange {
  /** With its new events counted. */
  readonly row: ShipmentRow;
  readonly events: readonly NewEvent[];
}

/**
 * The events of a shipment whose row is locked or new, which makes their numbers have no gaps.
 *
 * @param before its state before the change; undefined when it was just booked
 * @param after the row as it will be written, but for `eventCount`, which does not count these yet
 * @param call the call that makes the change
 */
export function shipmentEvents(
  before: ShipmentState | undefined,
  after: ShipmentRow,
  { caller, received }: Call,
): RecordedChange {
  const data = toJson(ShipmentSchema, shipmentMessage(after)) as JsonObject;
  const createdAt = new Date(after.updatedAtMs).toISOString();
  const events = shipmentEventTypes(before, after).map((type, i) => ({
    workspace: caller.workspaceId,
    subject: after.reference,
    number: after.eventCount + i + 1,
    type,
    data,
    actor: caller.member?.email ?? null,
    createdAt,
  }));
  for (const event of events) received.span?.setCauseOf(event);
  return { row: { ...after, eventCount: after.eventCount + events.length }, events };
}
