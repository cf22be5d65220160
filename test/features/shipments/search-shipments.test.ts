import { expect, test } from "vitest";
import { invalidFields } from "../../support/answers.ts";
import { book, PAYMENT } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { sharedService } from "../../support/service.ts";
import { getShipment } from "../../support/stripe-service.ts";

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
let grace = await book(service, apiKey, {
  customer_name: "Grace Hopper",
  customer_email: "grace@navy.example",
  pickup_address: "Pier 90, New York",
  dropoff_address: "95 Prospect Park West, Brooklyn",
  recipient_name: "Katherine Johnson",
  recipient_phone: "+12125550199",
  recipient_email: "kj@nasa.example",
  pickup_contact_name: "Mary Jackson",
  pickup_contact_phone: "+13475550177",
  pickup_instructions: "Gate four",
  dropoff_instructions: "Ring twice.\nCode quartz",
  package_description: "Cardboard",
  items: [{ name: "Kettle", quantity: 1, external_id: "sku_l9" }],
  metadata: { "po number": "8812-B", hint: 'Says "hello"\nFragile' },
});
await service.as(apiKey).recordPayment({ shipment: grace["reference"], ...PAYMENT });
await service.as(apiKey).setCourier({
  shipment: grace["reference"],
  name: "Jean Bartik",
  phone: "+17185550042",
  external_id: "bike_i7",
});
grace = await getShipment(service, apiKey, grace["reference"]);
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
  ["a reference", ADA, [ADA], [], ["reference"]],
  ["the start of a reference, in any case", ADA.slice(0, 11).toLowerCase(), [ADA], [], ["reference"]],
  ["an external reference with an incomplete last word", "order 47", [ADA], [], ["external_reference"]],
  ["any word of a dropoff address, newest first", "PROSPECT", [GRACE, ADA], [], ["dropoff_address"]],
  ["words of two addresses, in any order", "pier brook", [GRACE], [], ["dropoff_address", "pickup_address"]],
  ["no text within a word", "rospect", [], [], []],
  ["no incomplete words before the last", "pros park", [], [], []],
  ["the recipient's name", "johns", [GRACE], [], ["recipient_name"]],
  ["the recipient's phone", "+1212555", [GRACE], [], ["recipient_phone"]],
  ["the recipient's phone, formatted", "+1 (212) 555-0199", [GRACE], [], ["recipient_phone"]],
  ["the recipient's phone without the country", "212 555 0199", [GRACE], [], ["recipient_phone"]],
  ["the last seven digits of a phone", "555-0199", [GRACE], [], ["recipient_phone"]],
  ["the last four digits of a phone", "0199", [GRACE], [], ["recipient_phone"]],
  ["no digits within a phone", "1255501", [], [], []],
  ["the recipient's email", "kj@nasa.ex", [GRACE], [], ["customer.email", "recipient_email"]],
  ["metadata", "8812", [GRACE], [], ['metadata["po number"]']],
  ["a second line of metadata", "fragile", [GRACE], [], ['metadata["hint"]']],
  ["the pickup contact's name", "mary jack", [GRACE], [], ["pickup_contact_name"]],
  ["the pickup contact's phone", "347 555 0177", [GRACE], [], ["pickup_contact_phone"]],
  ["pickup instructions", "gate four", [GRACE], [], ["pickup_instructions"]],
  ["a second line of dropoff instructions", "quartz", [GRACE], [], ["dropoff_instructions"]],
  ["the description of the packages", "cardb", [GRACE], [], ["package_description"]],
  ["an item's name", "kettle", [GRACE], [], ["items[0].name"]],
  ["an item's id", "sku_l9", [GRACE], [], ["items[0].external_id"]],
  ["the courier's name", "jean bar", [GRACE], [], ["courier.name"]],
  ["the courier's phone", "718 555 0042", [GRACE], [], ["courier.phone"]],
  ["the courier's id", "bike_i7", [GRACE], [], ["courier.external_id"]],
  ["a customer and a street", "hopper prospect", [GRACE], [], ["customer.name", "dropoff_address"]],
  ["a street and a customer", "brooklyn ada l", [ADA], [], ["customer.name", "dropoff_address"]],
  ["a first name", "gra", [GRACE], ["Grace Hopper"], ["customer.email", "customer.name"]],
  ["a last name", "lovel", [ADA], ["Ada Lovelace"], ["customer.name"]],
  ["both names in any order", "hopper gra", [GRACE], ["Grace Hopper"], ["customer.email", "customer.name"]],
  ["an email", "COUNTESS@exam", [ADA], ["Ada Lovelace"], ["customer.email"]],
  ["a part of a phone", "7946 095", [ADA], ["Ada Lovelace"], ["customer.phone"]],
  ["the digits of a phone", "+442079", [ADA], ["Ada Lovelace"], ["customer.phone"]],
  ["a national phone number", "020 79460958", [ADA], ["Ada Lovelace"], ["customer.phone"]],
  ["notes", "porter", [], ["Ada Lovelace"], []],
  ["no punctuation alone", "%", [], [], []],
  ["query operators as plain text", "prospect & !west | 'x':* \\", [], [], []],
])("finds by %s", async (_, text, shipments, customers, fields) => {
  const found = await search(text);
  expect(found.shipments.map(({ reference }: typeof ada) => reference)).toEqual(shipments);
  expect(found.customers.map(({ name }: typeof ada) => name)).toEqual(customers);
  const matches = found.matches.filter(({ shipment }: typeof ada) => shipment === shipments[0]);
  expect(matches.map(({ field }: typeof ada) => field).sort()).toEqual(fields);
});

