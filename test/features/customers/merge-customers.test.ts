import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  CustomerService,
  MergeCustomersResponseSchema,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import { book, type ShipmentJson } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { insertShipments } from "../../support/insert-shipments.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);

const ADA = { customer_name: "Ada Lovelace", customer_email: "ada@example.org" };
const IDA = { customer_name: "Ida Lovelace", customer_email: "Ida@Example.org" };

/** A workspace with two customers, each with a shipment, and calls in it. */
async function addCustomers(key?: string) {
  const { apiKey } = key === undefined ? await service.addWorkspace() : { apiKey: key };
  const [ada, ida] = [await book(service, apiKey, ADA), await book(service, apiKey, IDA)];
  const call = (path: string, options: object = {}) =>
    service.request(`/v1/${path}`, { apiKey, ...options });
  return {
    apiKey,
    call,
    shipments: [ada, ida] as const,
    ada: ada["customer"].id as number,
    ida: ida["customer"].id as number,
    book: (fields: object) => book(service, apiKey, fields),
    change: (id: number, body: object) => call(`customers/${id}`, { method: "PATCH", body }),
    merge: (customer: number, from: number, headers = {}) =>
      call(`customers/${customer}/merge`, { body: { from }, headers }),
  };
}

const referencesOf = (shipments: readonly ShipmentJson[]) =>
  shipments.map(({ reference }) => reference as string).toSorted((a, b) => (a < b ? -1 : 1));

