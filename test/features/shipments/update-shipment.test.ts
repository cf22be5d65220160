import { describe, expect, test } from "vitest";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import {
  ANY_TIME,
  book,
  bookAnd,
  BOOKING,
  NO_REFERENCE,
  NO_SHIPMENT,
  takeStep,
  type ShipmentJson,
  type Step,
} from "../../support/bookings.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { sharedService, startService } from "../../support/service.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const caller = service.as(apiKey);

const update = ({ reference: shipment }: ShipmentJson, fields: object) =>
  caller.updateShipment({ shipment, ...fields });

const read = ({ reference: shipment }: ShipmentJson) => data(caller.getShipment({ shipment }));

const CHANGED = { updated_at: ANY_TIME, etag: "2" };

test("an update changes the given fields and the etag, and leaves the rest", async () => {
  const booked = await book(service, apiKey);
  const updated = await data(update(booked, { pickup_address: " 2 Times Square " }));
  expect(updated).toEqual({ ...booked, ...CHANGED, pickup_address: "2 Times Square" });
  expect(await read(booked)).toEqual(updated);
});

test("an update with no fields, null or current values changes nothing, not even the etag", async () => {
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
    expect(await data(update(booked, body))).toEqual(booked);
  }
});

test("an update of route or weight is priced with the tariff in force", async () => {
  const own = await startService();
  const { apiKey: key } = await own.addWorkspace();
  const booked = await book(own, key);
  await publishDocument(own.app.em, { ...SAMPLE_TARIFF, base_fee: "40.00" });
  const patch = (fields: object) => data(own.as(key).updateShipment({ shipment: booked["reference"], ...fields }));
  const untouched = await patch({ pickup_address: "Elsewhere" });
  expect(untouched).toMatchObject({ total: 12.69, base_fee: 5 });
  const heavier = await patch({ weight_kg: 10 });
  expect(heavier).toEqual({
    ...untouched,
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
  expect(elsewhere).toMatchObject({
    distance_km: 0,
    distance_fee: 0,
    weight_fee: 5.5,
    total: 40,
  });
});

test("an update to an uncovered route is rejected like a booking and changes nothing", async () => {
  const booked = await book(service, apiKey);
  const far = { dropoff_lat: 0, dropoff_lng: 0, weight_kg: 1_000 };
  const refused = await update(booked, { ...far, pickup_address: "X" });
  expect([refused.code, Object.keys(refused.body.errors)]).toEqual(["ROUTE_NOT_COVERED", ["coverage", "weight_kg"]]);
  const booking = await caller.createShipment({ ...BOOKING, ...far });
  expect(booking.body).toEqual(refused.body);
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
    const refused = (what: string) =>
      ["SHIPMENT_STATE", { shipment: `${what} cannot be changed because it is ${words}.` }] as const;
    for (const fields of [{ weight_kg: 3 }, { pickup_lat: 40.75 }, { dropoff_lng: -73.95, metadata: { a: "b" } }]) {
      const what = ended ? "The shipment" : "The shipment's route and weight";
      await expectRefused(update(shipment, fields), ...refused(what));
    }
    expect(await read(shipment)).toEqual(shipment);
    const allowed = {
      pickup_address: "New",
      customer_id: other["customer"].id,
      metadata: { note: "new" },
      weight_kg: shipment["weight_kg"],
    };
    if (ended) {
      await expectRefused(update(shipment, allowed), ...refused("The shipment"));
      expect(await read(shipment)).toEqual(shipment);
    } else {
      expect(await data(update(shipment, allowed))).toEqual({
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

test("an update with a stale etag is rejected and changes nothing, while the current etag or none is accepted", async () => {
  const booked = await book(service, apiKey);
  await data(update(booked, { etag: "1", pickup_address: "A" }));
  const text = "etag is stale because the shipment was changed. Read it again.";
  for (const etag of ["1", "3", "02", '"2"', "x"]) {
    await expectRefused(update(booked, { etag, pickup_address: "B" }), "ETAG_STALE", {
      etag: text,
    });
  }
  expect(await data(update(booked, { pickup_address: "C" }))).toMatchObject({ etag: "3" });
  await data(update(booked, { etag: "3", pickup_address: "D" }));
  // Any other step changes the etag too.
  await takeStep(service, apiKey, booked["reference"], "cancel");
  expect((await update(booked, { etag: "4", pickup_address: "E" })).code).toBe("ETAG_STALE");
});

describe("If-Match", () => {
  const patch = (path: string, ifMatch: string, body: object = { pickup_address: "B" }) =>
    service.request(path, { apiKey, method: "PATCH", body, headers: { "if-match": ifMatch } });

  test("is checked like the etag field", async () => {
    const { reference } = await book(service, apiKey);
    const path = `/v1/shipments/${reference}`;
    await data(patch(path, '"1"', { pickup_address: "A" }));
    const etag = "etag is stale because the shipment was changed. Read it again.";
    await expectRefused(patch(path, '"1"'), "ETAG_STALE", { etag });
    expect(await data(patch(path, "2"))).toMatchObject({ pickup_address: "B", etag: "3" });
    expect(await data(patch(path, "*", { pickup_address: "C" }))).toMatchObject({ etag: "4" });
  });

  test.each([
    ['W/"1"', {}, 'If-Match must be one strong etag, such as "3".'],
    ['"1", "2"', {}, 'If-Match must be one strong etag, such as "3".'],
    ['"1"', { etag: "2" }, "If-Match differs from the etag in the request. Send only one of them."],
  ])("%s is rejected with %j", async (ifMatch, body, text) => {
    const { reference } = await book(service, apiKey);
    const patched = patch(`/v1/shipments/${reference}`, ifMatch, body);
    await expectRefused(patched, "FIELD_INVALID", { if_match: text });
  });

  test("is rejected by a call without an etag", async () => {
    const text = "If-Match is not supported by this call, which has no etag. Omit it.";
    await expectRefused(patch("/v1/workspace", '"1"', {}), "FIELD_INVALID", { if_match: text });
  });
});

test("rejects an update to a customer of another workspace as an error of that field", async () => {
  const booked = await book(service, apiKey);
  const text = "customer_id is not a customer of the workspace.";
  for (const customer_id of [2 ** 50, 0, -1]) {
    await expectRefused(update(booked, { customer_id }), "FIELD_INVALID", { customer_id: text });
  }
});

test("an update rejects all invalid fields together, before it looks up the shipment", async () => {
  const fields = {
    pickup_lat: 91,
    weight_kg: 0,
    pickup_address: "x".repeat(501),
    dropoff_lng: "1",
  };
  expect(await invalidFields(update({ reference: NO_REFERENCE }, fields))).toEqual([
    "pickup_address",
    "pickup_lat",
    "dropoff_lng",
    "weight_kg",
  ]);
  const missing = update({ reference: NO_REFERENCE }, { weight_kg: 1 });
  await expectRefused(missing, "SHIPMENT_NOT_FOUND", NO_SHIPMENT.message);
});
