export type Status = "pending" | "awaiting_pickup" | "in_transit" | "delivered" | "returned" | "cancelled";

export type End = "pickup" | "dropoff";

export const ATTEMPT_REASONS = ["nobody_there", "refused", "wrong_address", "damaged", "other"] as const;

export type AttemptReason = (typeof ATTEMPT_REASONS)[number];

interface Window {
  readonly start: string;
  readonly end: string;
  readonly time_zone: string;
}

interface Item {
  readonly name: string;
  readonly quantity: number;
}

/**
 * A shipment as `/v1` returns it to couriers. Only the fields that the page uses. Times are RFC 3339. Optional fields
 * can be missing in a run that an earlier version of the page stored.
 */
export interface Shipment {
  readonly reference: string;
  readonly status: Status;
  readonly stage: "assigned" | "at_pickup" | "at_dropoff" | null;
  readonly pickup_address: string;
  readonly pickup_lat: number;
  readonly pickup_lng: number;
  readonly dropoff_address: string;
  readonly dropoff_lat: number;
  readonly dropoff_lng: number;
  readonly weight_kg: number;
  readonly customer: { readonly name: string };
  readonly recipient_name: string | null;
  readonly recipient_phone: string | null;
  readonly pickup_contact_name?: string | null;
  readonly pickup_contact_phone?: string | null;
  readonly pickup_instructions?: string | null;
  readonly dropoff_instructions?: string | null;
  readonly package_count?: number;
  readonly package_description?: string | null;
  readonly items?: readonly Item[];
  readonly dropoff_handover?: "meet" | "leave_at_door";
  readonly if_undeliverable?: "return" | "dispose";
  readonly pickup_window: Window | null;
  readonly dropoff_window: Window | null;
  readonly pickup_eta: string | null;
  readonly dropoff_eta: string | null;
  readonly attempts: readonly {
    readonly end: End;
    readonly reason: AttemptReason;
    readonly note: string | null;
    readonly attempted_at: string;
  }[];
  readonly dropoff_verification: "none" | "pin" | "photo" | "signature";
  readonly proof: { readonly waived: string | null } | null;
}

/** The courier's shipments of the day: open ones in the dispatcher's order, then those that ended today. */
export interface Run {
  readonly courier: string;
  readonly courier_name: string;
  readonly workspace_name: string;
  readonly time_zone: string;
  readonly can_reorder?: boolean;
  readonly wants_location?: boolean;
  readonly shipments: readonly Shipment[];
}

export function isOpen({ status }: Shipment): boolean {
  return status === "awaiting_pickup" || status === "in_transit";
}

/** Returns the end to which the courier goes next. */
export function nextEnd({ status }: Shipment): End {
  return status === "awaiting_pickup" ? "pickup" : "dropoff";
}

/** Address, contact and times of one end of a shipment's route. */
export type Visit = ReturnType<typeof visitOf>;

export function visitOf(shipment: Shipment, end: End) {
  const isPickup = end === "pickup";
  return {
    address: shipment[`${end}_address`],
    lat: shipment[`${end}_lat`],
    lng: shipment[`${end}_lng`],
    contact: (isPickup ? shipment.pickup_contact_name : (shipment.recipient_name ?? shipment.customer.name)) ?? null,
    phone: (isPickup ? shipment.pickup_contact_phone : shipment.recipient_phone) ?? null,
    instructions: shipment[`${end}_instructions`] ?? null,
    window: shipment[`${end}_window`],
    eta: shipment[`${end}_eta`],
  };
}

/** Whether the courier is late at one end: after the window or, without a window, after the expected time. */
export function isLate(shipment: Shipment, end: End, nowMs: number): boolean {
  const { window, eta } = visitOf(shipment, end);
  if (!isOpen(shipment) || (end === "pickup" && shipment.status !== "awaiting_pickup")) return false;
  const isThere = shipment.stage === `at_${end}`;
  const etaMs = isThere || eta === null ? undefined : Date.parse(eta);
  if (window === null) return etaMs !== undefined && etaMs < nowMs;
  return Date.parse(window.end) < Math.max(nowMs, etaMs ?? nowMs);
}

/** Returns the proof that must be recorded before delivery. */
export function requiredProof(shipment: Shipment): "none" | "pin" | "photo" | "signature" {
  if (shipment.proof?.waived) return "none";
  const { dropoff_verification: required } = shipment;
  return required === "none" && shipment.dropoff_handover === "leave_at_door" ? "photo" : required;
}
