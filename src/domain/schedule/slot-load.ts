import type { Calendar, Slot } from "./calendar.ts";
import type { CapacityUnit } from "./schedule.ts";

/** The slot of a schedule that a window occupies. */
export interface WindowSlot {
  readonly schedule: string;
  /** Capacity according to the tariff, as in `Slot`. */
  readonly capacity?: Slot["capacity"];
  /** Calendar of the schedule. `undefined` if the tariff no longer has the schedule. */
  readonly calendar?: Calendar | undefined;
}

/** Reserved places of a slot. */
export interface SlotLoad {
  readonly shipments: number;
  readonly milligrams: number;
  /** Capacity that an operator has set. null if the tariff's capacity applies. */
  readonly capacity: number | null;
}

const NO_LOAD: SlotLoad = { shipments: 0, milligrams: 0, capacity: null };

const MILLIGRAMS_PER_KG = 1_000_000;

export function toMilligrams(weightKg: number): number {
  return Math.round(weightKg * MILLIGRAMS_PER_KG);
}

export function unitOf(calendar: Calendar | undefined): CapacityUnit {
  return calendar?.schedule.capacity?.unit ?? "shipments";
}

/** Remaining capacity of a slot for a shipment. */
export interface Remaining {
  /** In the unit of the schedule. Kilograms are rounded down. 0 if less remains than is used. */
  readonly remaining: number;
  /** Whether a shipment of the given weight fits. */
  readonly fits: boolean;
}

/** Returns the taken capacity of a slot. */
export function takenOf({ shipments, milligrams }: Omit<SlotLoad, "capacity">, unit: CapacityUnit): number {
  return unit === "shipments" ? shipments : milligrams / MILLIGRAMS_PER_KG;
}

/** Returns the remaining capacity of a slot. `undefined` if it is unlimited. */
export function remainingOf(
  load: SlotLoad = NO_LOAD,
  unit: CapacityUnit,
  capacity: number | null,
  weightKg: number,
): Remaining | undefined {
  const limit = load.capacity ?? capacity;
  if (limit === null) return undefined;
  const left = limit - takenOf(load, unit);
  const fits = unit === "shipments" ? left >= 1 : load.milligrams + toMilligrams(weightKg) <= limit * MILLIGRAMS_PER_KG;
  return { remaining: Math.max(0, Math.floor(left)), fits };
}
