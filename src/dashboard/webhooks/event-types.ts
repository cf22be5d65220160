/** Type, label and kind of each event. */
export const EVENT_TYPES = [
  ["shipment.created", "Booked", "parcel"],
  ["shipment.updated", "Changed", "changed"],
  ["shipment.checkout_opened", "Pay link created", "money"],
  ["shipment.payment_processing", "Payment processing", "money"],
  ["shipment.payment_failed", "Payment failed", "failed"],
  ["shipment.paid", "Paid", "money"],
  ["shipment.awaiting_pickup", "To pick up", "parcel"],
  ["shipment.courier_assigned", "Courier changed", "courier"],
  ["shipment.eta_changed", "ETA changed", "time"],
  ["shipment.at_pickup", "Courier at pickup", "door"],
  ["shipment.in_transit", "Picked up", "courier"],
  ["shipment.at_dropoff", "Courier at the door", "door"],
  ["shipment.attempt_failed", "Attempt failed", "failed"],
  ["shipment.proof_recorded", "Proof recorded", "door"],
  ["shipment.delivered", "Delivered", "done"],
  ["shipment.returned", "Returned", "ended"],
  ["shipment.cancelled", "Cancelled", "ended"],
  ["shipment.refunded", "Refunded", "money"],
  ["shipment.partly_refunded", "Partially refunded", "money"],
  ["shipment.refund_failed", "Refund failed", "failed"],
  ["shipment.dispute_opened", "Payment disputed", "failed"],
  ["shipment.dispute_closed", "Dispute decided", "money"],
  ["webhook.disabled", "Webhook disabled", "changed"],
  ["webhook.test", "Test event", "changed"],
] as const;

/** Choices of a field for event types, labeled with their API names. */
export const TYPE_CHOICES = EVENT_TYPES.map(([type]) => [type, type] as const);
