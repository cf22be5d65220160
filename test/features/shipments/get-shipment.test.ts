import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { book, BOOKED_SHIPMENT, IMPOSSIBLE_REFERENCE, NO_REFERENCE, NO_SHIPMENT } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

test("returns the whole shipment as booked", async () => {
  const booked = await book(service, apiKey);
  expect(booked).toEqual(BOOKED_SHIPMENT);
  expect(await data(service.as(apiKey).getShipment({ shipment: booked["reference"] }))).toEqual(booked);
});

test("a missing shipment is not found, in any letter case", async () => {
  for (const name of [NO_REFERENCE, NO_REFERENCE.toLowerCase()]) {
    const { status, body } = await service.request(`/v1/shipments/${name}`, { apiKey });
    expect({ status, body }).toEqual({ status: 404, body: NO_SHIPMENT });
  }
});

test.each(["SHP-1", "SHP-0000000000ZZZ", "SHP-0000000000ZI", "0", "%F0%9F%93%A6", "a".repeat(4_000), "..%2F..", "%"])(
  "an impossible reference is not found, and the message shows a valid example: %s",
  async (name) => {
    const { status, body } = await service.request(`/v1/shipments/${name}`, { apiKey });
    expect({ status, body }).toEqual({ status: 404, body: IMPOSSIBLE_REFERENCE });
  },
);

test.each(["json", "grpc"] as const)("rejects a blank reference as missing over %s", async (protocol) => {
  await expectRefused(service.as(apiKey, protocol).getShipment({ shipment: " " }), "FIELD_INVALID", {
    shipment: "shipment is required.",
  });
});
