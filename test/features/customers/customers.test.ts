import { expect, test } from "vitest";
import {
  CustomerService,
  GetCustomerResponseSchema,
  ListCustomersResponseSchema,
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

test("a customer read by JSON or by gRPC is as its shipments show it", async () => {
  const grpc = service.grpcClient(apiKey, CustomerService);
  for (const { customer } of customers) {
    const { status, body } = await service.request(`/v1/customers/${customer["id"]}`, { apiKey });
    expect({ status, body }).toEqual({ status: 200, body: { data: customer } });
    const answer = await grpc.getCustomer({ customer: BigInt(customer["id"]) });
    expect(inDialect(GetCustomerResponseSchema, answer)).toEqual({ data: customer });
  }
  expect(customers.at(-1)!.customer).toEqual({
    id: expect.any(Number),
    name: "Customer 0",
    email: "Shared@Example.org",
    id_number: "ID 0",
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
  const all = customers.map(({ customer }) => customer);
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
  const shared = customers.slice(3).map(({ customer }) => customer);
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
  expect({ status, body }).toEqual({ status: 200, body: { data: customer } });
  const shown = await service.request(`/v1/shipments/${first["reference"]}`, { apiKey: own });
  expect(shown.body.data).toEqual({ ...first, customer });
  const fields = { customer_name: "Ada King", customer_email: "king@example.org" };
  expect((await book(service, own, fields))["customer"]).toEqual(customer);
  expect((await book(service, own, { customer_name: "Ada" }))["customer"].id).not.toBe(id);
});

test("a customer is not given the name and email of another one of the workspace", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const { customer } = await book(service, own, { customer_name: "Ada" });
  const other = (await book(service, own, { customer_name: "Grace" }))["customer"];
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
  expect((await service.request(path, { apiKey: own })).body).toEqual({ data: other });
  const foreign = await service.request(path, { apiKey, method: "PATCH", body: change });
  expect([foreign.status, foreign.body.message]).toEqual([404, "There is no such customer."]);
});
