import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { RefusalReason } from "../../../src/domain/refusal.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { book, type ShipmentJson } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { insertShipments } from "../../support/insert-shipments.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);

const ADA = { customer_name: "Ada Lovelace", customer_email: "ada@example.org" };
const IDA = { customer_name: "Ida Lovelace", customer_email: "Ida@Example.org" };

/** Creates two customers, each with a shipment. Also returns a client. */
async function addCustomers(key?: string) {
  const { apiKey } = key === undefined ? await service.addWorkspace() : { apiKey: key };
  const [ada, ida] = [await book(service, apiKey, ADA), await book(service, apiKey, IDA)];
  const caller = service.as(apiKey);
  return {
    caller,
    shipments: [ada, ida] as const,
    ada: ada["customer"].id as number,
    ida: ida["customer"].id as number,
    book: (fields: object) => book(service, apiKey, fields),
    get: (customer: number) => data(caller.getCustomer({ customer })),
    shipmentsOf: (customer_id: number) => data(caller.listShipments({ customer_id, page_size: 100 })),
    change: (customer: number, fields: object) => caller.updateCustomer({ customer, ...fields }),
    merge: (customer: number, from: number, headers = {}) => caller.mergeCustomers({ customer, from }, headers),
  };
}

const referencesOf = (shipments: readonly ShipmentJson[]) =>
  shipments.map(({ reference }) => reference as string).toSorted((a, b) => (a < b ? -1 : 1));

test("a merge moves the shipments to the other customer and fills its missing fields", async () => {
  const { caller, get, shipmentsOf, merge, change, ada, ida, shipments } = await addCustomers();
  const pickup = { address: "1 Main St", lat: 40.7, lng: -73.9 };
  await change(ada, { phone: "1", notes: "Rings twice" });
  const dropoff = { address: "2 Main St", lat: null, lng: null };
  await change(ida, {
    phone: "2",
    notes: "Has a dog",
    id_number: "ID 2",
    default_pickup: pickup,
    default_dropoff: { address: "2 Main St" },
  });
  const merged = await merge(ada, ida);
  const customer = { ...shipments[0]["customer"], id_number: "ID 2" };
  const both = {
    ...customer,
    phone: "1",
    notes: "Rings twice\n\nHas a dog",
    default_pickup: pickup,
    default_dropoff: dropoff,
    figures: {
      shipments: 2,
      last_booked_at: shipments[1]["created_at"],
      revenue: [{ currency: "USD", paid: 0, awaiting_payment: 25.38 }],
    },
    etag: "3",
  };
  expect(await data(merged)).toEqual(both);
  for (const id of [ada, ida]) {
    expect(await get(id)).toEqual(both);
    expect(referencesOf(await shipmentsOf(id))).toEqual(referencesOf(shipments));
  }
  // The merge changes nothing else in the shipment and adds no event.
  const moved = await data(caller.getShipment({ shipment: shipments[1]["reference"] }));
  expect(moved).toEqual({ ...shipments[1], customer });
  expect(await data(caller.listEvents())).toHaveLength(2);
  expect(await data(caller.listCustomers())).toEqual([{ ...both, figures: null }]);
  expect((await caller.searchShipments({ text: "ida" })).body.customers).toEqual([]);
});

test("a merge with a test key works the same, and merging again changes nothing", async () => {
  const { twin } = await service.addWorkspace();
  const { get, merge, ada, ida } = await addCustomers(twin.apiKey);
  const merged = await data(merge(ada, ida));
  expect(await get(ada)).toEqual(merged);
  expect(await data(merge(ada, ida))).toEqual(merged);
  expect(await data(merge(ida, ada))).toEqual(merged);
});

test("a merge repeated with its idempotency key returns the stored response", async () => {
  const { merge, change, ada, ida } = await addCustomers();
  const headers = { "idempotency-key": "merge-1" };
  const first = await merge(ada, ida, headers);
  await change(ada, { notes: "Later" });
  const again = await merge(ada, ida, headers);
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
});

