import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { book, BOOKED_SHIPMENT, BOOKING, COVERED_ROUTE, IMPOSSIBLE_REFERENCE } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const operator = await service.addOperator();

test.each(["json", "grpc"] as const)("success and errors are the same over %s", async (protocol) => {
  const caller = service.as(apiKey, protocol);
  const headers = { "idempotency-key": `by-${protocol}` };
  const booked = await caller.createShipment(BOOKING, headers);
  expect(booked).toMatchObject({ status: 201, body: { data: BOOKED_SHIPMENT } });
  const again = await caller.createShipment(BOOKING, headers);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.body).toEqual(booked.body);

  const { reference: shipment } = booked.body.data;
  expect(await data(caller.listShipmentEvents({ shipment }))).toHaveLength(1);
  const other = await book(service, apiKey);
  expect(await data(caller.listShipments({ page_size: 1 }))).toEqual([other]);
  const cancelled = await data(caller.cancelShipment({ shipment, reason: "other" }));
  expect(cancelled).toMatchObject({ reference: shipment, cancel_reason: "other" });

  await expectRefused(caller.cancelShipment({ shipment }), "SHIPMENT_STATE", {
    shipment: "The shipment cannot be cancelled because it is already cancelled.",
  });
  const { message } = IMPOSSIBLE_REFERENCE;
  await expectRefused(caller.getShipment({ shipment: "none" }), "SHIPMENT_NOT_FOUND", message);
  await expectRefused(caller.quoteShipment({ ...COVERED_ROUTE, weight_kg: 0, pickup_lat: 91 }), "FIELD_INVALID", {
    pickup_lat: "pickup_lat must be greater than or equal to -90 and less than or equal to 90.",
    weight_kg: "weight_kg must be greater than or equal to 0.01.",
  });
  expect((await service.as("shp_wrong", protocol).getWorkspace()).code).toBe("CREDENTIAL_REFUSED");
  const platform = service.as(operator.key, protocol);
  expect(await data(platform.getSelf())).toMatchObject({ id: operator.id });
});
