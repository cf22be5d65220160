const latitude = { type: "number", minimum: -90, maximum: 90 } as const;
const longitude = { type: "number", minimum: -180, maximum: 180 } as const;
const text = { type: "string" } as const;
const amount = { type: "number" } as const;
const nullableText = { type: ["string", "null"] } as const;

const bookingFields = {
  customer_name: { type: "string", minLength: 1, maxLength: 200 },
  customer_email: { type: "string", maxLength: 254, format: "email" },
  pickup_address: { type: "string", minLength: 1, maxLength: 500 },
  pickup_lat: latitude,
  pickup_lng: longitude,
  dropoff_address: { type: "string", minLength: 1, maxLength: 500 },
  dropoff_lat: latitude,
  dropoff_lng: longitude,
  weight_kg: { type: "number", minimum: 0.01 },
} as const;

/** The body of a booking; what the product takes besides, the bench never sends. */
export const BOOKING_SCHEMA = {
  type: "object",
  required: Object.keys(bookingFields),
  properties: bookingFields,
} as const;

const shipment = {
  type: "object",
  properties: {
    reference: text,
    status: text,
    payment_status: text,
    created_by: nullableText,
    pickup_address: text,
    pickup_lat: amount,
    pickup_lng: amount,
    dropoff_address: text,
    dropoff_lat: amount,
    dropoff_lng: amount,
    weight_kg: amount,
    distance_km: amount,
    distance_fee: amount,
    weight_fee: amount,
    base_fee: amount,
    subtotal: amount,
    total: amount,
    currency: text,
    customer: {
      type: "object",
      properties: { id: { type: "integer" }, name: text, email: text, id_number: nullableText },
    },
    created_at: text,
    updated_at: text,
    cancelled_at: nullableText,
    cancel_reason: nullableText,
    cancel_note: nullableText,
    external_reference: nullableText,
    metadata: { type: "object", additionalProperties: text },
    etag: text,
  },
} as const;

/** The answer that holds one shipment. */
export const SHIPMENT_SCHEMA = { type: "object", properties: { data: shipment } } as const;

/** The answer that holds a page of them. */
export const PAGE_SCHEMA = {
  type: "object",
  properties: { data: { type: "array", items: shipment }, next_page_token: text },
} as const;
