import { expect, test } from "vitest";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import { book, bookAnd, takeStep, type ShipmentJson } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const caller = service.as(apiKey);

/** Customers, newest first, with their shipments, newest first. */
const customers: { customer: Record<string, any>; shipments: ShipmentJson[] }[] = [];
for (let i = 0; i < 5; i++) {
  const fields = {
    customer_name: `Customer ${i}`,
    customer_email: i < 2 ? "Shared@Example.org" : `c${i}@example.org`,
    ...(i === 0 ? { customer_id_number: "ID 0" } : {}),
  };
  const first = await book(service, apiKey, fields);
  const second = await book(service, apiKey, fields);
  customers.unshift({ customer: first["customer"], shipments: newestFirst([first, second]) });
}

function newestFirst(shipments: ShipmentJson[]): ShipmentJson[] {
  const key = (it: ShipmentJson) => `${it["created_at"]} ${it["reference"]}`;
  return shipments.toSorted((a, b) => (key(a) < key(b) ? 1 : -1));
}

/** Returns a customer as lists show it. Shipments contain only a part of it. */
function listed(customer: Record<string, any>, etag = "1") {
  return { ...customer, etag };
}

/** Returns a customer as read. Its shipments cost 12.69 USD each and await payment. */
function read(customer: Record<string, any>, shipments: readonly ShipmentJson[], etag = "1") {
  const awaiting_payment = Math.round(1_269 * shipments.length) / 100;
  const figures = {
    shipments: shipments.length,
    last_booked_at: newestFirst([...shipments])[0]!["created_at"],
    revenue: [{ currency: "USD", paid: 0, awaiting_payment }],
  };
  return { ...listed(customer, etag), figures };
}

/** Creates a workspace with one customer, who has a shipment. */
async function addCustomer() {
  const { apiKey: own } = await service.addWorkspace();
  const shipment = await book(service, own);
  const { customer } = shipment as Record<string, any>;
  const their = service.as(own);
  const update = (fields: object, headers = {}) => their.updateCustomer({ customer: customer.id, ...fields }, headers);
  const get = () => data(their.getCustomer({ customer: customer.id }));
  return { own, their, shipment, customer, update, get };
}

test("returns a customer with the same fields as in its shipments, and with its figures", async () => {
  for (const { customer, shipments } of customers) {
    expect(await data(caller.getCustomer({ customer: customer["id"] }))).toEqual(read(customer, shipments));
  }
  expect(customers.at(-1)!.customer).toEqual({
    id: expect.any(Number),
    name: "Customer 0",
    email: "Shared@Example.org",
    id_number: "ID 0",
    // Shipments omit these fields.
    phone: null,
    notes: null,
    default_pickup: null,
    default_dropoff: null,
    figures: null,
    etag: null,
  });
});

test("a missing customer is rejected as not found, and a non-numeric id as a field error", async () => {
  for (const customer of [999_999, 0, -1, Number.MAX_SAFE_INTEGER]) {
    await expectRefused(caller.getCustomer({ customer }), "CUSTOMER_NOT_FOUND");
  }
  for (const customer of ["ada", "1.5", "1e400"]) {
    expect(await invalidFields(caller.getCustomer({ customer }))).toEqual(["customer"]);
  }
});

test("lists customers newest first, page by page", async () => {
  const all = customers.map(({ customer }) => listed(customer));
  expect((await caller.listCustomers()).body).toEqual({ data: all, next_page_token: "" });
  const first = await caller.listCustomers({ page_size: 3 });
  expect(first.body.data).toEqual(all.slice(0, 3));
  const { next_page_token: page_token } = first.body;
  const rest = await caller.listCustomers({ page_size: 2, page_token });
  expect(rest.body).toEqual({ data: all.slice(3), next_page_token: "" });
});

