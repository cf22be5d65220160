import { describe, expect, test } from "vitest";
import { UpdateShipmentResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { publishDocument } from "../../support/publish-document.ts";
import {
  ANY_TIME,
  book,
  bookAnd,
  NO_REFERENCE,
  NO_SHIPMENT,
  type ShipmentJson,
  type Step,
} from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService, startService } from "../../support/service.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

function update(shipment: ShipmentJson, body: object) {
  const path = `/v1/shipments/${shipment["reference"]}`;
  return service.request(path, { apiKey, method: "PATCH", body });
}

async function read({ reference }: ShipmentJson): Promise<ShipmentJson> {
  return (await service.request(`/v1/shipments/${reference}`, { apiKey })).body.data;
}

const CHANGED = { updated_at: ANY_TIME, etag: "2" };

test("an update changes the given fields and the etag, and leaves the rest", async () => {
  const booked = await book(service, apiKey);
  const { status, body } = await update(booked, { pickup_address: " 2 Times Square " });
  expect(status).toBe(200);
  expect(body).toEqual({ data: { ...booked, ...CHANGED, pickup_address: "2 Times Square" } });
  expect(await read(booked)).toEqual(body.data);

  const grpc = service.grpcClient(apiKey);
  const answer = await grpc.updateShipment({
    shipment: booked["reference"],
    dropoffAddress: "Door 2",
  });
  expect(inDialect(UpdateShipmentResponseSchema, answer)).toEqual({
    data: { ...body.data, updated_at: ANY_TIME, etag: "3", dropoff_address: "Door 2" },
  });
});

test("an update without fields, or with null or current values, changes nothing, not even the etag", async () => {
  const booked = await book(service, apiKey, { metadata: { a: "1" } });
  for (const body of [
    {},
    { pickup_address: null, weight_kg: null, customer_id: null, metadata: null },
    { etag: "  " },
    {
      pickup_address: booked["pickup_address"],
      weight_kg: booked["weight_kg"],
      customer_id: booked["customer"].id,
      metadata: { a: "1", b: "" },
      etag: "1",
    },
  ]) {
    const answer = await update(booked, body);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { data: booked },
    });
  }
});

test("an update of route or weight is priced with the tariff in force", async () => {
  const own = await startService();
  const { apiKey: key } = await own.addWorkspace();
  const booked = await book(own, key);
  await publishDocument(own.app.em, { ...SAMPLE_TARIFF, base_fee: "40.00" });
  const patch = (body: object) =>
    own.request(`/v1/shipments/${booked["reference"]}`, { apiKey: key, method: "PATCH", body });
  const untouched = await patch({ pickup_address: "Elsewhere" });
  expect(untouched.body.data).toMatchObject({ total: 12.69, base_fee: 5 });
  const heavier = await patch({ weight_kg: 10 });
  expect(heavier.status).toBe(200);
  expect(heavier.body.data).toEqual({
    ...untouched.body.data,
    updated_at: ANY_TIME,
    etag: "3",
    weight_kg: 10,
    distance_fee: 11.44,
    weight_fee: 5.5,
    base_fee: 40,
    subtotal: 16.94,
    total: 40,
    breakdown: [
      { kind: "distance", quantity: 9.532, unit: "km", rate: 1.2, amount: 11.44 },
      { kind: "weight", quantity: 10, unit: "kg", rate: 0.4, amount: 4 },
      { kind: "weight", quantity: 1, unit: "shipment", rate: 1.5, amount: 1.5 },
      { kind: "minimum", quantity: 1, unit: "shipment", rate: 23.06, amount: 23.06 },
    ],
  });
  const elsewhere = await patch({
    dropoff_lat: booked["pickup_lat"],
    dropoff_lng: booked["pickup_lng"],
  });
  expect(elsewhere.body.data).toMatchObject({
    distance_km: 0,
    distance_fee: 0,
    weight_fee: 5.5,
    total: 40,
  });
});

test("an update to a route that is not covered is refused like a booking, and changes nothing", async () => {
  const booked = await book(service, apiKey);
  const far = await update(booked, {
    dropoff_lat: 0,
    dropoff_lng: 0,
    weight_kg: 1_000,
    pickup_address: "X",
  });
  expect([far.status, Object.keys(far.body)]).toEqual([422, ["message", "errors"]]);
  expect(Object.keys(far.body.errors)).toEqual(["coverage", "weight_kg"]);
  const create = await service.request("/v1/shipments", {
    apiKey,
    body: {
      ...booked,
      customer_id: null,
      customer_name: "A",
      customer_email: "a@example.org",
      dropoff_lat: 0,
      dropoff_lng: 0,
      weight_kg: 1_000,
    },
  });
  expect(create.body).toEqual(far.body);
  expect(await read(booked)).toEqual(booked);
});

