import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";

const latitude = { type: "number", minimum: -90, maximum: 90 };
const longitude = { type: "number", minimum: -180, maximum: 180 };
const address = { type: "string", minLength: 1, maxLength: 500 };
const text = { type: "string" };
const amount = { type: "number" };
const nullableText = { type: ["string", "null"] };
const time = { type: "string", format: "date-time" };
const nullableTime = { anyOf: [time, { type: "null" }] };
const notes = { type: "object", additionalProperties: text };

const route = {
  pickup_lat: latitude,
  pickup_lng: longitude,
  dropoff_lat: latitude,
  dropoff_lng: longitude,
  weight_kg: { type: "number", minimum: 0.01 },
};
const booking = {
  customer_name: { type: "string", minLength: 1, maxLength: 200 },
  customer_email: { type: "string", maxLength: 254, format: "email" },
  pickup_address: address,
  dropoff_address: address,
  ...route,
};
const price = {
  ...all(amount, "distance_km distance_fee weight_fee base_fee window_fee subtotal total"),
  currency: text,
};
/** Window fields, which are always null because the bench uses no windows. */
const noWindows = all({ type: "null" }, "pickup_window dropoff_window");
const data = object({
  ...all(text, "reference status payment_status pickup_address dropoff_address etag"),
  ...all(amount, "pickup_lat pickup_lng dropoff_lat dropoff_lng weight_kg"),
  ...price,
  customer: object({
    id: { type: "integer" },
    ...all(text, "name email"),
    id_number: nullableText,
    ...all({ type: "null" }, "phone notes default_pickup default_dropoff figures etag"),
  }),
  ...all(time, "created_at updated_at"),
  ...all(nullableTime, "cancelled_at delivered_at returned_at"),
  metadata: notes,
  ...Object.fromEntries(
    ShipmentSchema.fields.filter(({ proto }) => proto.proto3Optional).map(({ name }) => [name, nullableText]),
  ),
  test: { type: "boolean" },
  ...noWindows,
  ...all(text, "dropoff_verification dropoff_handover if_undeliverable"),
  package_count: { type: "integer" },
  items: { type: "array", items: {} },
  attempts: { type: "array", items: {} },
  ...all({ type: "null" }, "courier pickup_eta dropoff_eta proof"),
  payment_details: { type: "null" },
  breakdown: {
    type: "array",
    items: object({ ...all(text, "kind unit"), ...all(amount, "quantity rate amount") }),
  },
});
const payment = object({
  ...all(text, "provider currency"),
  amount,
  paid_at: time,
  refunded_at: nullableTime,
});
const quoted = {
  covered: { type: "boolean" },
  ...all(nullableText, "message failure_type"),
  ...noWindows,
};

function all(schema: object, names: string): Record<string, object> {
  return Object.fromEntries(names.split(" ").map((name) => [name, schema]));
}

function object(properties: object): object {
  return { type: "object", properties };
}

/** Returns the schema of a body in which all properties are required. The bench sends no optional ones. */
function body(properties: object): object {
  return { ...object(properties), required: Object.keys(properties) };
}

/** Request and response schemas by route. */
export const quote = { body: body(route), response: { 200: object({ ...quoted, ...price }) } };
export const create = { body: body(booking), response: { 201: object({ data }) } };
export const shipment = { response: { 200: object({ data }) } };
export const page = {
  response: { 200: object({ data: { type: "array", items: data }, next_page_token: text }) },
};
export const update = { body: body({ metadata: notes }), ...shipment };
export const pay = {
  body: body({ amount: { type: "number", minimum: 0 }, currency: text }),
  response: { 200: object({ data, payment }) },
};
