/** Action labels that include the shipment's reference. */
export const STEP_PHRASES = {
  "Record payment": (reference: string) => `Mark ${reference} as paid`,
  "Record late payment": (reference: string) => `Record a late payment of ${reference}`,
  "Mark as picked up": (reference: string) => `Mark ${reference} as picked up`,
  "Mark as delivered": (reference: string) => `Mark ${reference} as delivered`,
  "Assign courier": (reference: string) => `Assign a courier to ${reference}`,
  "Remove courier": (reference: string) => `Remove the courier of ${reference}`,
  "Record attempt": (reference: string) => `Record a failed attempt of ${reference}`,
  "Record proof": (reference: string) => `Record a proof of delivery of ${reference}`,
  "Waive verification": (reference: string) => `Waive the verification of ${reference}`,
  "Mark as returned": (reference: string) => `Mark ${reference} as returned`,
  "Record refund": (reference: string) => `Record the refund of ${reference}`,
  Reschedule: (reference: string) => `Reschedule ${reference}`,
  "Cancel shipment": (reference: string) => `Cancel ${reference}`,
};

export type Step = keyof typeof STEP_PHRASES;
