import { describe, expect, test } from "vitest";
import { SAMPLE_PICTURES } from "../../../src/features/test-mode/sample-pictures.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME, book, bookAnd, BOOKED_SHIPMENT, BOOKING } from "../../support/bookings.ts";
import type { ApiProtocol } from "../../support/client.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const as = service.as(apiKey);

const item = (n: number) => ({ name: `Item ${n}`, quantity: n, external_id: null });
const items = (count: number) => Array.from({ length: count }, (_, i) => item(i + 1));

/** Longest and largest values, and values for an update. */
const DETAILS = { package_count: 100, items: items(50), if_undeliverable: "dispose" };
const OTHERS = {
  package_count: 2,
  items: [{ name: "Tea", quantity: 1_000, external_id: "x".repeat(64) }],
  if_undeliverable: "return",
};

describe.each<ApiProtocol>(["json", "grpc"])("over %s, counts, lists and choices", (protocol) => {
  const client = service.as(apiKey, protocol);

  test("are stored as booked, can be changed, and appear in the events", async () => {
    const booked = await data(client.createShipment({ ...BOOKING, ...DETAILS }));
    expect(booked).toEqual({ ...BOOKED_SHIPMENT, ...DETAILS });
    const { reference: shipment } = booked;
    expect(await data(client.updateShipment({ shipment, ...DETAILS }))).toEqual(booked);
    const address = { dropoff_address: "1 Main Street" };
    const moved = { ...booked, ...address, updated_at: ANY_TIME, etag: "2" };
    expect(await data(client.updateShipment({ shipment, ...address }))).toEqual(moved);
    const changed = { ...moved, ...OTHERS, etag: "3" };
    expect(await data(client.updateShipment({ shipment, ...OTHERS }))).toEqual(changed);
    const cleared = { ...changed, items: [], etag: "4" };
    expect(await data(client.updateShipment({ shipment, clear: ["items"] }))).toEqual(cleared);
    expect((await data(as.listShipmentEvents({ shipment }))).map((event: any) => event.data)).toEqual([
      booked,
      moved,
      changed,
      cleared,
    ]);
  });

  const RANGE = (most: number) => `must be greater than or equal to 1 and less than or equal to ${most}.`;

  test.each([
    ["no packages", { package_count: 0 }, "package_count", RANGE(100)],
    ["too many packages", { package_count: 101 }, "package_count", RANGE(100)],
    ["too many items", { items: items(51) }, "items", "must have at most 50 items."],
    ["an item without a name", { items: [{ quantity: 1 }] }, "items[0].name", "is required."],
    ["an item without a quantity", { items: [{ name: "Tea" }] }, "items[0].quantity", "is required."],
    ["too large a quantity", { items: [item(1_001)] }, "items[0].quantity", RANGE(1_000)],
    [
      "too long an item id",
      { items: [{ ...item(1), external_id: "x".repeat(65) }] },
      "items[0].external_id",
      "must be at most 64 characters.",
    ],
  ])("with %s are rejected", async (_, fields, subject, text) => {
    const errors = { [subject]: `${subject} ${text}` };
    await expectRefused(client.createShipment({ ...BOOKING, ...fields }), "FIELD_INVALID", errors);
  });
});

test("an empty list in JSON removes the items", async () => {
  const { reference: shipment } = await book(service, apiKey, DETAILS);
  expect((await data(as.updateShipment({ shipment, items: [] }))).items).toEqual([]);
});

describe("a shipment to leave at the door", () => {
  const left = { dropoff_handover: "leave_at_door", dropoff_verification: "photo" };

  test.each([[undefined], ["none"], ["photo"]])(
    "and booked with verification %s requires a photo",
    async (verification) => {
      const fields = { dropoff_handover: "leave_at_door", dropoff_verification: verification };
      const moving = await bookAnd(service, apiKey, ["pay", "advance"], fields);
      const { reference: shipment } = moving;
      expect(moving).toMatchObject(left);
      const missing =
        "The shipment cannot be delivered because its photo was not recorded. Record it, or waive the verification.";
      await expectRefused(as.advanceShipment({ shipment }), "NOT_VERIFIED", { dropoff_verification: missing });
      await data(as.recordProof({ shipment, photo: SAMPLE_PICTURES.photo.toString("base64") }));
      expect(await data(as.advanceShipment({ shipment }))).toMatchObject({ ...left, status: "delivered" });
    },
  );

  test.each(["pin", "signature"])("cannot require a %s", async (dropoff_verification) => {
    const text = `dropoff_handover must be meet if dropoff_verification is ${dropoff_verification}. Otherwise no one is at the door.`;
    const refusal = ["FIELD_INVALID", { dropoff_handover: text }] as const;
    const { dropoff_handover } = left;
    await expectRefused(as.createShipment({ ...BOOKING, dropoff_handover, dropoff_verification }), ...refusal);
    const { reference: atDoor } = await book(service, apiKey, { dropoff_handover });
    await expectRefused(as.updateShipment({ shipment: atDoor, dropoff_verification }), ...refusal);
    const { reference: met } = await book(service, apiKey, { dropoff_verification });
    await expectRefused(as.updateShipment({ shipment: met, dropoff_handover }), ...refusal);
    const shipment = await data(as.updateShipment({ shipment: met, ...left }));
    expect(shipment).toMatchObject({ ...left, dropoff_pin: null });
  });

  test("keeps the photo verification when its handover changes to meeting a person", async () => {
    const { reference: shipment } = await book(service, apiKey);
    expect(await data(as.updateShipment({ shipment, dropoff_handover: "leave_at_door" }))).toMatchObject(left);
    expect(await data(as.updateShipment({ shipment, dropoff_verification: "none" }))).toMatchObject(left);
    const met = { ...left, dropoff_handover: "meet" };
    expect(await data(as.updateShipment({ shipment, dropoff_handover: "meet" }))).toMatchObject(met);
    const free = { ...met, dropoff_verification: "none" };
    expect(await data(as.updateShipment({ shipment, dropoff_verification: "none" }))).toMatchObject(free);
  });
});
