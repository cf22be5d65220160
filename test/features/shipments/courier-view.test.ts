import { describe, expect, test } from "vitest";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { connectAgent } from "../../support/agent.ts";
import { data } from "../../support/answers.ts";
import { book, bookAnd } from "../../support/bookings.ts";
import type { ApiProtocol } from "../../support/client.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const as = service.as(apiKey);
const { body: made } = await as.createApiKey({ name: "Fleet", scope: "courier" });

/** Fields that a courier's key cannot see: the customer's email and id number, the price and the notes. */
const HIDDEN = {
  created_by: null,
  distance_fee: 0,
  weight_fee: 0,
  base_fee: 0,
  subtotal: 0,
  total: 0,
  currency: "",
  cancel_reason: null,
  cancel_note: null,
  external_reference: null,
  metadata: {},
  quote_id: null,
  window_fee: 0,
  breakdown: [],
  payment_details: null,
  tracking_url: null,
  recipient_email: null,
  dropoff_pin: null,
};
const HIDDEN_OF_CUSTOMER = {
  id: 0,
  email: "",
  id_number: null,
  phone: null,
  notes: null,
  default_pickup: null,
  default_dropoff: null,
  figures: null,
  etag: null,
};

const FIELDS = {
  customer_id_number: "AB-123",
  metadata: { floor: "3rd" },
  recipient_name: "Grace Hopper",
  recipient_phone: "+12125550123",
  recipient_email: "grace@example.org",
  recipient_locale: "fr",
  dropoff_verification: "pin",
  pickup_contact_name: "Mary Jackson",
  pickup_contact_phone: "+17185550123",
  pickup_instructions: "Gate 4",
  dropoff_instructions: "Code 1234",
  package_count: 2,
  package_description: "Two boxes",
  items: [{ name: "Tea", quantity: 3, external_id: "sku-1" }],
  if_undeliverable: "dispose",
};

let booked = 0;
const fields = () => ({ ...FIELDS, external_reference: `order-${++booked}` });

function shownToCouriers(full: Record<string, unknown> & { readonly customer: object }) {
  return { ...full, ...HIDDEN, customer: { ...full.customer, ...HIDDEN_OF_CUSTOMER } };
}

async function expectCourierView(shown: unknown, reference: string) {
  const full = await data(as.getShipment({ shipment: reference }));
  expect(full).toMatchObject({ total: expect.any(Number), metadata: { floor: "3rd" } });
  expect(shown).toEqual(shownToCouriers(full));
}

const AT_DOOR = { shipment: "", received_by: "Grace" };
const TO_DELIVER = ["pay", "advance"] as const;
const API_PROTOCOLS: ApiProtocol[] = ["json", "grpc", "Connect on the HTTP server"];

describe.each(API_PROTOCOLS)("over %s, a courier's key gets only the fields that a courier needs", (protocol) => {
  const courier = service.as(made.api_key, protocol);

  test("from a read", async () => {
    const { reference: shipment } = await bookAnd(service, apiKey, ["pay"], fields());
    await expectCourierView(await data(courier.getShipment({ shipment })), shipment);
  });

  test.each([
    ["AdvanceShipment", ["pay"], courier.advanceShipment, {}],
    ["ReturnShipment", TO_DELIVER, courier.returnShipment, {}],
    ["SetCourier", ["pay"], courier.setCourier, { name: "Ada" }],
    ["RemoveCourier", ["pay"], courier.removeCourier, {}],
    ["ReportProgress", ["pay"], courier.reportProgress, { stage: "assigned" }],
    ["RecordAttempt", ["pay"], courier.recordAttempt, { reason: "refused" }],
    ["RecordProof", TO_DELIVER, courier.recordProof, AT_DOOR],
  ] as const)("from %s and its retry", async (_, steps, call, more) => {
    const { reference: shipment } = await bookAnd(service, apiKey, steps, fields());
    const headers = { "idempotency-key": `key-${API_PROTOCOLS.indexOf(protocol)}-${shipment}` };
    const ways = [await call({ ...more, shipment } as never, headers)];
    ways.push(await call({ ...more, shipment } as never, headers));
    for (const answer of ways) await expectCourierView(await data(Promise.resolve(answer)), shipment);
  });

  test("from a batch", async () => {
    const { reference: shipment } = await bookAnd(service, apiKey, ["pay"], fields());
    const { body } = await courier.batchAdvanceShipments({ shipments: [shipment] });
    const { status, payment_status, etag } = await data(as.getShipment({ shipment }));
    expect(body.results).toEqual([{ shipment, status, payment_status, etag, error: null }]);
  });
});

test("an agent with a courier's key also gets only these fields", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"], fields());
  const agent = await connectAgent(service, made.api_key);
  const { json } = await agent.call("get_shipment", { shipment });
  for (const [name, value] of Object.entries(HIDDEN)) {
    expect([name, json.data[name] ?? value]).toEqual([name, value]);
  }
  expect(json.data.customer).toEqual({ id: 0, name: "Ada Lovelace", email: "" });
});

test("the event of a courier's call has all fields except the PIN", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"], fields());
  await data(service.as(made.api_key).advanceShipment({ shipment }));
  const { body } = await as.listShipmentEvents({ shipment });
  const full = await data(as.getShipment({ shipment }));
  expect(body.data.at(-1).data).toEqual({ ...full, dropoff_pin: null });
});

test("a key of another scope gets all fields", async () => {
  const { reference: shipment } = await book(service, apiKey, fields());
  const full = await data(as.getShipment({ shipment }));
  expect(Object.keys(full)).toEqual(ShipmentSchema.fields.map(({ name }) => name));
  expect(full).toMatchObject({
    customer: { id_number: "AB-123" },
    dropoff_pin: expect.stringMatching(/^\d{4}$/),
  });
});