test("filters customers by email, ignoring case", async () => {
  const shared = customers.slice(3).map(({ customer }) => listed(customer));
  expect(await data(caller.listCustomers({ email: " sHARED@example.ORG" }))).toEqual(shared);
  expect(await data(caller.listCustomers({ email: "shared" }))).toEqual([]);
  const one = await caller.listCustomers({ email: "shared@example.org", page_size: 1 });
  const { next_page_token: page_token } = one.body;
  const two = await data(caller.listCustomers({ email: "SHARED@example.org", page_token }));
  expect([...one.body.data, ...two]).toEqual(shared);
});

test("both forms of an internationalized domain identify one customer's email", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const emails = ["Ada@b\u00fccher.example", "ada@xn--bcher-kva.example"];
  const booked: ShipmentJson[] = [];
  for (const email of emails) {
    const fields = { customer_email: email, recipient_email: email };
    booked.push(await book(service, own, fields));
  }
  const [first, second] = booked as Record<string, any>[];
  expect(first!["customer"].email).toBe("Ada@xn--bcher-kva.example");
  expect(first!["recipient_email"]).toBe("Ada@xn--bcher-kva.example");
  expect(second!["customer"]).toEqual(first!["customer"]);
  for (const email of emails) {
    const found = await data(service.as(own).listCustomers({ email }));
    expect(found).toEqual([listed(first!["customer"])]);
  }
});

test("finds customers by a prefix of their name or of its last word, ignoring case", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const other = await service.addWorkspace();
  const names = ["Radia Perlman", "radia smith", "Per Radiasson", "Ann Radia Lee", "Radia", "100% _", "Radia Radia"];
  for (const name of names) {
    await book(service, own, { customer_name: name, customer_email: "r@example.org" });
  }
  await book(service, own, { customer_name: "Radia", customer_email: "other@example.org" });
  await book(service, other.apiKey, { customer_name: "Radia" });
  const find = async (name: string, more = {}) => (await service.as(own).listCustomers({ name, ...more })).body;
  const namesOf = (page: { data: { name: string }[] }) => page.data.map(({ name }) => name);
  const found = async (name: string, more = {}) => namesOf(await find(name, more));
  const radias = ["Radia", "Radia", "Radia Perlman", "Radia Radia", "radia smith", "Per Radiasson"];
  expect(await found("RADIA")).toEqual(radias);
  expect(await found("radia p")).toEqual(["Radia Perlman"]);
  expect(await found("per")).toEqual(["Per Radiasson", "Radia Perlman"]);
  expect(await found("lee")).toEqual(["Ann Radia Lee"]);
  expect(await found("%")).toEqual([]);
  expect(await found("_")).toEqual(["100% _"]);
  expect(await found("radia", { email: "OTHER@example.org" })).toEqual(["Radia"]);

  const paged: string[] = [];
  let page_token = "";
  do {
    const page = await find("radia", { page_size: 2, page_token });
    paged.push(...namesOf(page));
    page_token = page.next_page_token;
  } while (page_token !== "");
  expect(paged).toEqual(radias);
});

test("lists customers by name in both directions, and by words of any field", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const as = service.as(own);
  for (const name of ["Grace Hopper", "ada lovelace", "Barbara Liskov"]) {
    await book(service, own, { customer_name: name, customer_email: `${name[0]}@example.org` });
  }
  const named = async (fields: object) => {
    const { data: found, next_page_token } = (await as.listCustomers(fields)).body;
    return [found.map(({ name }: any) => name), next_page_token] as const;
  };
  const byName = ["ada lovelace", "Barbara Liskov", "Grace Hopper"];
  expect(await named({ order_by: "name" })).toEqual([byName, ""]);
  expect(await named({ order_by: "name desc" })).toEqual([byName.toReversed(), ""]);
  const [first, page_token] = await named({ order_by: "name desc", page_size: 1 });
  expect(first).toEqual(["Grace Hopper"]);
  expect(await named({ order_by: "name desc", page_token })).toEqual([["Barbara Liskov", "ada lovelace"], ""]);
  const [{ id: customer }] = await data(as.listCustomers({ name: "grace" }));
  await as.updateCustomer({ customer, phone: "(212) 555-0123", notes: "Rings twice" });
  for (const text of ["hopper", "g@example.org", "0123", "twice rings"]) {
    expect(await named({ text })).toEqual([["Grace Hopper"], ""]);
  }
  expect(await named({ text: "nobody" })).toEqual([[], ""]);
  expect(await invalidFields(as.listCustomers({ text: "g", name: "g" }))).toEqual(["text"]);
});

