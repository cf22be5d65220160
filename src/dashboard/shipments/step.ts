import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";

/** Action labels that include the shipment's reference. */
export const STEP_PHRASES = {
  "Record payment": (reference: string) => `Mark ${reference} as paid`,
  "Record late payment": (reference: string) => `Record late payment for ${reference}`,
  "Mark as picked up": (reference: string) => `Mark ${reference} as picked up`,
  "Mark as delivered": (reference: string) => `Mark ${reference} as delivered`,
  "Assign courier": (reference: string) => `Assign courier to ${reference}`,
  "Remove courier": (reference: string) => `Remove courier from ${reference}`,
  "Record attempt": (reference: string) => `Record failed attempt for ${reference}`,
  "Record proof": (reference: string) => `Record proof of delivery for ${reference}`,
  "Waive verification": (reference: string) => `Waive verification for ${reference}`,
  "Mark as returned": (reference: string) => `Mark ${reference} as returned`,
  "Record refund": (reference: string) => `Record refund for ${reference}`,
  Reschedule: (reference: string) => `Reschedule ${reference}`,
  "Cancel shipment": (reference: string) => `Cancel ${reference}`,
};

export type Step = keyof typeof STEP_PHRASES;

/** Returns the most common action for a shipment that awaits its pickup. */
export function pickupStep({ courier }: Shipment, hasCouriers: boolean): Step {
  return courier || !hasCouriers ? "Mark as picked up" : "Assign courier";
}

/** Returns the text of an action's button. */
export function labelOf(step: Step, { courier }: Shipment): string {
  return step === "Assign courier" && courier ? "Change courier" : step;
}
