import { expect, test } from "vitest";
import { expectRefused, invalidFields } from "../../support/answers.ts";
import { BOOKED_SHIPMENT, BOOKING, PRICE_FACTS } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);
const { id, apiKey } = await service.addWorkspace();

const book = (fields: object) => service.as(apiKey).createShipment({ ...BOOKING, ...fields });

test.each([
  { expected_total: 12.69 },
  { expected_total: 12.69, expected_currency: "USD" },
  { expected_currency: "USD" },
  { expected_total: null, expected_currency: " " },
])("books a shipment if the expected price is correct: %o", async (expectation) => {
  const { status, body } = await book(expectation);
  expect({ status, body }).toEqual({ status: 201, body: { data: BOOKED_SHIPMENT } });
});

test.each<[expectation: object, said: string, field?: string]>([
  [{ expected_total: 12.68 }, "12.68 USD"],
  [{ expected_total: 12.690000001, expected_currency: "USD" }, "12.690000001 USD"],
  [{ expected_total: 0 }, "0 USD"],
  [{ expected_total: 12.69, expected_currency: "EUR" }, "12.69 EUR"],
  [{ expected_currency: "JPY" }, "JPY", "expected_currency"],
])("rejects a booking if the expected price is wrong: %o", async (expectation, said, field = "expected_total") => {
  const count = async () =>
    (await sql.query("select count(*) from shipment join customer using (workspace_id) where workspace_id = $1", [id]))
      .rows;
  const before = await count();
  const text = `${field} is ${said}, but the booking would cost 12.69 USD.`;
  const booking = book({ ...expectation, customer_email: "new@example.org" });
  await expectRefused(booking, "PRICE_CHANGED", { [field]: text }, PRICE_FACTS);
  expect(await count()).toEqual(before);
});

test("rejects an invalid expected price as an error of that field", async () => {
  for (const [fields, field] of [
    [{ expected_total: -1 }, "expected_total"],
    [{ expected_total: "12.69" }, "expected_total"],
    [{ expected_currency: "usd" }, "expected_currency"],
    [{ expected_currency: 840 }, "expected_currency"],
  ] as const) {
    expect(await invalidFields(book(fields))).toEqual([field]);
  }
});

test("rejects an uncovered route as such, regardless of the expected price", async () => {
  const booking = book({ expected_total: 1, dropoff_lat: 0, dropoff_lng: 0 });
  expect((await booking).code).toBe("ROUTE_NOT_COVERED");
});