test("bookings and changes that name a merged customer use the surviving one, even after several merges", async () => {
  const { caller, get, shipmentsOf, merge, change, ada, ida, shipments, ...calls } = await addCustomers();
  const bookFor = calls.book;
  await merge(ada, ida);
  const grace = (await bookFor({ customer_name: "Grace" }))["customer"].id;
  const customerOf = async (fields: object) => (await bookFor(fields))["customer"].id;
  expect(await customerOf({ ...IDA, customer_email: "IDA@example.org" })).toBe(ada);
  expect(await customerOf({ customer_name: "Other", customer_id: ida })).toBe(ada);
  await merge(grace, ada);
  expect(await customerOf(IDA)).toBe(grace);
  expect(await customerOf(ADA)).toBe(grace);
  expect(await customerOf({ customer_name: "Other", customer_id: ida })).toBe(grace);
  const other = await bookFor({ customer_name: "Other" });
  const linking = { shipment: other["reference"], customer_id: ida };
  expect((await data(caller.updateShipment(linking))).customer.id).toBe(grace);
  expect(await data(change(ida, { phone: "3" }))).toMatchObject({ id: grace, phone: "3" });
  const all = await shipmentsOf(ida);
  expect(all).toHaveLength(9);
  expect(referencesOf(all)).toEqual(expect.arrayContaining(referencesOf(shipments)));
  // A customer that has this name and email now takes precedence over a merged customer's former name.
  await change(other["customer"].id, { name: IDA.customer_name, email: IDA.customer_email });
  expect(await customerOf(IDA)).toBe(other["customer"].id);
  expect((await get(ida)).id).toBe(grace);
});

test("rejects an update with an etag from before the merge", async () => {
  const { merge, change, ada, ida } = await addCustomers();
  const { etag } = await data(change(ida, { notes: "Has a dog" }));
  const merged = await data(merge(ada, ida));
  const stale = { status: 409, code: "ETAG_STALE" };
  for (const id of [ada, ida]) {
    expect(await change(id, { name: "Ida", etag })).toMatchObject(stale);
    expect(await change(id, { name: "Ida", etag: "1" })).toMatchObject(stale);
  }
  expect(await data(change(ida, { phone: "1", etag: merged.etag }))).toEqual({
    ...merged,
    phone: "1",
    etag: "4",
  });
});

test("a list by name continues after its last customer is merged between pages", async () => {
  const { caller, merge, book: bookFor } = await addCustomers();
  const names = ["Bea Byron", "Bea Clark", "Bea Dean", "Otto Beard"];
  const ids: number[] = [];
  for (const customer_name of names) ids.push((await bookFor({ customer_name }))["customer"].id);
  const listed: string[] = [];
  for (let page_token = "", page = 0; page === 0 || page_token !== ""; page++) {
    const { body } = await caller.listCustomers({ name: "bea", page_size: 1, page_token });
    listed.push(...body.data.map(({ name }: { name: string }) => name));
    // Merges the page's last customer.
    if (page < 3) expect((await merge(ids[3]!, ids[page]!)).status).toBe(200);
    page_token = body.next_page_token;
  }
  expect(listed).toEqual(names);
});

test("rejects an invalid merge without changing the customers", async () => {
  const { caller, merge, change, ada, ida } = await addCustomers();
  const list = () => data(caller.listCustomers({ figures: true }));
  const before = await list();
  const refused = (pair: [number, number], from: string, reason: RefusalReason = "FIELD_INVALID") =>
    expectRefused(merge(...pair), reason, { from });
  await expectRefused(merge(999_999, ida), "CUSTOMER_NOT_FOUND");
  await refused([ada, 999_999], "from is not a customer of the workspace.");
  await refused([ada, ada], "from must be another customer.");
  await change(ada, { notes: "a".repeat(1_000) });
  await change(ida, { notes: "b".repeat(999) });
  const long = "The notes of both customers have more than 2,000 characters in total. Shorten them first.";
  await refused([ada, ida], long, "CUSTOMER_NOT_MERGEABLE");
  await change(ada, { notes: "" });
  await change(ida, { notes: "" });
  expect(await list()).toEqual(before.map((it: object) => ({ ...it, etag: "3" })));
});

