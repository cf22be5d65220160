/** Action labels that include the shipment's reference. */
export const STEP_PHRASES = {
  "Record payment": (reference: string) => `Mark ${reference} as paid`,
  "Record late payment": (reference: string) => `Record a late payment for ${reference}`,
  "Mark as picked up": (reference: string) => `Mark ${reference} as picked up`,
  "Mark as delivered": (reference: string) => `Mark ${reference} as delivered`,
  "Assign courier": (reference: string) => `Assign a courier to ${reference}`,
  "Remove courier": (reference: string) => `Remove the courier from ${reference}`,
  "Record attempt": (reference: string) => `Record a failed attempt for ${reference}`,
  "Record proof": (reference: string) => `Record proof of delivery for ${reference}`,
  "Waive verification": (reference: string) => `Waive the verification for ${reference}`,
  "Mark as returned": (reference: string) => `Mark ${reference} as returned`,
  "Record refund": (reference: string) => `Record the refund for ${reference}`,
  Reschedule: (reference: string) => `Reschedule ${reference}`,
  "Cancel shipment": (reference: string) => `Cancel ${reference}`,
};

export type Step = keyof typeof STEP_PHRASES;
