import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { book, bookAnd, BOOKED_SHIPMENT, BOOKING } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const caller = service.as(apiKey);

const find = (external_reference: string) => data(caller.listShipments({ external_reference }));

test("finds a shipment by its trimmed external reference", async () => {
  const booked = await book(service, apiKey, { external_reference: "  Order №1/🙂 " });
  expect(booked).toEqual({ ...BOOKED_SHIPMENT, external_reference: "Order №1/🙂" });
  expect(await find("Order №1/🙂")).toEqual([booked]);
  expect(await find("order №1/🙂")).toEqual([]);
});

test.each(["json", "grpc"] as const)(
  "rejects a booking over %s with the external reference of an existing shipment, even a cancelled one, except in another workspace",
  async (protocol) => {
    const external_reference = `once by ${protocol}`;
    const again = () => service.as(apiKey, protocol).createShipment({ ...BOOKING, external_reference });
    const { reference } = await bookAnd(service, apiKey, ["cancel"], { external_reference });
    const text = `external_reference already belongs to the shipment ${reference}.`;
    await expectRefused(again(), "EXTERNAL_REFERENCE_TAKEN", { external_reference: text }, { shipment: reference });
    const other = await service.addWorkspace();
    const elsewhere = await book(service, other.apiKey, { external_reference });
    expect(elsewhere).toMatchObject({ external_reference });
  },
);