test("moves up to ten thousand shipments at once, and otherwise suggests merging in the other direction", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { caller, shipmentsOf, merge, ada, ida } = await addCustomers(apiKey);
  const many = { workspace: id, customer: String(ida), salt: "many" };
  await insertShipments(sql, { ...many, count: 10_000 });
  const text = "The customer to merge has more than 10,000 shipments. Merge the other customer into it instead.";
  await expectRefused(merge(ada, ida), "CUSTOMER_NOT_MERGEABLE", { from: text });
  const [{ reference }] = await shipmentsOf(ada);
  await data(caller.updateShipment({ shipment: reference, customer_id: ida }));
  expect((await data(merge(ida, ada))).figures.shipments).toBe(10_002);
  const grace = (await book(service, apiKey, { customer_name: "Grace" }))["customer"].id;
  await sql.query(
    `delete from shipment where workspace_id = $1 and reference in (
       select reference from shipment where workspace_id = $1 and customer_id = $2
       order by created_at, reference limit 2)`,
    [id, ida],
  );
  expect((await data(merge(grace, ida))).figures.shipments).toBe(10_001);
});

const ROUNDS = 10;

test("keeps shipments that are booked for a customer during a merge, by id or by name", async () => {
  const { apiKey } = await service.addWorkspace();
  const caller = service.as(apiKey);
  let reached = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const name = (who: string) => ({ customer_name: `${who} ${round}` });
    const stays = (await book(service, apiKey, name("Stays")))["customer"].id as number;
    const goes = (await book(service, apiKey, name("Goes")))["customer"].id as number;
    const elsewhere = await book(service, apiKey, name("Elsewhere"));
    const late = () => sleep(round % 5);
    const merging = late().then(() => caller.mergeCustomers({ customer: stays, from: goes }));
    const bookings = Array.from({ length: 12 }, async (_, i) => {
      // At least two bookings follow the merge, even on a slow machine.
      if (i % 6 === 0) await merging;
      else if (i % 2 === 0) await late();
      const number = i % 3 === 0 ? { customer_id_number: `${round} ${i}` } : {};
      const id = i % 4 === 0 ? { customer_name: "Whoever", customer_id: goes } : name("Goes");
      return book(service, apiKey, { ...id, ...number });
    });
    const link = caller.updateShipment({ shipment: elsewhere["reference"], customer_id: goes });
    const booked = await Promise.all(bookings);
    expect([(await link).status, (await merging).status]).toEqual([200, 200]);
    reached += booked.filter(({ customer }) => customer.id === goes).length;
    const all = await data(caller.listShipments({ customer_id: stays, page_size: 100 }));
    const listed = referencesOf(all);
    expect(listed).toEqual(expect.arrayContaining(referencesOf([...booked, elsewhere])));
    expect(listed).toHaveLength(15);
    expect(await data(caller.listCustomers({ name: `goes ${round}` }))).toEqual([]);
    const { figures } = await data(caller.getCustomer({ customer: stays }));
    expect(figures.shipments).toBe(15);
  }
  // Some bookings must precede the merge and some follow it, otherwise the test proves little.
  expect(reached).toBeGreaterThan(0);
  expect(reached).toBeLessThan(ROUNDS * 12);
});

test("two customers that are merged into each other at the same time become one with all shipments", async () => {
  const { apiKey } = await service.addWorkspace();
  const caller = service.as(apiKey);
  for (let round = 0; round < 8; round++) {
    const ids = await Promise.all(
      ["One", "Two", "Three"].map(
        async (name) => (await book(service, apiKey, { customer_name: `${name} ${round}` }))["customer"].id,
      ),
    );
    const [one, two, three] = ids;
    const pairs = [
      [one, two],
      [two, one],
      [three, one],
      [two, three],
    ];
    const answers = await Promise.all(pairs.map(([customer, from]) => caller.mergeCustomers({ customer, from })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const shown = await Promise.all(ids.map((customer) => data(caller.getCustomer({ customer }))));
    expect(new Set(shown.map(({ id }) => id)).size).toBe(1);
    expect(shown[0].figures.shipments).toBe(3);
  }
});
