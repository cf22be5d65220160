import { expect, test } from "vitest";
import {
  CustomerService,
  GetCustomerResponseSchema,
  ListCustomersResponseSchema,
  UpdateCustomerResponseSchema,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import { book, type ShipmentJson } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

/** Newest first; each with the shipments they have, newest first. */
let customers: { customer: Record<string, any>; shipments: ShipmentJson[] }[];
const service = await sharedService();
const { apiKey } = await service.addWorkspace();
customers = [];
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

/** What shipments do not show of their customers. */
const UNSHOWN = {
  phone: null,
  notes: null,
  default_pickup: null,
  default_dropoff: null,
  figures: null,
  etag: null,
};

/** A customer as it is listed, of which shipments show a part. */
function listed(customer: Record<string, any>, etag = "1") {
  return { ...customer, etag };
}

/** A customer that is read by itself, whose shipments of 12.69 USD await their payment. */
function read(customer: Record<string, any>, shipments: readonly ShipmentJson[], etag = "1") {
  const awaiting_payment = Math.round(1_269 * shipments.length) / 100;
  const figures = {
    shipments: shipments.length,
    last_booked_at: newestFirst([...shipments])[0]!["created_at"],
    revenue: [{ currency: "USD", paid: 0, awaiting_payment }],
  };
  return { ...listed(customer, etag), figures };
}

test("a customer read by JSON or by gRPC is as its shipments show it, with what was booked", async () => {
  const grpc = service.grpcClient(apiKey, CustomerService);
  for (const { customer, shipments } of customers) {
    const data = read(customer, shipments);
    const { status, body } = await service.request(`/v1/customers/${customer["id"]}`, { apiKey });
    expect({ status, body }).toEqual({ status: 200, body: { data } });
    const answer = await grpc.getCustomer({ customer: BigInt(customer["id"]) });
    expect(inDialect(GetCustomerResponseSchema, answer)).toEqual({ data });
  }
  expect(customers.at(-1)!.customer).toEqual({
    id: expect.any(Number),
    name: "Customer 0",
    email: "Shared@Example.org",
    id_number: "ID 0",
    ...UNSHOWN,
  });
});

test("a missing customer is 404 by JSON and NotFound by gRPC; an id that is no number is a field error", async () => {
  const body = errorBody("There is no such customer.");
  for (const id of [999_999, 0, -1, Number.MAX_SAFE_INTEGER]) {
    const answer = await service.request(`/v1/customers/${id}`, { apiKey });
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 404, body });
  }
  const grpc = service.grpcClient(apiKey, CustomerService);
  for (const customer of [999_999n, 0n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    expect(await rpcError(grpc.getCustomer({ customer }))).toEqual(
      rpcRefusal("NotFound", "CUSTOMER_NOT_FOUND", body.message),
    );
  }
  for (const id of ["ada", "1.5", "1e400"]) {
    const answer = await service.request(`/v1/customers/${id}`, { apiKey });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ["customer"]]);
  }
});

test("customers are listed newest first, page by page", async () => {
  const all = customers.map(({ customer }) => listed(customer));
  const whole = await service.request("/v1/customers", { apiKey });
  expect(whole.body).toEqual({ data: all, next_page_token: "" });
  const grpc = service.grpcClient(apiKey, CustomerService);
  const first = await grpc.listCustomers({ pageSize: 3 });
  expect(inDialect(ListCustomersResponseSchema, first).data).toEqual(all.slice(0, 3));
  const rest = await service.request(
    `/v1/customers?page_size=2&page_token=${first.nextPageToken}`,
    { apiKey },
  );
  expect(rest.body).toEqual({ data: all.slice(3), next_page_token: "" });
});

test("customers filtered by email, ignoring case, are exactly those with that email", async () => {
  const shared = customers.slice(3).map(({ customer }) => listed(customer));
  const { body } = await service.request("/v1/customers?email=%20sHARED@example.ORG", { apiKey });
  expect(body).toEqual({ data: shared, next_page_token: "" });
  const none = await service.request("/v1/customers?email=shared", { apiKey });
  expect(none.body).toEqual({ data: [], next_page_token: "" });
  const one = await service.request("/v1/customers?email=shared@example.org&page_size=1", {
    apiKey,
  });
  const next = `page_token=${one.body.next_page_token}`;
  const two = await service.request(`/v1/customers?email=SHARED@example.org&${next}`, { apiKey });
  expect([...one.body.data, ...two.body.data]).toEqual(shared);
});

