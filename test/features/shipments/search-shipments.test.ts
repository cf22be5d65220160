import { expect, test } from "vitest";
import { invalidFields } from "../../support/answers.ts";
import { book } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

const ada = await book(service, apiKey, {
  customer_email: "Countess@example.org",
  external_reference: "Order 4711",
  dropoff_address: "95 Prospect Park West, Brooklyn",
});
await service.as(apiKey).updateCustomer({
  customer: ada["customer"].id,
  phone: "+44 20 7946 0958",
  notes: "Rings twice. Leave it with the porter's office_2.",
});
const grace = await book(service, apiKey, {
  customer_name: "Grace Hopper",
  customer_email: "grace@navy.example",
  pickup_address: "Pier 90, New York",
  dropoff_address: "95 Prospect Park West, Brooklyn",
  recipient_name: "Katherine Johnson",
  recipient_phone: "+12125550199",
  recipient_email: "kj@nasa.example",
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
  ["an external reference, its last word begun", "order 4", [ADA], []],
  ["any word of a dropoff address, the newest first", "PROSPECT", [GRACE, ADA], []],
  ["words of two addresses, in any order", "pier brook", [GRACE], []],
  ["no part within a word", "rospect", [], []],
  ["words that are whole but for the last", "pros park", [], []],
  ["the recipient's name", "johns", [GRACE], []],
  ["the recipient's phone", "+1212555", [GRACE], []],
  ["the recipient's email", "kj@nasa.ex", [GRACE], []],
  ["a first name", "gra", [], ["Grace Hopper"]],
  ["a last name", "lovel", [], ["Ada Lovelace"]],
  ["both in any order", "hopper gr", [], ["Grace Hopper"]],
  ["an email", "COUNTESS@exam", [], ["Ada Lovelace"]],
  ["a part of a phone", "7946 09", [], ["Ada Lovelace"]],
  ["the digits of a phone", "+442079", [], ["Ada Lovelace"]],
  ["notes", "porter", [], ["Ada Lovelace"]],
  ["signs alone nothing", "%", [], []],
  ["operators of queries as signs", "prospect & !west | 'x':* \\", [], []],
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

test("a search gives whole shipments and customers, and the fields that matched", async () => {
  const dropoff = { customer: null, field: "dropoff_address", value: ada["dropoff_address"] };
  expect(await search("95 p")).toEqual({
    shipments: [grace, ada],
    customers: [],
    matches: [
      { shipment: GRACE, ...dropoff },
      { shipment: GRACE, ...dropoff, field: "pickup_address", value: "Pier 90, New York" },
      { shipment: ADA, ...dropoff },
    ],
  });
  expect(await search("navy")).toEqual({
    shipments: [],
    customers: [grace["customer"]],
    matches: [
      {
        shipment: null,
        customer: grace["customer"].id,
        field: "email",
        value: "grace@navy.example",
      },
    ],
  });
});

test("what is older than the newest 1,000 is found by a word of its own", async () => {
  const { apiKey: own, id: workspace } = await service.addWorkspace();
  const old = await book(service, own, { pickup_address: "Cranberry Street 4" });
  const sql = await connectTo(service.databaseUrl);
  const customer = String(await insertCustomers(sql, workspace, 1));
  await insertShipments(sql, { workspace, count: 1_000, customer, salt: String(workspace) });
  expect((await search("cranb", undefined, own)).shipments).toEqual([old]);
  expect((await search("from", undefined, own)).shipments).toHaveLength(8);
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
