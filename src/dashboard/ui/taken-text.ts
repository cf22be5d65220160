import { SlotCapacityUnit } from "../../../gen/shipments/v1/window_pb.js";
import { numberText } from "./format.ts";

/** Formats an amount in the unit of a slot: `9` or `9.5 kg`. */
export function amountText(amount: number, unit: SlotCapacityUnit | undefined): string {
  return numberText(amount) + (unit === SlotCapacityUnit.KILOGRAMS ? " kg" : "");
}

/** Formats the taken part of a slot's capacity: `9.5 of 10 kg`, or `9` if the slot is unlimited. */
export function takenText(taken: number, capacity: number | undefined, unit: SlotCapacityUnit | undefined): string {
  return capacity === undefined ? amountText(taken, unit) : `${numberText(taken)} of ${amountText(capacity, unit)}`;
}