test("customers are found by the beginning of their name or of its last word, in any case, by JSON and by gRPC", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const other = await service.addWorkspace();
  const names = [
    "Radia Perlman",
    "radia smith",
    "Per Radiasson",
    "Ann Radia Lee",
    "Radia",
    "100% _",
  ];
  for (const name of [...names, "Radia Radia"]) {
    await book(service, own, { customer_name: name, customer_email: "r@example.org" });
  }
  await book(service, own, { customer_name: "Radia", customer_email: "other@example.org" });
  await book(service, other.apiKey, { customer_name: "Radia" });
  const grpc = service.grpcClient(own, CustomerService);
  const found = async (name: string, more = {}) => {
    const query = new URLSearchParams({ name, ...more });
    const { body } = await service.request(`/v1/customers?${query}`, { apiKey: own });
    const byGrpc = await grpc.listCustomers({ name, ...more });
    expect(inDialect(ListCustomersResponseSchema, byGrpc)).toEqual(body);
    return body.data.map((it: { name: string }) => it.name);
  };
  const radias = ["Radia", "Radia", "Radia Perlman", "Radia Radia", "radia smith", "Per Radiasson"];
  expect(await found("RADIA")).toEqual(radias);
  expect(await found("radia p")).toEqual(["Radia Perlman"]);
  expect(await found("per")).toEqual(["Per Radiasson", "Radia Perlman"]);
  expect(await found("lee")).toEqual(["Ann Radia Lee"]);
  expect(await found("%")).toEqual([]);
  expect(await found("_")).toEqual(["100% _"]);
  expect(await found("radia", { email: "OTHER@example.org" })).toEqual(["Radia"]);

  const paged: string[] = [];
  let token = "";
  do {
    const path = `/v1/customers?name=radia&page_size=2&page_token=${token}`;
    const { body } = await service.request(path, { apiKey: own });
    paged.push(...body.data.map((it: { name: string }) => it.name));
    token = body.next_page_token;
  } while (token !== "");
  expect(paged).toEqual(radias);
});

test("a customer list refuses a page token of other filters, and a page size out of range", async () => {
  const { body } = await service.request("/v1/customers?page_size=1", { apiKey });
  const text = "page_token is not the next_page_token of a page with these filters.";
  for (const query of [`email=a@b.c&page_token=${body.next_page_token}`, "page_token=x"]) {
    const answer = await service.request(`/v1/customers?${query}`, { apiKey });
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 422,
      body: errorBody(text, "page_token"),
    });
  }
  for (const size of ["0", "101", "x"]) {
    const answer = await service.request(`/v1/customers?page_size=${size}`, { apiKey });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ["page_size"]]);
  }
});

test("a customer's shipments can be listed with all filters and pages", async () => {
  for (const { customer, shipments } of customers) {
    const path = `/v1/customers/${customer["id"]}/shipments`;
    const { status, body } = await service.request(path, { apiKey });
    expect({ status, body }).toEqual({
      status: 200,
      body: { data: shipments, next_page_token: "" },
    });
    const first = await service.request(`${path}?page_size=1&status=pending`, { apiKey });
    const next = `status=pending&page_token=${first.body.next_page_token}`;
    const second = await service.request(`${path}?${next}`, { apiKey });
    expect([...first.body.data, ...second.body.data]).toEqual(shipments);
    const none = await service.request(`${path}?status=delivered`, { apiKey });
    expect(none.body).toEqual({ data: [], next_page_token: "" });
    // The path names the customer, whatever the query says.
    const same = await service.request(`${path}?customer_id=1&customer_id=x`, { apiKey });
    expect(same.body).toEqual(body);
  }
});

test("a customer that is changed is shown so by its shipments, and booked for by the new name", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const first = await book(service, own, { customer_name: "Ada" });
  const { id } = first["customer"];
  const change = { name: "Ada King", email: "King@Example.org" };
  const { status, body } = await service.request(`/v1/customers/${id}`, {
    apiKey: own,
    method: "PATCH",
    body: change,
  });
  const customer = { ...first["customer"], ...change };
  expect({ status, body }).toEqual({ status: 200, body: { data: read(customer, [first], "2") } });
  const shown = await service.request(`/v1/shipments/${first["reference"]}`, { apiKey: own });
  expect(shown.body.data).toEqual({ ...first, customer });
  const fields = { customer_name: "Ada King", customer_email: "king@example.org" };
  expect((await book(service, own, fields))["customer"]).toEqual(customer);
  expect((await book(service, own, { customer_name: "Ada" }))["customer"].id).not.toBe(id);
});