test("rejects a page token of other filters, and a page size out of range", async () => {
  const { next_page_token: page_token } = (await caller.listCustomers({ page_size: 1 })).body;
  for (const fields of [{ email: "a@b.c", page_token }, { page_token: "x" }]) {
    await expectRefused(caller.listCustomers(fields), "FIELD_INVALID", {
      page_token: "page_token is not the next_page_token of a page with these filters.",
    });
  }
  for (const page_size of [0, 101, "x"]) {
    expect(await invalidFields(caller.listCustomers({ page_size }))).toEqual(["page_size"]);
  }
});

test("lists a customer's shipments with all filters, page by page", async () => {
  for (const { customer, shipments } of customers) {
    const list = async (query: string) => {
      const path = `/v1/customers/${customer["id"]}/shipments?${query}`;
      return (await service.request(path, { apiKey })).body;
    };
    const whole = { data: shipments, next_page_token: "" };
    expect(await list("")).toEqual(whole);
    const first = await list("page_size=1&status=pending");
    const second = await list(`status=pending&page_token=${first.next_page_token}`);
    expect([...first.data, ...second.data]).toEqual(shipments);
    expect(await list("status=delivered")).toEqual({ data: [], next_page_token: "" });
    // The customer in the path takes precedence over one in the query.
    expect(await list("customer_id=x")).toEqual(whole);
  }
});

test("a customer's new name and email appear in its shipments and match later bookings", async () => {
  const { own, their, shipment, update } = await addCustomer();
  const change = { name: "Ada King", email: "King@Example.org" };
  const customer = { ...shipment["customer"], ...change };
  expect(await data(update(change))).toEqual(read(customer, [shipment], "2"));
  const shown = await data(their.getShipment({ shipment: shipment["reference"] }));
  expect(shown).toEqual({ ...shipment, customer });
  const fields = { customer_name: "Ada King", customer_email: "king@example.org" };
  expect((await book(service, own, fields))["customer"]).toEqual(customer);
  expect((await book(service, own))["customer"].id).not.toBe(customer.id);
});

test("a customer cannot get the name and email of another customer of the workspace", async () => {
  const { own, their, customer } = await addCustomer();
  const booked = await book(service, own, { customer_name: "Grace" });
  const { id } = booked["customer"];
  const change = { customer: id, name: customer.name, email: customer.email.toUpperCase() };
  await expectRefused(their.updateCustomer(change), "CUSTOMER_TAKEN", {
    customer: "Another customer of the workspace has this name and email.",
  });
  expect(await data(their.getCustomer({ customer: id }))).toEqual(read(booked["customer"], [booked]));
});

test("a list includes each customer's figures on request", async () => {
  const all = customers.map(({ customer, shipments }) => read(customer, shipments));
  expect(await data(caller.listCustomers({ figures: true }))).toEqual(all);
  const byName = { name: "customer 3", figures: true };
  expect(await data(caller.listCustomers(byName))).toEqual([all.find(({ name }: any) => name === "Customer 3")]);
});

test("figures count all shipments, including cancelled ones, and define revenue as reports do", async () => {
  const { own, their, shipment, get } = await addCustomer();
  const paid = await bookAnd(service, own, ["pay"]);
  const booked = [
    shipment,
    paid,
    await bookAnd(service, own, ["pay", "cancel"]),
    await bookAnd(service, own, ["cancel"]),
  ];
  await book(service, own, { customer_name: "Somebody else" });
  const last_booked_at = newestFirst(booked)[0]!["created_at"];
  expect((await get()).figures).toEqual({
    shipments: 4,
    last_booked_at,
    revenue: [{ currency: "USD", paid: 12.69, awaiting_payment: 12.69 }],
  });
  expect((await data(their.getOverview())).totals.revenue).toEqual([
    { currency: "USD", paid: 12.69, awaiting_payment: 25.38 },
  ]);
  for (const { reference } of [shipment, paid]) {
    await data(takeStep(service, own, reference, "cancel"));
  }
  expect((await get()).figures).toEqual({ shipments: 4, last_booked_at, revenue: [] });
});

