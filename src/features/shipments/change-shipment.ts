import { equals } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { transition, type Trigger } from "../../domain/shipment/shipment-state.ts";
import { lockShipment, type FoundShipment } from "./find-shipment.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { recordShipmentEvents } from "./record-shipment-events.ts";

/**
 * Changes a shipment in the caller's transaction, flushes the change, and records its events. The
 * row is locked first, so that concurrent changes are made one after the other.
 *
 * @returns what `change` returns
 * @throws Refusal SHIPMENT_NOT_FOUND, and whatever `change` throws
 */
export async function changeShipment<T>(
  tx: EntityManager,
  workspaceId: number,
  reference: string,
  change: (shipment: FoundShipment) => T | Promise<T>,
): Promise<T> {
  const shipment = await lockShipment(tx, workspaceId, reference);
  const state = { status: shipment.status, paymentStatus: shipment.paymentStatus };
  const before = shipmentMessage(shipment);
  const changed = await change(shipment);
  if (!equals(ShipmentSchema, before, shipmentMessage(shipment))) {
    recordShipmentEvents(tx, shipment, state);
  }
  await tx.flush();
  return changed;
}

/**
 * Takes a shipment to its next state.
 *
 * @returns the same shipment
 * @throws Refusal SHIPMENT_STATE when its state does not allow the trigger
 */
export function applyTrigger(shipment: FoundShipment, trigger: Trigger, at: Date): FoundShipment {
  const { next, refusal } = transition(trigger, shipment);
  if (next === undefined) throw refuse("SHIPMENT_STATE", refusal, { subject: "shipment" });
  shipment.status = next.status;
  shipment.paymentStatus = next.paymentStatus;
  shipment.updatedAt = at;
  return shipment;
}
