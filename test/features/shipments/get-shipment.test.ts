import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { book, BOOKED_SHIPMENT, NO_REFERENCE, NO_SHIPMENT } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

test("a shipment that is read is the whole shipment as booked", async () => {
  const booked = await book(service, apiKey);
  expect(booked).toEqual(BOOKED_SHIPMENT);
  expect(await data(service.as(apiKey).getShipment({ shipment: booked["reference"] }))).toEqual(
    booked,
  );
});

test.each([NO_REFERENCE, "SHP-1", "0", "%F0%9F%93%A6", "a".repeat(4_000), "..%2F..", "%"])(
  "a missing shipment is 404, whatever the reference looks like: %s",
  async (name) => {
    const { status, body } = await service.request(`/v1/shipments/${name}`, { apiKey });
    expect({ status, body }).toEqual({ status: 404, body: NO_SHIPMENT });
  },
);

test.each(["json", "grpc"] as const)(
  "a blank reference is refused as missing, by %s",
  async (door) => {
    await expectRefused(service.as(apiKey, door).getShipment({ shipment: " " }), "FIELD_INVALID", {
      shipment: "shipment is required.",
    });
  },
);
