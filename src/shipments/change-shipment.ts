import type { EntityManager } from "../db/orm.ts";
import { refuse } from "../domain/refusal.ts";
import { transition, type Trigger } from "../domain/shipment-state.ts";
import { lockShipment, type FoundShipment } from "./find-shipment.ts";

/**
 * Changes a shipment in one transaction. Its row is locked first, so that of two changes at the same
 * time each sees what the other left.
 *
 * @returns what `change` returns, once it is committed
 * @throws Refusal SHIPMENT_NOT_FOUND, and whatever `change` throws, which then leaves nothing behind
 */
export function changeShipment<T>(
  em: EntityManager,
  workspaceId: number,
  reference: string,
  change: (shipment: FoundShipment, tx: EntityManager) => T | Promise<T>,
): Promise<T> {
  return em.fork().transactional(async (tx) => {
    const shipment = await lockShipment(tx, workspaceId, reference);
    return await change(shipment, tx);
  });
}

/**
 * Takes a shipment to its next state, and gives it back.
 *
 * @throws Refusal SHIPMENT_STATE when its state does not allow that
 */
export function applyTrigger(shipment: FoundShipment, trigger: Trigger, at: Date): FoundShipment {
  const { next, refusal } = transition(trigger, shipment);
  if (next === undefined) throw refuse("SHIPMENT_STATE", refusal, { subject: "shipment" });
  shipment.status = next.status;
  shipment.paymentStatus = next.paymentStatus;
  shipment.updatedAt = at;
  return shipment;
}
