import { refuse } from "../../domain/refusal.ts";
import { transition, type Trigger } from "../../domain/shipment/shipment-state.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * A shipment as a trigger leaves it.
 *
 * @throws Refusal SHIPMENT_STATE when its state does not allow the trigger
 */
export function applyTrigger(row: ShipmentRow, trigger: Trigger, at: Date): ShipmentRow {
  const { next, refusal } = transition(trigger, row);
  if (next === undefined) throw refuse("SHIPMENT_STATE", refusal, { subject: "shipment" });
  return { ...row, ...next, updatedAtMs: at.getTime() };
}