test("a merged customer's shipments, and what the other one lacks, are the other one's from then on", async () => {
  const { call, merge, change, ada, ida, shipments } = await addCustomers();
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
  const { status, body } = await merge(ada, ida);
  const customer = { ...shipments[0]["customer"], id_number: "ID 2" };
  const data = {
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
  expect({ status, body }).toEqual({ status: 200, body: { data } });
  for (const id of [ada, ida]) {
    expect((await call(`customers/${id}`)).body).toEqual({ data });
    const listed = (await call(`customers/${id}/shipments`)).body.data;
    expect(referencesOf(listed)).toEqual(referencesOf(shipments));
  }
  // Of a shipment nothing else has changed, and no event tells of it.
  const moved = await call(`shipments/${shipments[1]["reference"]}`);
  expect(moved.body.data).toEqual({ ...shipments[1], customer });
  expect((await call("events")).body.data).toHaveLength(2);
  expect((await call("customers")).body.data).toEqual([{ ...data, figures: null }]);
  expect((await call("search?text=ida")).body.customers).toEqual([]);
});

test("merging by gRPC, with a test key too, comes to the same, and is done again without a change", async () => {
  const { twin } = await service.addWorkspace();
  const { call, ada, ida } = await addCustomers(twin.apiKey);
  const grpc = service.grpcClient(twin.apiKey, CustomerService);
  const request = { customer: BigInt(ada), from: BigInt(ida) };
  const merged = inDialect(MergeCustomersResponseSchema, await grpc.mergeCustomers(request));
  expect((await call(`customers/${ada}`)).body).toEqual(merged);
  const again = inDialect(MergeCustomersResponseSchema, await grpc.mergeCustomers(request));
  expect(again).toEqual(merged);
  const back = { customer: request.from, from: request.customer };
  expect(inDialect(MergeCustomersResponseSchema, await grpc.mergeCustomers(back))).toEqual(merged);
});

test("a merge that is repeated under its idempotency key is answered as it was", async () => {
  const { merge, change, ada, ida } = await addCustomers();
  const headers = { "idempotency-key": "merge-1" };
  const first = await merge(ada, ida, headers);
  await change(ada, { notes: "Later" });
  const again = await merge(ada, ida, headers);
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
});

test("bookings, shipments and changes that name a merged customer mean the other one, however often that is merged", async () => {
  const { apiKey, call, merge, change, book: bookFor, ada, ida, shipments } = await addCustomers();
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
  const path = `shipments/${other["reference"]}`;
  const linked = await call(path, { method: "PATCH", body: { customer_id: ida } });
  expect(linked.body.data.customer.id).toBe(grace);
  expect((await change(ida, { phone: "3" })).body.data).toMatchObject({ id: grace, phone: "3" });
  const { body } = await call(`customers/${ida}/shipments?page_size=100`);
  expect(body.data).toHaveLength(9);
  expect(referencesOf(body.data)).toEqual(expect.arrayContaining(referencesOf(shipments)));
  // Whoever is given the name and email themselves comes first.
  await change(other["customer"].id, { name: IDA.customer_name, email: IDA.customer_email });
  expect(await customerOf(IDA)).toBe(other["customer"].id);
  const grpc = service.grpcClient(apiKey, CustomerService);
  expect((await grpc.getCustomer({ customer: BigInt(ida) })).data?.id).toBe(BigInt(grace));
});

test("a change that is based on either of two customers is refused once they are one", async () => {
  const { merge, change, ada, ida } = await addCustomers();
  const { etag } = (await change(ida, { notes: "Has a dog" })).body.data;
  const { data } = (await merge(ada, ida)).body;
  const stale = { status: 409, code: "ETAG_STALE" };
  for (const id of [ada, ida]) {
    expect(await change(id, { name: "Ida", etag })).toMatchObject(stale);
    expect(await change(id, { name: "Ida", etag: "1" })).toMatchObject(stale);
  }
  const changed = await change(ida, { phone: "1", etag: data.etag });
  expect(changed.body.data).toEqual({ ...data, phone: "1", etag: "4" });
});

test("a list by name goes on behind a customer who was merged meanwhile", async () => {
  const { call, merge, book: bookFor } = await addCustomers();
  const names = ["Bea Byron", "Bea Clark", "Bea Dean", "Otto Beard"];
  const ids: number[] = [];
  for (const customer_name of names) ids.push((await bookFor({ customer_name }))["customer"].id);
  const listed: string[] = [];
  for (let token = "", page = 0; page === 0 || token !== ""; page++) {
    const { body } = await call(`customers?name=bea&page_size=1&page_token=${token}`);
    listed.push(...body.data.map(({ name }: { name: string }) => name));
    // The one that the page ends with.
    if (page < 3) expect((await merge(ids[3]!, ids[page]!)).status).toBe(200);
    token = body.next_page_token;
  }
  expect(listed).toEqual(names);
});

test("what cannot be merged is refused by JSON and gRPC, and stays as it is", async () => {
  const { apiKey, call, merge, change, ada, ida } = await addCustomers();
  const other = await addCustomers();
  const grpc = service.grpcClient(apiKey, CustomerService);
  const expectRefused = async (
    [customer, from]: readonly [number, number],
    [status, code, reason, text, subject]: readonly [number, string, string, string, string?],
  ) => {
    const answer = await merge(customer, from);
    expect({ status: answer.status, body: answer.body, code: answer.code }).toEqual({
      status,
      body: errorBody(text, subject),
      code: reason,
    });
    const byGrpc = grpc.mergeCustomers({ customer: BigInt(customer), from: BigInt(from) });
    const error = await rpcError(byGrpc);
    expect([error.code, error.message]).toEqual([code, text]);
    if (subject === undefined) expect(error).toEqual(rpcRefusal(code as any, reason as any, text));
  };
  const missing = [404, "NotFound", "CUSTOMER_NOT_FOUND", "There is no such customer."] as const;
  for (const id of [other.ada, 999_999]) {
    await expectRefused([id, ida], missing);
    const text = "from is no customer of the workspace.";
    await expectRefused([ada, id], [422, "InvalidArgument", "FIELD_INVALID", text, "from"]);
  }
  const same = "from must be another customer.";
  await expectRefused([ada, ada], [422, "InvalidArgument", "FIELD_INVALID", same, "from"]);
  const before = await call("customers?figures=true");
  await change(ada, { notes: "a".repeat(1_000) });
  await change(ida, { notes: "b".repeat(999) });
  const long = "The notes of both have more than 2,000 characters together; shorten them first.";
  const notMergeable = [422, "FailedPrecondition", "CUSTOMER_NOT_MERGEABLE"] as const;
  await expectRefused([ada, ida], [...notMergeable, long, "from"]);
  await change(ada, { notes: "" });
  await change(ida, { notes: "" });
  const after = await call("customers?figures=true");
  const etags = (data: any[]) => data.map((it) => ({ ...it, etag: "3" }));
  expect(after.body.data).toEqual(etags(before.body.data));
});

test("ten thousand shipments are moved at once, and more are refused with the way round", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { call, merge, ada, ida } = await addCustomers(apiKey);
  const many = { workspace: id, customer: String(ida), salt: "many" };
  await insertShipments(sql, { ...many, count: 10_000 });
  const text =
    "The customer to merge has more than 10,000 shipments; merge it the other way round.";
  const refused = await merge(ada, ida);
  expect({ status: refused.status, body: refused.body }).toEqual({
    status: 422,
    body: errorBody(text, "from"),
  });
  const [{ reference }] = (await call(`customers/${ada}/shipments`)).body.data;
  const moved = { method: "PATCH", body: { customer_id: ida } };
  expect((await call(`shipments/${reference}`, moved)).status).toBe(200);
  const merged = await merge(ida, ada);
  expect([merged.status, merged.body.data.figures.shipments]).toEqual([200, 10_002]);
  const grace = (await book(service, apiKey, { customer_name: "Grace" }))["customer"].id;
  await sql.query(
    `delete from shipment where workspace_id = $1 and reference in (
       select reference from shipment where workspace_id = $1 and customer_id = $2
       order by created_at, reference limit 2)`,
    [id, ida],
  );
  const all = await merge(grace, ida);
  expect([all.status, all.body.data.figures.shipments]).toEqual([200, 10_001]);
});

