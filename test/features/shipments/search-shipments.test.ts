import { expect, test } from "vitest";
import { invalidFields } from "../../support/answers.ts";
import { book } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

const ada = await book(service, apiKey, {
  customer_email: "Countess@example.org",
  external_reference: "Order 4711",
  dropoff_address: "95 Prospect Park West, Brooklyn",
});
const grace = await book(service, apiKey, {
  customer_name: "Grace Hopper",
  customer_email: "grace@navy.example",
  pickup_address: "Pier 90, New York",
  dropoff_address: "95 Prospect Park West, Brooklyn",
});
const other = await service.addWorkspace();
await book(service, other.apiKey, { external_reference: "Order 4711" });

async function search(text: string, limit?: number, key = apiKey) {
  const { status, text: answer, body } = await service.as(key).searchShipments({ text, limit });
  expect(status, answer).toBe(200);
  return body;
}

const ADA = ada["reference"] as string;
const GRACE = grace["reference"] as string;

test.each([
  ["a reference", ADA, [ADA], []],
  ["the beginning of a reference, in any case", ADA.slice(0, 11).toLowerCase(), [ADA], []],
  ["the beginning of an external reference", "order 4", [ADA], []],
  ["the beginning of a dropoff address, the newest first", "95 PROSPECT", [GRACE, ADA], []],
  ["the beginning of a pickup address", "pier", [GRACE], []],
  ["the beginning of a first name", "gra", [], ["Grace Hopper"]],
  ["the beginning of a last name", "lovel", [], ["Ada Lovelace"]],
  ["the beginning of an email", "COUNTESS@", [], ["Ada Lovelace"]],
  ["a sign that patterns would take for any", "%", [], []],
  ["what is in the middle", "Prospect", [], []],
])("finds by %s", async (_, text, shipments, customers) => {
  const found = await search(text);
  expect(found.shipments.map(({ reference }: typeof ada) => reference)).toEqual(shipments);
  expect(found.customers.map(({ name }: typeof ada) => name)).toEqual(customers);
});

test.each(["s", "Sh", "SHP", "shp-"])(
  "%s begins every reference: what else begins with it comes first, then the newest",
  async (text) => {
    const { apiKey: own } = await service.addWorkspace();
    const addresses = ["SHP-Street 1", "Pier 90", "95 Prospect"];
    const booked = [];
    for (const pickup_address of addresses)
      booked.push(await book(service, own, { pickup_address }));
    const [named, second, newest] = booked;
    const { shipments } = await search(text, 2, own);
    expect(shipments).toEqual([named, newest]);
    expect((await search(text, undefined, own)).shipments).toEqual([named, newest, second]);
  },
);

test("a search gives whole shipments and customers", async () => {
  expect(await search("95 p")).toEqual({ shipments: [grace, ada], customers: [] });
  expect(await search("g")).toEqual({ shipments: [], customers: [grace["customer"]] });
});

test("a search takes up to 60 characters and gives up to 20 of each", async () => {
  for (const [fields, field] of [
    [{}, "text"],
    [{ text: " " }, "text"],
    [{ text: "x".repeat(61) }, "text"],
    [{ text: "x", limit: 0 }, "limit"],
    [{ text: "x", limit: 21 }, "limit"],
  ] as const) {
    expect(await invalidFields(service.as(apiKey).searchShipments(fields))).toEqual([field]);
  }
  expect((await search("95", 20)).shipments.length).toBe(2);
});
