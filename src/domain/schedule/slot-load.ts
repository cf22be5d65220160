import type { Calendar } from "./calendar.ts";
import type { CapacityUnit } from "./schedule.ts";

/** The slot of a schedule that a window occupies. */
export interface WindowSlot {
  readonly schedule: string;
  /** Capacity according to the tariff. `undefined` if unlimited. */
  readonly capacity?: number | undefined;
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

export const MILLIGRAMS_PER_KG = 1_000_000;

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

/** Returns the remaining capacity of a slot. */
export function remainingOf(
  { shipments, milligrams, capacity: set }: SlotLoad = NO_LOAD,
  unit: CapacityUnit,
  capacity: number,
  weightKg: number,
): Remaining {
  const limit = set ?? capacity;
  const left = unit === "shipments" ? limit - shipments : limit - milligrams / MILLIGRAMS_PER_KG;
  const fits = unit === "shipments" ? left >= 1 : milligrams + toMilligrams(weightKg) <= limit * MILLIGRAMS_PER_KG;
  return { remaining: Math.max(0, Math.floor(left)), fits };
}
