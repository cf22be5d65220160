import { expect, test } from "vitest";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import { ANY_TIME, bookAnd, takeStep } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const as = service.as(apiKey);

const ADA = { name: "Ada Byron", phone: "+12125550123", vehicle: "Cargo bike", external_id: "c-7" };

const NOW_MS = Date.now();
const eta = (minutes: number) => new Date(NOW_MS - (NOW_MS % 1_000) + minutes * 60_000).toISOString();

/** Returns the event types of a shipment, without those of its booking or payment. */
async function eventsOf(shipment: string): Promise<string[]> {
  const events = await data(as.listShipmentEvents({ shipment }));
  return events.slice(3).map(({ type }: { type: string }) => type.replace("shipment.", ""));
}

test("a shipment shows its courier's progress from the assignment to the return, with an event for each step", async () => {
  const paid = await bookAnd(service, apiKey, ["pay"]);
  const shipment = paid["reference"];
  const changed = { updated_at: ANY_TIME, etag: expect.any(String) };

  const assigned = await data(as.setCourier({ shipment, ...ADA }));
  expect(assigned).toEqual({
    ...paid,
    ...changed,
    courier: { ...ADA, courier_id: null, sequence: null },
    stage: "assigned",
  });
  const etas = { pickup_eta: eta(0), dropoff_eta: eta(60) };
  const expected = await data(as.reportProgress({ shipment, ...etas }));
  expect(expected).toEqual({ ...assigned, ...changed, ...etas });
  const near = await data(as.reportProgress({ shipment, stage: "at_pickup" }));
  expect(near).toEqual({ ...expected, ...changed, stage: "at_pickup" });

  const moved = await data(takeStep(service, apiKey, shipment, "advance"));
  expect(moved).toEqual({
    ...near,
    ...changed,
    status: "in_transit",
    stage: null,
    pickup_eta: null,
  });
  const small = { dropoff_eta: eta(64) };
  const soon = await data(as.reportProgress({ shipment, ...small, pickup_eta: eta(0) }));
  // The etag is unchanged, because concurrent editors have missed no change.
  expect(soon).toEqual({ ...moved, ...small });
  await data(as.reportProgress({ shipment, stage: "at_dropoff" }));
  const failed = await data(as.recordAttempt({ shipment, reason: "other", note: "Dog" }));
  const attempt = { end: "dropoff", reason: "other", note: "Dog", attempted_at: ANY_TIME, photo: false };
  expect(failed).toEqual({ ...soon, ...changed, dropoff_eta: null, attempts: [attempt] });

  const returned = await data(as.returnShipment({ shipment }));
  const end = { status: "returned", returned_at: ANY_TIME };
  expect(returned).toEqual({ ...failed, ...changed, ...end });
  expect(await data(as.getShipment({ shipment }))).toEqual(returned);
  expect(await eventsOf(shipment)).toEqual([
    "courier_assigned",
    "eta_changed",
    "at_pickup",
    "in_transit",
    "at_dropoff",
    "attempt_failed",
    "returned",
  ]);
  const listed = await data(as.listShipments({ status: "returned" }));
  expect(listed).toContainEqual(returned);
});

test("a repeated report changes nothing, and a removed courier has no stage", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const assigned = await data(as.setCourier({ shipment, ...ADA }));
  expect(await data(as.setCourier({ shipment, ...ADA }))).toEqual(assigned);
  await data(as.reportProgress({ shipment, stage: "at_pickup" }));
  const away = await data(as.reportProgress({ shipment, stage: "assigned" }));
  expect(away).toEqual({ ...assigned, updated_at: ANY_TIME, etag: "5" });
  const none = await data(as.removeCourier({ shipment }));
  expect([none.courier, none.stage]).toEqual([null, null]);
  const types = ["courier_assigned", "at_pickup", "courier_assigned", "courier_assigned"];
  expect(await eventsOf(shipment)).toEqual(types);
});

test("rejects incomplete and invalid reports by field", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const invalid = (call: Parameters<typeof invalidFields>[0]) => invalidFields(call);
  expect(await invalid(as.setCourier({ shipment, vehicle: "Van" }))).toEqual(["name"]);
  await expectRefused(as.setCourier({ shipment, name: "Ada", phone: "0123" }), "FIELD_INVALID", {
    phone: "phone must be a phone number with a country code, such as +12125550123.",
  });
  expect(await invalid(as.reportProgress({ shipment, stage: "lost" }))).toEqual(["stage"]);
  expect(await invalid(as.reportProgress({ shipment }))).toEqual(["stage"]);
  for (const time of ["9999-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z"]) {
    await expectRefused(as.reportProgress({ shipment, dropoff_eta: time }), "FIELD_INVALID", {
      dropoff_eta: "dropoff_eta must be within a year of now.",
    });
  }
  expect(await invalid(as.recordAttempt({ shipment }))).toEqual(["reason"]);
  expect(await invalid(as.recordAttempt({ shipment, reason: "other" }))).toEqual(["note"]);
});

test("rejects reports that do not fit the shipment's state, and limits the failed attempts", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const refused = (call: Parameters<typeof expectRefused>[0], why: string) =>
    expectRefused(call, "SHIPMENT_STATE", { shipment: `The shipment cannot be ${why}` });
  await refused(
    as.reportProgress({ shipment, stage: "at_dropoff" }),
    "reported at its dropoff because it is awaiting pickup.",
  );
  await refused(as.returnShipment({ shipment }), "returned because it is awaiting pickup.");
  const fail = () => as.recordAttempt({ shipment, reason: "nobody_there" });
  for (let i = 0; i < 20; i++) await data(fail());
  await refused(fail(), "recorded as attempted because 20 attempts have failed; cancel it.");
  await takeStep(service, apiKey, shipment, "cancel");
  await refused(as.setCourier({ shipment, ...ADA }), "given a courier because it is cancelled.");
});