test("a customer is not given the name and email of another one of the workspace", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const { customer } = await book(service, own, { customer_name: "Ada" });
  const booked = await book(service, own, { customer_name: "Grace" });
  const other = booked["customer"];
  const change = { name: "Ada", email: customer.email.toUpperCase() };
  const path = `/v1/customers/${other.id}`;
  const refused = await service.request(path, { apiKey: own, method: "PATCH", body: change });
  const text = "Another customer of the workspace has this name and email.";
  expect({ status: refused.status, body: refused.body, code: refused.code }).toEqual({
    status: 409,
    body: errorBody(text, "customer"),
    code: "CUSTOMER_TAKEN",
  });
  const grpc = service.grpcClient(own, CustomerService);
  expect(
    (await rpcError(grpc.updateCustomer({ customer: BigInt(other.id), ...change }))).code,
  ).toBe("AlreadyExists");
  expect((await service.request(path, { apiKey: own })).body).toEqual({
    data: read(other, [booked]),
  });
  const foreign = await service.request(path, { apiKey, method: "PATCH", body: change });
  expect([foreign.status, foreign.body.message]).toEqual([404, "There is no such customer."]);
});

test("a list gives figures where it asks for them, which are those of each customer read by itself", async () => {
  const data = customers.map(({ customer, shipments }) => read(customer, shipments));
  const { body } = await service.request("/v1/customers?figures=true", { apiKey });
  expect(body).toEqual({ data, next_page_token: "" });
  const grpc = service.grpcClient(apiKey, CustomerService);
  const byName = await grpc.listCustomers({ name: "customer 3", figures: true });
  expect(inDialect(ListCustomersResponseSchema, byName).data).toEqual([
    data.find(({ name }: any) => name === "Customer 3"),
  ]);
});

test("figures count all shipments, those that were cancelled too, and mean by revenue what reports do", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const booked: ShipmentJson[] = [];
  for (let i = 0; i < 4; i++) booked.push(await book(service, own));
  await book(service, own, { customer_name: "Somebody else" });
  const post = async (i: number, act: string, body = {}) => {
    const path = `/v1/shipments/${booked[i]!["reference"]}/${act}`;
    expect((await service.request(path, { apiKey: own, body })).status).toBeLessThan(300);
  };
  const path = `/v1/customers/${booked[0]!["customer"].id}`;
  const figures = async () => (await service.request(path, { apiKey: own })).body.data.figures;
  const last_booked_at = newestFirst(booked)[0]!["created_at"];
  const paid = { amount: 12.69, currency: "USD" };
  await post(0, "payments", paid);
  await post(1, "payments", paid);
  await post(1, "cancel");
  await post(2, "cancel");
  expect(await figures()).toEqual({
    shipments: 4,
    last_booked_at,
    revenue: [{ currency: "USD", paid: 12.69, awaiting_payment: 12.69 }],
  });
  const { body } = await service.request("/v1/overview", { apiKey: own });
  expect(body.data.totals.revenue).toEqual([
    { currency: "USD", paid: 12.69, awaiting_payment: 25.38 },
  ]);
  await post(0, "cancel");
  await post(3, "cancel");
  expect(await figures()).toEqual({ shipments: 4, last_booked_at, revenue: [] });
});

test("a customer without shipments has figures of nothing", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const shipment = await book(service, own);
  const other = (await book(service, own, { customer_name: "Grace" }))["customer"];
  const change = { apiKey: own, method: "PATCH", body: { customer_id: other.id } };
  expect((await service.request(`/v1/shipments/${shipment["reference"]}`, change)).status).toBe(
    200,
  );
  const { body } = await service.request(`/v1/customers/${shipment["customer"].id}`, {
    apiKey: own,
  });
  expect(body.data.figures).toEqual({ shipments: 0, last_booked_at: null, revenue: [] });
});