test("a customer without shipments has zero figures", async () => {
  const { own, their, shipment, get } = await addCustomer();
  const other = await book(service, own, { customer_name: "Grace" });
  const change = { shipment: shipment["reference"], customer_id: other["customer"].id };
  await data(their.updateShipment(change));
  expect((await get()).figures).toEqual({ shipments: 0, last_booked_at: null, revenue: [] });
});

test("phone, notes and default addresses can be set and cleared, and appear in no shipment or event", async () => {
  const { own, their, shipment, customer, update, get } = await addCustomer();
  const change = {
    phone: " +1 (212) 555-0100 ext. 7 ",
    notes: "Rings twice\n\nDog: Bello",
    default_pickup: { address: "1 Times Square", lat: 40.758, lng: -73.9855 },
  };
  const kept = { ...change, phone: "+1 (212) 555-0100 ext. 7" };
  const expected = { ...read(customer, [shipment], "2"), ...kept };
  expect(await data(update(change))).toEqual(expected);
  const after = {
    ...expected,
    phone: null,
    default_pickup: null,
    default_dropoff: { address: "Door 2", lat: null, lng: null },
    etag: "3",
  };
  const clearing = { phone: "", default_dropoff: { address: "Door 2" }, clear: ["default_pickup"] };
  expect(await data(update(clearing))).toEqual(after);
  expect(await data(update({ notes: kept.notes }))).toEqual(after);
  expect(await get()).toEqual(after);
  expect(await data(their.getShipment({ shipment: shipment["reference"] }))).toEqual(shipment);
  await book(service, own);
  const events = await data(their.listEvents());
  expect(events.map((event: any) => event.data.customer)).toEqual([customer, customer]);
});

test("rejects invalid customer fields by name", async () => {
  const { update } = await addCustomer();
  expect(
    await invalidFields(
      update({
        phone: "1".repeat(41),
        notes: "n".repeat(2_001),
        default_pickup: { lat: 91, lng: 0 },
        default_dropoff: { address: " ", lat: 1, lng: "2" },
        clear: ["notes"],
      }),
    ),
  ).toEqual([
    "phone",
    "notes",
    "default_pickup.address",
    "default_pickup.lat",
    "default_dropoff.lng",
    "default_dropoff.address",
    "clear[0]",
  ]);
  await expectRefused(update({ phone: "1\n2" }), "FIELD_INVALID", {
    phone: "phone must be one line.",
  });
  const half = { default_pickup: { address: "1 Main St", lat: 1 } };
  await expectRefused(update(half), "FIELD_INVALID", {
    "default_pickup.lng": "default_pickup.lng is required with default_pickup.lat. Set both or neither.",
  });
});

test("rejects a customer update with a stale etag, including after a booking changed the customer", async () => {
  const { own, update } = await addCustomer();
  expect((await data(update({ etag: "1", notes: "Mine" }))).etag).toBe("2");
  const stale = {
    etag: "etag is stale because the customer was changed. Read it again.",
  };
  await expectRefused(update({ etag: "1", notes: "Theirs" }), "ETAG_STALE", stale);
  await book(service, own, { customer_id_number: "ID 1" });
  await expectRefused(update({ etag: "2", id_number: "ID 2" }), "ETAG_STALE", stale);
  expect(await data(update({ etag: "3", id_number: "ID 2" }))).toMatchObject({
    notes: "Mine",
    id_number: "ID 2",
    etag: "4",
  });
});

test("a customer update repeated with its idempotency key is applied once", async () => {
  const { update } = await addCustomer();
  const headers = { "idempotency-key": "notes-1" };
  const first = await data(update({ notes: "Once" }, headers));
  await data(update({ notes: "Later" }));
  expect(await data(update({ notes: "Once" }, headers))).toEqual(first);
});
