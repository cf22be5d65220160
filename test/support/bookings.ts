import { expect } from "vitest";
import { data } from "./answers.ts";
import type { ApiProtocol } from "./client.ts";
import type { TestService } from "./service.ts";
import { SHIPMENT_TEXTS } from "./shipment-texts.ts";

/** A route within the sample tariff's zones: Midtown Manhattan to Prospect Park. */
export const COVERED_ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
} as const;

/** A booking within the sample tariff's zones. */
export const BOOKING = {
  ...COVERED_ROUTE,
  customer_name: "Ada Lovelace",
  customer_email: "ada@example.org",
  pickup_address: "1 Times Square, New York",
  dropoff_address: "95 Prospect Park West, Brooklyn",
} as const;

/** `COVERED_ROUTE` for an RPC client. */
export const RPC_ROUTE = {
  pickupLat: COVERED_ROUTE.pickup_lat,
  pickupLng: COVERED_ROUTE.pickup_lng,
  dropoffLat: COVERED_ROUTE.dropoff_lat,
  dropoffLng: COVERED_ROUTE.dropoff_lng,
  weightKg: COVERED_ROUTE.weight_kg,
};

/** `BOOKING` for an RPC client. */
export const RPC_BOOKING = {
  ...RPC_ROUTE,
  customerName: BOOKING.customer_name,
  customerEmail: BOOKING.customer_email,
  pickupAddress: BOOKING.pickup_address,
  dropoffAddress: BOOKING.dropoff_address,
};

/** A shipment as the HTTP server's JSON. */
export type ShipmentJson = Record<string, any>;

/** Price of `BOOKING` with the sample tariff. */
export const BOOKING_PRICE = {
  distance_km: 9.532,
  distance_fee: 11.44,
  weight_fee: 1.25,
  base_fee: 5,
  subtotal: 12.69,
  total: 12.69,
  currency: "USD",
} as const;

/** Line items of `BOOKING_PRICE`. */
export const BOOKING_BREAKDOWN = [
  { kind: "distance", quantity: 9.532, unit: "km", rate: 1.2, amount: 11.44 },
  { kind: "weight", quantity: 2.5, unit: "kg", rate: 0.5, amount: 1.25 },
] as const;
/** Window fields of a quote or shipment without windows. */
export const WITHOUT_WINDOWS = {
  window_fee: 0,
  pickup_window: null,
  dropoff_window: null,
} as const;

/** A payment for `BOOKING`. */
export const PAYMENT = { amount: 12.69, currency: "USD" } as const;

/** Matches any time in a response: UTC with milliseconds. */
export const ANY_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Every field of a shipment booked with `BOOKING`. */
export const BOOKED_SHIPMENT: ShipmentJson = {
  reference: expect.stringMatching(/^SHP-[0-9A-HJKMNP-TV-Z]{12}$/),
  status: "pending",
  payment_status: "awaiting_payment",
  created_by: null,
  pickup_address: BOOKING.pickup_address,
  pickup_lat: BOOKING.pickup_lat,
  pickup_lng: BOOKING.pickup_lng,
  dropoff_address: BOOKING.dropoff_address,
  dropoff_lat: BOOKING.dropoff_lat,
  dropoff_lng: BOOKING.dropoff_lng,
  weight_kg: BOOKING.weight_kg,
  ...BOOKING_PRICE,
  customer: {
    id: expect.any(Number),
    name: BOOKING.customer_name,
    email: BOOKING.customer_email,
    id_number: null,
    // Shipments omit these customer fields.
    phone: null,
    notes: null,
    default_pickup: null,
    default_dropoff: null,
    figures: null,
    etag: null,
  },
  created_at: ANY_TIME,
  updated_at: ANY_TIME,
  cancelled_at: null,
  cancel_reason: null,
  cancel_note: null,
  delivered_at: null,
  returned_at: null,
  dropoff_verification: "none",
  dropoff_pin: null,
  proof: null,
  courier: null,
  stage: null,
  pickup_eta: null,
  dropoff_eta: null,
  attempts: [],
  package_count: 1,
  items: [],
  dropoff_handover: "meet",
  if_undeliverable: "return",
  ...Object.fromEntries(SHIPMENT_TEXTS.map(({ name }) => [name, null])),
  metadata: {},
  etag: "1",
  test: false,
  quote_id: null,
  breakdown: BOOKING_BREAKDOWN,
  ...WITHOUT_WINDOWS,
  payment_details: null,
  // The service under test has no public URL.
  tracking_url: null,
};

/** Books a shipment over JSON. */
export function book(service: Pick<TestService, "as">, apiKey: string, fields: object = {}): Promise<ShipmentJson> {
  return data(service.as(apiKey).createShipment({ ...BOOKING, ...fields }));
}

/** Body of each call that changes a shipment's status. */
const STEPS = {
  pay: ["recordPayment", PAYMENT],
  advance: ["advanceShipment", {}],
  cancel: ["cancelShipment", {}],
  refund: ["recordRefund", {}],
} as const;

export type Step = keyof typeof STEPS;

/** Calls one of `STEPS`. */
export function takeStep(
  service: Pick<TestService, "as">,
  apiKey: string,
  shipment: string,
  step: Step,
  protocol?: ApiProtocol,
) {
  const [method, fields] = STEPS[step];
  return service.as(apiKey, protocol)[method]({ shipment, ...fields });
}

/** Books a shipment and applies the given steps, which must all succeed. */
export async function bookAnd(
  service: Pick<TestService, "as">,
  apiKey: string,
  steps: readonly Step[],
  fields: object = {},
): Promise<ShipmentJson> {
  let shipment = await book(service, apiKey, fields);
  for (const step of steps) {
    shipment = await data(takeStep(service, apiKey, shipment["reference"], step));
  }
  return shipment;
}

/** A well-formed reference that no shipment has. */
export const NO_REFERENCE = "SHP-0000000000ZZ";

/** Body of the HTTP response for a missing shipment. */
export const NO_SHIPMENT = { message: "Shipment not found.", errors: {} };

/** HTTP response body for text that cannot be a reference. */
export const IMPOSSIBLE_REFERENCE = {
  message: "Shipment not found. A reference looks like SHP-4T8ZK2M0QWXE.",
  errors: {},
};

/** Facts about the price of `BOOKING` in a refusal, with the sample tariff. */
export const PRICE_FACTS = {
  distance_km: "9.532",
  distance_fee: "11.44",
  weight_fee: "1.25",
  base_fee: "5",
  subtotal: "12.69",
  window_fee: "0",
  total: "12.69",
  currency: "USD",
};