test.each(["s", "Sh", "SHP", "shp-"])(
  "%s is the start of every reference: other matches come first, then the newest shipments",
  async (text) => {
    const { apiKey: own } = await service.addWorkspace();
    const addresses = ["SHP-Street 1", "Pier 90", "95 Prospect"];
    const booked = [];
    for (const pickup_address of addresses) booked.push(await book(service, own, { pickup_address }));
    const [named, second, newest] = booked;
    const { shipments } = await search(text, 2, own);
    expect(shipments).toEqual([named, newest]);
    expect((await search(text, undefined, own)).shipments).toEqual([named, newest, second]);
  },
);

test("a search returns whole shipments and customers, and the matching fields", async () => {
  const dropoff = { customer: null, field: "dropoff_address", value: ada["dropoff_address"] };
  // References contain neither I nor O, so no random one starts with these prefixes.
  expect(await search("park pro")).toEqual({
    shipments: [grace, ada],
    customers: [],
    matches: [
      { shipment: GRACE, ...dropoff },
      { shipment: ADA, ...dropoff },
    ],
  });
  expect((await search("brooklyn pie")).matches).toEqual([
    { shipment: GRACE, ...dropoff },
    { shipment: GRACE, ...dropoff, field: "pickup_address", value: "Pier 90, New York" },
  ]);
  expect(await search("navy")).toEqual({
    shipments: [grace],
    customers: [grace["customer"]],
    matches: [
      {
        shipment: GRACE,
        customer: null,
        field: "customer.email",
        value: "grace@navy.example",
      },
      {
        shipment: null,
        customer: grace["customer"].id,
        field: "email",
        value: "grace@navy.example",
      },
    ],
  });
});

test("shipments older than the newest 1,000 are found by a rare word", async () => {
  const { apiKey: own, id: workspace } = await service.addWorkspace();
  const old = await book(service, own, { pickup_address: "Cranberry Street 4" });
  const sql = await connectTo(service.databaseUrl);
  const customer = String(await insertCustomers(sql, workspace, 1));
  await insertShipments(sql, { workspace, count: 1_000, customer, salt: String(workspace) });
  expect((await search("cranb", undefined, own)).shipments).toEqual([old]);
  expect((await search("from", undefined, own)).shipments).toHaveLength(8);
});

test("older shipments are found by customer and street, and some of them by frequent words", async () => {
  const { apiKey: own, id: workspace } = await service.addWorkspace();
  const old = await book(service, own, {
    customer_name: "Hedy Lamarr",
    customer_email: "hedy@example.org",
    dropoff_address: "Cranberry Street 4",
    recipient_phone: "+12125559876",
  });
  const sql = await connectTo(service.databaseUrl);
  const customer = String(await insertCustomers(sql, workspace, 1));
  const bulk = { workspace, customer, createdAt: "now() - interval '1 hour'" };
  await insertShipments(sql, {
    ...bulk,
    count: 3_000,
    dropoffAddress: "'Cranberry Lane ' || i",
    salt: "old",
  });
  await insertShipments(sql, { ...bulk, count: 1_000, createdAt: "now()", salt: "new" });
  for (const text of ["lamarr cran", "cranberry hedy", "hedy", "5559876"]) {
    expect((await search(text, undefined, own)).shipments, text).toEqual([old]);
  }
  expect((await search("cranberry lane", undefined, own)).shipments).toHaveLength(8);
});

test("finds shipments of any age, newest first", async () => {
  const { apiKey: own, id: workspace } = await service.addWorkspace();
  const sql = await connectTo(service.databaseUrl);
  const bulk = { workspace, customer: String(await insertCustomers(sql, workspace, 1)), createdAt: "now()" };
  await insertShipments(sql, {
    ...bulk,
    count: 3,
    dropoffAddress: "'Cranberry Street ' || i",
    createdAt: "now() - i * interval '20 days'",
    salt: `weeks ${workspace}`,
  });
  await insertShipments(sql, { ...bulk, count: 500, dropoffAddress: "'Lane ' || i", salt: `lanes ${workspace}` });
  for (const text of ["cranb", "street cranb"]) {
    const addresses = (await search(text, undefined, own)).shipments.map((it: typeof ada) => it["dropoff_address"]);
    expect(addresses, text).toEqual([1, 2, 3].map((i) => `Cranberry Street ${i}`));
  }
  expect((await search("cranberry lane", undefined, own)).shipments).toEqual([]);
});

test("a search accepts up to 60 characters and returns up to 20 shipments and 20 customers", async () => {
  for (const [fields, field] of [
    [{}, "text"],
    [{ text: " " }, "text"],
    [{ text: "x".repeat(61) }, "text"],
    [{ text: "x", limit: 0 }, "limit"],
    [{ text: "x", limit: 21 }, "limit"],
  ] as const) {
    expect(await invalidFields(service.as(apiKey).searchShipments(fields))).toEqual([field]);
  }
  expect((await search("prospect", 20)).shipments.length).toBe(2);
});