const ROUNDS = 25;

test("no shipment is lost that is booked for a customer while it is merged, whichever way they are named", async () => {
  const { apiKey } = await service.addWorkspace();
  let reached = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const name = (who: string) => ({ customer_name: `${who} ${round}` });
    const stays = (await book(service, apiKey, name("Stays")))["customer"].id as number;
    const goes = (await book(service, apiKey, name("Goes")))["customer"].id as number;
    const elsewhere = await book(service, apiKey, name("Elsewhere"));
    const late = () => sleep(round % 5);
    const bookings = Array.from({ length: 12 }, async (_, i) => {
      if (i % 2 === 0) await late();
      const number = i % 3 === 0 ? { customer_id_number: `${round} ${i}` } : {};
      const id = i % 4 === 0 ? { customer_name: "Whoever", customer_id: goes } : name("Goes");
      return book(service, apiKey, { ...id, ...number });
    });
    const link = service.request(`/v1/shipments/${elsewhere["reference"]}`, {
      apiKey,
      method: "PATCH",
      body: { customer_id: goes },
    });
    const merging = (async () => {
      await late();
      return service.request(`/v1/customers/${stays}/merge`, { apiKey, body: { from: goes } });
    })();
    const booked = await Promise.all(bookings);
    expect([(await link).status, (await merging).status]).toEqual([200, 200]);
    reached += booked.filter(({ customer }) => customer.id === goes).length;
    const path = `/v1/customers/${stays}`;
    const { body } = await service.request(`${path}/shipments?page_size=100`, { apiKey });
    const listed = referencesOf(body.data);
    expect(listed).toEqual(expect.arrayContaining(referencesOf([...booked, elsewhere])));
    expect(listed).toHaveLength(15);
    const found = await service.request(`/v1/customers?name=goes ${round}`, { apiKey });
    expect(found.body.data).toEqual([]);
    const { figures } = (await service.request(path, { apiKey })).body.data;
    expect(figures.shipments).toBe(15);
  }
  // Some came before the merge and some after it, else this would prove little.
  expect(reached).toBeGreaterThan(0);
  expect(reached).toBeLessThan(ROUNDS * 12);
});

test("of two customers that are merged into each other at the same time, one stays with all shipments", async () => {
  const { apiKey } = await service.addWorkspace();
  for (let round = 0; round < 20; round++) {
    const ids = await Promise.all(
      ["One", "Two", "Three"].map(
        async (name) =>
          (await book(service, apiKey, { customer_name: `${name} ${round}` }))["customer"].id,
      ),
    );
    const [one, two, three] = ids;
    const pairs = [
      [one, two],
      [two, one],
      [three, one],
      [two, three],
    ];
    const answers = await Promise.all(
      pairs.map(([customer, from]) =>
        service.request(`/v1/customers/${customer}/merge`, { apiKey, body: { from } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const shown = await Promise.all(
      ids.map(async (id) => (await service.request(`/v1/customers/${id}`, { apiKey })).body.data),
    );
    expect(new Set(shown.map(({ id }) => id)).size).toBe(1);
    expect(shown[0].figures.shipments).toBe(3);
  }
});