describe("an update of a shipment that is", () => {
  const WAYS: [string, Step[]][] = [
    ["awaiting pickup", ["pay"]],
    ["in transit", ["pay", "advance"]],
    ["delivered", ["pay", "advance", "advance"]],
    ["cancelled", ["cancel"]],
    ["cancelled", ["pay", "cancel"]],
  ];
  test.each(WAYS)("%s (%s)", async (words, way) => {
    const shipment = await bookAnd(service, apiKey, way);
    const other = await book(service, apiKey, { customer_email: "other@example.org" });
    const ended = words === "delivered" || words === "cancelled";
    const refused = (what: string) => {
      const text = `${what} cannot be changed because it is ${words}.`;
      return { status: 422, body: errorBody(text, "shipment") };
    };
    for (const body of [
      { weight_kg: 3 },
      { pickup_lat: 40.75 },
      { dropoff_lng: -73.95, metadata: { a: "b" } },
    ]) {
      expect(await update(shipment, body)).toMatchObject(
        refused(ended ? "The shipment" : "The shipment's route and weight"),
      );
    }
    expect(await read(shipment)).toEqual(shipment);
    const allowed = {
      pickup_address: "New",
      customer_id: other["customer"].id,
      metadata: { note: "new" },
      weight_kg: shipment["weight_kg"],
    };
    const answer = await update(shipment, allowed);
    if (ended) {
      expect(answer).toMatchObject(refused("The shipment"));
      expect(await read(shipment)).toEqual(shipment);
    } else {
      expect(answer.status).toBe(200);
      expect(answer.body.data).toEqual({
        ...shipment,
        updated_at: ANY_TIME,
        etag: String(Number(shipment["etag"]) + 1),
        pickup_address: "New",
        customer: other["customer"],
        metadata: { note: "new" },
      });
    }
  });
});

test("an update with a stale etag is 409 and changes nothing; the current etag and none are accepted", async () => {
  const booked = await book(service, apiKey);
  expect((await update(booked, { etag: "1", pickup_address: "A" })).status).toBe(200);
  const text = "etag is not the shipment's any more: it was changed meanwhile. Read it again.";
  for (const etag of ["1", "3", "02", '"2"', "x"]) {
    const { status, body } = await update(booked, { etag, pickup_address: "B" });
    expect({ status, body }).toEqual({ status: 409, body: errorBody(text, "etag") });
  }
  const grpc = service.grpcClient(apiKey);
  const stale = grpc.updateShipment({
    shipment: booked["reference"],
    etag: "1",
    pickupAddress: "B",
  });
  expect(await rpcError(stale)).toEqual(rpcRefusal("Aborted", "ETAG_STALE", text, "etag"));
  expect((await update(booked, { pickup_address: "C" })).body.data).toMatchObject({ etag: "3" });
  expect((await update(booked, { etag: "3", pickup_address: "D" })).status).toBe(200);
  // Steps on its way change the etag too.
  await service.request(`/v1/shipments/${booked["reference"]}/cancel`, { apiKey, method: "POST" });
  expect((await update(booked, { etag: "4", pickup_address: "E" })).status).toBe(409);
});

test("an update to a customer that the workspace does not have is the error of that field", async () => {
  const booked = await book(service, apiKey);
  const text = "customer_id is no customer of the workspace.";
  for (const customer_id of [2 ** 50, 0, -1]) {
    const { status, body } = await update(booked, { customer_id });
    expect({ status, body }).toEqual({ status: 422, body: errorBody(text, "customer_id") });
  }
});

test("an update refuses all fields out of range together, before it looks for the shipment", async () => {
  const body = { pickup_lat: 91, weight_kg: 0, pickup_address: "x".repeat(501), dropoff_lng: "1" };
  const { status, body: answer } = await update({ reference: NO_REFERENCE }, body);
  expect(status).toBe(422);
  expect(Object.keys(answer.errors)).toEqual([
    "pickup_address",
    "pickup_lat",
    "dropoff_lng",
    "weight_kg",
  ]);
  const missing = await update({ reference: NO_REFERENCE }, { weight_kg: 1 });
  expect({ status: missing.status, body: missing.body }).toEqual({
    status: 404,
    body: NO_SHIPMENT,
  });
});