test("phone, notes and default addresses are kept as given by JSON and gRPC, cleared, and shown by no shipment or event", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const shipment = await book(service, own);
  const { customer } = shipment as Record<string, any>;
  const path = `/v1/customers/${customer.id}`;
  const patch = (body: object) => service.request(path, { apiKey: own, method: "PATCH", body });
  const change = {
    phone: " +1 (212) 555-0100 ext. 7 ",
    notes: "Rings twice\n\nDog: Bello",
    default_pickup: { address: "1 Times Square", lat: 40.758, lng: -73.9855 },
  };
  const kept = { ...change, phone: "+1 (212) 555-0100 ext. 7" };
  const changed = await patch(change);
  const expected = { ...read(customer, [shipment], "2"), ...kept };
  expect(changed.body).toEqual({ data: expected });
  const grpc = service.grpcClient(own, CustomerService);
  const id = BigInt(customer.id);
  const by = await grpc.updateCustomer({
    customer: id,
    phone: "",
    defaultDropoff: { address: "Door 2" },
    clear: ["default_pickup"],
  });
  const after = {
    ...expected,
    phone: null,
    default_pickup: null,
    default_dropoff: { address: "Door 2", lat: null, lng: null },
    etag: "3",
  };
  expect(inDialect(UpdateCustomerResponseSchema, by)).toEqual({ data: after });
  expect((await patch({ notes: kept.notes })).body).toEqual({ data: after });
  expect((await service.request(path, { apiKey: own })).body).toEqual({ data: after });
  const shown = await service.request(`/v1/shipments/${shipment["reference"]}`, { apiKey: own });
  expect(shown.body.data).toEqual(shipment);
  await book(service, own);
  const events = await service.request("/v1/events", { apiKey: own });
  expect(events.body.data.map(({ data }: any) => data.customer)).toEqual([customer, customer]);
});

test("what is wrong with a customer's new facts is told by field", async () => {
  const { customer } = customers[0]!;
  const body = {
    phone: "1".repeat(41),
    notes: "n".repeat(2_001),
    default_pickup: { lat: 91, lng: 0 },
    default_dropoff: { address: " ", lat: 1, lng: "2" },
    clear: ["notes"],
  };
  const path = `/v1/customers/${customer["id"]}`;
  const answer = await service.request(path, { apiKey, method: "PATCH", body });
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([
    422,
    [
      "phone",
      "notes",
      "default_pickup.address",
      "default_pickup.lat",
      "default_dropoff.lng",
      "default_dropoff.address",
      "clear[0]",
    ],
  ]);
  const lines = await service.request(path, { apiKey, method: "PATCH", body: { phone: "1\n2" } });
  expect([lines.status, lines.body]).toEqual([422, errorBody("phone must be one line.", "phone")]);
  const half = { default_pickup: { address: "1 Main St", lat: 1 } };
  const halved = await service.request(path, { apiKey, method: "PATCH", body: half });
  const text = "default_pickup.lng is required with default_pickup.lat; give both or neither.";
  expect({ status: halved.status, body: halved.body }).toEqual({
    status: 422,
    body: errorBody(text, "default_pickup.lng"),
  });
});

test("a change of a customer that is based on what was changed meanwhile is refused, a booking's change too", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const { id } = (await book(service, own))["customer"];
  const patch = (body: object) =>
    service.request(`/v1/customers/${id}`, { apiKey: own, method: "PATCH", body });
  expect((await patch({ etag: "1", notes: "Mine" })).body.data.etag).toBe("2");
  const text = "etag is not the customer's any more: it was changed meanwhile. Read it again.";
  const stale = { status: 409, body: errorBody(text, "etag"), code: "ETAG_STALE" };
  const answerTo = async (body: object) => {
    const { status, body: answer, code } = await patch(body);
    return { status, body: answer, code };
  };
  expect(await answerTo({ etag: "1", notes: "Theirs" })).toEqual(stale);
  await book(service, own, { customer_id_number: "ID 1" });
  expect(await answerTo({ etag: "2", id_number: "ID 2" })).toEqual(stale);
  expect((await patch({ etag: "3", id_number: "ID 2" })).body.data).toMatchObject({
    notes: "Mine",
    id_number: "ID 2",
    etag: "4",
  });
});

test("a change of a customer that is repeated under its idempotency key is made once", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const { id } = (await book(service, own))["customer"];
  const headers = { "idempotency-key": "notes-1" };
  const change = { apiKey: own, method: "PATCH", body: { notes: "Once" }, headers };
  const first = await service.request(`/v1/customers/${id}`, change);
  await service.request(`/v1/customers/${id}`, {
    ...change,
    headers: {},
    body: { notes: "Later" },
  });
  const again = await service.request(`/v1/customers/${id}`, change);
  expect([again.status, again.body]).toEqual([200, first.body]);
});
