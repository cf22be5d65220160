import type { DescMethod } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { BOOKING, COVERED_ROUTE, NO_REFERENCE, PAYMENT } from "../support/bookings.ts";
import {
  createCheckedCalls,
  DESCRIPTION,
  type CheckedOptions,
} from "../support/api-description.ts";
import { signIn, signInByPath } from "../support/browser.ts";
import { describedMethods } from "../support/described-services.ts";
import { eventually } from "../support/eventually.ts";
import { startGeocoder } from "../support/geocoder.ts";
import { createMethodCalls } from "../support/method-calls.ts";
import { startReceiver } from "../support/receiver.ts";
import { createRestrictedDatabase } from "../support/restricted-database.ts";
import { startUnprepared } from "../support/service.ts";
import {
  PAGE_URLS,
  RETURN_URLS,
  sessionOf,
  startStripeService,
} from "../support/stripe-service.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";

// As the user of least rights that the guide to the production database describes.
const geocoder = await startGeocoder("pelias");
const payments = await startStripeService({
  database: await createRestrictedDatabase(),
  ...geocoder.settings,
});
const { service, stripe } = payments;
const workspace = await service.addWorkspace();
const operatorKey = (await service.addOperator()).key;

const checked = createCheckedCalls();

/** Calls by the workspace's key and gives the body; the document has to have it all. */
async function call(path: string, options: CheckedOptions = {}): Promise<any> {
  const { apiKey } = workspace;
  return (await checked.call(service, `/v1/${path}`, { apiKey, ...options })).body;
}

/** The same by the operator's key. */
async function admin(path: string, options: CheckedOptions = {}): Promise<any> {
  const all = { apiKey: operatorKey, ...options };
  return (await checked.call(service, `/admin/v1/${path}`, all)).body;
}

const book = async (fields: object = {}) =>
  (await call("shipments", { body: { ...BOOKING, ...fields } })).data;

test("quotes are as the OpenAPI document says, also those of routes that are not served", async () => {
  await call("shipments/quote", { body: COVERED_ROUTE });
  await call("shipments/quote", { body: { ...COVERED_ROUTE, pickup_lat: 0 } });
  await call("quotes", { body: COVERED_ROUTE });
  await call("quotes", { body: { ...COVERED_ROUTE, pickup_lat: 0 } });
  const faulty = { ...COVERED_ROUTE, weight_kg: "heavy" };
  const body = { routes: [COVERED_ROUTE, faulty] };
  await call("shipments/quote/batch", { body, mayBreakRules: true });
  await call("quotes/batch", { body, mayBreakRules: true });
});

test("a quote, a booking and its payment can be made with the OpenAPI document's own examples", async () => {
  const exampleOf = (path: string) =>
    DESCRIPTION.paths[path].post.requestBody.content["application/json"].example;
  const route = exampleOf("/v1/shipments/quote");
  expect((await call("shipments/quote", { body: route })).covered).toBe(true);
  const { data } = await call("shipments", { body: exampleOf("/v1/shipments") });
  const payment = exampleOf("/v1/shipments/{shipment}/payments");
  const paid = await call(`shipments/${data.reference}/payments`, { body: payment });
  expect(paid.data).toMatchObject({ payment_status: "paid", total: payment.amount });
});

test("the answers on shipments and their customers are as the OpenAPI document says", async () => {
  const fields = { external_reference: "4711", metadata: { floor: "3" } };
  const { reference, customer, etag } = await book(fields);
  await call(`shipments/${reference}`);
  const body = { etag, dropoff_address: "1 Main St", metadata: { floor: "4" } };
  await call(`shipments/${reference}`, { method: "PATCH", body });
  const slots = Object.entries(COVERED_ROUTE).map(([name, value]) => `${name}=${value}`);
  await call(`pickup_slots?${slots.join("&")}`);
  const headers = { "idempotency-key": "pay-1" };
  for (const _ of ["first", "again"]) {
    await call(`shipments/${reference}/payments`, { body: PAYMENT, headers });
  }
  const paid = (await book()).reference;
  await call(`shipments/${paid}/payments`, { body: PAYMENT });
  await call(`shipments/${paid}/cancel`, { body: { reason: "other", note: "Moved" } });
  await call(`shipments/${paid}/refunds`, { body: {} });
  await call(`shipments/${reference}/advance`, { body: {} });
  await call("search?text=ada&limit=3");
  await call("shipment_counts");
  const both = { shipments: [reference, NO_REFERENCE] };
  await call("shipments/advance/batch", { body: both });
  await call("shipments/cancel/batch", { body: { ...both, reason: "other" } });
  const payments = [{ shipment: reference, ...PAYMENT }];
  await call("shipments/payments/batch", { body: { payments } });
  await call("shipments/export?status=in_transit");
  await call("shipments?status=in_transit&page_size=1&created_after=2020-01-01T00:00:00Z");
  await call(`customers/${customer.id}/shipments?payment_status=paid`);
  await call(`customers/${customer.id}`);
  const text = { email: "grace@example.org", id_number: "", phone: "555", notes: "Rings twice" };
  const at = { address: "1 Main St", lat: 40.7, lng: -73.9 };
  const change = { method: "PATCH", body: { ...text, default_pickup: at } };
  await call(`customers/${customer.id}`, change);
  await call("customers?page_size=1");
  await call("customers?page_size=1&figures=true");
  const other = await book({ customer_email: "other@example.org" });
  await call(`customers/${customer.id}/merge`, { body: { from: other.customer.id } });
  await call(`shipments/${reference}/events`);
  await call("events?types=shipment.created&types=shipment.paid");
});

test("the answers on addresses are as the OpenAPI document says", async () => {
  const { customer } = await book();
  await call("addresses?query=new%20york&lat=40.7&lng=-74&limit=3");
  await call("addresses?query=nowhere");
  await call("addresses/reverse?lat=40.73&lng=-73.986");
  await call("addresses/reverse?lat=0&lng=0");
  await call(`customers/${customer.id}/addresses?limit=2`);
});

test("the answers on a workspace are as the OpenAPI document says", async () => {
  await call("workspace");
  await call("workspace", { method: "PATCH", body: { time_zone: "Asia/Tokyo" } });
  await call("usage");
  const { apiKey } = workspace.twin;
  const simulation = { scenario: "deliver", step_seconds: 60 };
  const { reference } = (await call("shipments", { apiKey, body: { ...BOOKING, simulation } }))
    .data;
  await call(`test/shipments/${reference}/steps`, { apiKey, body: { step: "pay" } });
  await call("test/clock", { apiKey, body: {} });
  await call("test/clock", { apiKey });
  await call("test/clock", { apiKey, method: "DELETE" });
  await call("test/data", { apiKey, method: "DELETE" });
  await call("overview?from_date=2026-01-01&to_date=2026-01-03");
  await call("attention");
});

test("the answers on payments at a provider are as the OpenAPI document says", async () => {
  const { apiKey, account } = await payments.connect();
  const by = { apiKey };
  const { reference } = (await call("shipments", { ...by, body: BOOKING })).data;
  await call(`shipments/${reference}/checkout`, { ...by, body: PAGE_URLS });
  stripe.pay(sessionOf(stripe, account, reference));
  stripe.refundsBecome(account, "failed");
  await call(`shipments/${reference}/payments`, { ...by, body: PAYMENT });
  await call(`shipments/${reference}/cancel`, { ...by, body: {} });
  await eventually("the refund to fail", async () => {
    const { data } = await call(`shipments/${reference}`, by);
    return data.payment_details.refund_error !== null;
  });
  await call(`shipments/${reference}/refunds/retry`, { ...by, body: {} });
  const uncounted = (await call("shipments", { ...by, body: BOOKING })).data.reference;
  await call(`shipments/${uncounted}/checkout`, { ...by, body: PAGE_URLS });
  const session = sessionOf(stripe, account, uncounted);
  stripe.books(account).session(session).amount_total = 900;
  stripe.pay(session);
  await stripe.deliverNotices();
  await eventually("the money not to count", async () => {
    const { data } = await call(`shipments/${uncounted}`, by);
    return data.payment_details.uncounted;
  });
  await call("attention", by);
  await call(`shipments/${uncounted}/payments/accept`, { ...by, body: {} });
  const other = await service.addWorkspace({ paymentProvider: undefined });
  const byOther = { apiKey: other.apiKey };
  await call("payment_connection", byOther);
  const begin = { payment_provider: "stripe", ...RETURN_URLS };
  await call("payment_connection", { ...byOther, body: begin });
  await call("payment_connection", byOther);
  await call("payment_connection/check", { ...byOther, body: {} });
  const key = stripe.addKey(stripe.addAccount());
  const body = { payment_provider: "stripe", restricted_key: key, webhook_secret: "whsec_own" };
  await call("payment_connection/key", { ...byOther, method: "PUT", body });
  await call("payment_connection", { ...byOther, method: "DELETE" });
});

test("the answers on webhooks, and what they are sent, are as the OpenAPI document says", async () => {
  const receiver = await startReceiver();
  const { id } = (await call("webhooks", { body: { url: receiver.url } })).data;
  await call("webhooks");
  await call(`webhooks/${id}`);
  await call(`webhooks/${id}/test`, { body: {} });
  await book();
  await eventually("both messages", () => receiver.received.length >= 2);
  await receiver.close();
  for (const { headers, body } of receiver.received) {
    const place = ["webhooks", body.type, "post"];
    const { parameters } = DESCRIPTION.webhooks[body.type].post;
    for (const [i, { name }] of parameters.entries()) {
      checked.assertFollows(headers[name], ...place, "parameters", String(i), "schema");
    }
    checked.assertFollows(
      body,
      ...place,
      "requestBody",
      "content",
      headers["content-type"]!,
      "schema",
    );
  }
  const event = receiver.received[0]!.body.id;
  const delivery = (await call(`webhooks/${id}/deliveries`, { body: { event } })).data;
  await eventually("an attempt", async () => {
    const { data } = await call(`webhooks/${id}/deliveries/${delivery.id}/attempts`);
    return data.length > 0;
  });
  await call(`webhooks/${id}/deliveries?page_size=2`);
  await call(`webhooks/${id}/rotate_secret`, { body: { overlap_seconds: 0 } });
  await call(`webhooks/${id}`, { method: "PATCH", body: { enabled: false } });
  await call(`webhooks/${id}`, { method: "DELETE" });
});

test("the coverage is as the OpenAPI document says, also for a caller who has it", async () => {
  const { apiKey } = workspace;
  const headers = { "accept-encoding": "identity" };
  const path = "/v1/coverage?tolerance_m=10";
  const first = await checked.call(service, path, { apiKey, headers });
  const etag = first.headers.get("etag")!;
  const again = { apiKey, headers: { ...headers, "if-none-match": etag } };
  expect((await checked.call(service, path, again)).status).toBe(304);
  const points = [
    { lat: COVERED_ROUTE.pickup_lat, lng: COVERED_ROUTE.pickup_lng },
    { lat: 0, lng: 0 },
  ];
  await call("coverage/zones", { body: { points } });
});

test("the answers on tariffs are as the OpenAPI document says", async () => {
  const { zones, source: _, ...fees } = SAMPLE_TARIFF as Record<string, any>;
  const begin = async (base_fee: string) => {
    const body = { name: "Spring", fees: { ...fees, base_fee } };
    const draft = (await admin("tariff_drafts", { body })).data.id;
    await admin(`tariff_drafts/${draft}/zones`, { method: "PUT", body: JSON.stringify(zones) });
    return draft;
  };
  const again = (path: string) => admin(path, { headers: { "if-none-match": "*" } });
  const draft = await begin("6.00");
  await admin("tariff_drafts");
  await admin(`tariff_drafts/${draft}`);
  await admin(`tariff_drafts/${draft}`, { method: "PATCH", body: { name: "Summer" } });
  await admin(`tariff_drafts/${draft}/zones`);
  await admin(`tariff_drafts/${draft}/schedules`);
  await again(`tariff_drafts/${draft}/zones`);
  await admin(`tariff_drafts/${draft}/check`, { body: {} });
  await book();
  await admin(`tariff_drafts/${draft}/replay`, {
    body: { shipments: 10, routes: [COVERED_ROUTE] },
  });
  await admin(`tariff_drafts/${draft}/publish`, { body: { replaces: 1, note: "Fuel" } });
  await admin("tariff");
  await admin("tariff_versions?page_size=1");
  await admin("tariff_versions/2");
  await admin("tariff_versions/2/zones");
  await admin("tariff_versions/2/schedules");
  await again("tariff_versions/2/zones");
  await admin("tariff_comparison?from_version=1&to_version=2");
  await admin("tariff_versions/1/roll_back", { body: { replaces: 2 } });
  const later = await begin("7.00");
  const effective_at = new Date(Date.now() + 3_600_000).toISOString();
  await admin(`tariff_drafts/${later}/publish`, { body: { replaces: 3, effective_at } });
  await admin("tariff_versions/4/call_off", { body: {} });
  const unused = await begin("8.00");
  await admin(`tariff_drafts/${unused}`, { method: "DELETE" });
});

test("the answers to all other calls of workspaces and operators are as the OpenAPI document says", async () => {
  const request: typeof service.request = (path, options) => checked.call(service, path, options);
  const calls = createMethodCalls(
    { ...service, request },
    {
      workspace,
      paying: await service.addWorkspace(),
      stripe,
      operator: { key: operatorKey },
      mark: "text",
      text: "Some text",
    },
  );
  const methods = [
    ...(await describedMethods("workspace")),
    ...(await describedMethods("operator")),
  ];
  for (const method of methods.filter((it) => !wasSeen(it))) {
    await calls.call(method, await calls.validFields(method));
  }
});

/** Whether a method's operation was seen to succeed. */
function wasSeen({ name, parent }: DescMethod): boolean {
  const prefix = parent.typeName.startsWith("shipments.admin.") ? "admin" : "";
  const operation = new RegExp(`^${prefix}${name} 2`, "i");
  return [...checked.seen].some((it) => operation.test(it));
}

test("the answers to a person who has signed in are as the OpenAPI document says", async () => {
  const email = "ida@example.org";
  const person = await signIn(service, workspace.apiKey, { email, role: "viewer" });
  const { body } = await service.request("/v1/members", {
    apiKey: workspace.apiKey,
    body: { email },
  });
  await signInByPath(service, body.sign_in_path);
  await checked.call(person, "/account/v1/account");
  await checked.call(person, "/account/v1/account", { method: "PATCH", body: { name: "Ida" } });
  const sessions = (await checked.call(person, "/account/v1/sessions")).body.data;
  const other = sessions.find(({ current }: { current: boolean }) => !current);
  await checked.call(person, `/account/v1/sessions/${other.id}`, { method: "DELETE" });
  const filters = `/account/v1/workspaces/${workspace.id}/saved_filters`;
  const filter = { name: "To pay", query: "status=1" };
  const saved = await checked.call(person, filters, { body: filter });
  const one = `${filters}/${saved.body.data.id}`;
  await checked.call(person, one, { method: "PATCH", body: { name: "Not paid" } });
  await checked.call(person, filters);
  await checked.call(person, one, { method: "DELETE" });
});

test("refusals are as the OpenAPI document says", async () => {
  const seenBefore = new Set(checked.seen);
  const unprepared = await startUnprepared();
  const wrong = { ...BOOKING, weight_kg: 0 };
  await call("shipments", { body: "{" });
  await call("shipments", { body: wrong, mayBreakRules: true });
  await call("shipments", { body: { ...BOOKING, pickup_lat: 0 } });
  await call("shipments", { body: BOOKING, headers: { "connect-timeout-ms": "0" } });
  await admin("tariff_comparison?from_version=1&to_version=99");
  await checked.call(unprepared, "/v1/shipments/quote", {
    apiKey: workspace.apiKey,
    body: COVERED_ROUTE,
  });
  await unprepared.app.close();

  expect([...checked.seen].filter((it) => !seenBefore.has(it)).toSorted()).toEqual([
    "adminCompareTariffVersions 404",
    "createShipment 400",
    "createShipment 422",
    "createShipment 504",
    "quoteShipment 503",
  ]);
});

test("the examples of refusals in the OpenAPI document are what its operations answer", async () => {
  const { reference } = await book();
  const small = await service.addWorkspace();
  const limits = { read: { rate: 1, burst: 1 }, quote: { rate: 1, burst: 1 } };
  await admin(`workspaces/${small.id}/limits`, { method: "PATCH", body: limits });
  const viewer = (await service.addOperator("viewer")).key;
  const draft = (await admin("tariff_drafts", { body: { name: "Autumn" } })).data.id;
  const text = { "content-type": "text/plain" };
  const stale = { method: "PATCH", body: { etag: "old" } };
  const limited = (path: string, body?: object) =>
    eventually(`a refusal by the limit of ${path}`, async () => {
      const { status, body: said } = await checked.call(service, path, {
        apiKey: small.apiKey,
        body,
      });
      return status === 429 && said;
    });
  const without = async (path: string, body?: object) =>
    (await checked.call(service, path, { body })).body;

  const said: readonly (readonly [string, string, string, unknown])[] = [
    ["createShipment", "401", "CREDENTIAL_REFUSED", await without("/v1/shipments", BOOKING)],
    ["adminGetSelf", "401", "CREDENTIAL_REFUSED", await without("/admin/v1/self")],
    ["getAccount", "401", "CREDENTIAL_REFUSED", await without("/account/v1/account")],
    [
      "adminCreateWorkspace",
      "403",
      "ROLE_INSUFFICIENT",
      await admin("workspaces", { body: { name: "Shop" }, apiKey: viewer }),
    ],
    ["getShipment", "404", "SHIPMENT_NOT_FOUND", await call(`shipments/${NO_REFERENCE}`)],
    ["updateShipment", "409", "ETAG_STALE", await call(`shipments/${reference}`, stale)],
    ["adminUpdateTariffDraft", "409", "ETAG_STALE", await admin(`tariff_drafts/${draft}`, stale)],
    [
      "createShipment",
      "413",
      "BODY_TOO_LARGE",
      await call("shipments", { body: "x".repeat(70_000) }),
    ],
    [
      "createShipment",
      "415",
      "BODY_NOT_JSON",
      await call("shipments", { body: BOOKING, headers: text }),
    ],
    [
      "adminUploadTariffZones",
      "415",
      "BODY_NOT_JSON",
      await admin(`tariff_drafts/${draft}/zones`, {
        method: "PUT",
        body: "{}",
        headers: { "content-encoding": "gzip" },
      }),
    ],
    [
      "createWebhook",
      "422",
      "FIELD_INVALID",
      await call("webhooks", { body: {}, mayBreakRules: true }),
    ],
    [
      "batchQuoteShipments",
      "422",
      "FIELD_INVALID",
      await call("shipments/quote/batch", { body: { routes: {} }, mayBreakRules: true }),
    ],
    ["listShipments", "422", "FIELD_INVALID", await call("shipments?status=lost")],
    ["getCustomer", "422", "FIELD_INVALID", await call("customers/ada")],
    ["getWebhook", "422", "FIELD_INVALID", await call("webhooks/%00")],
    ["adminListTariffVersions", "422", "FIELD_INVALID", await admin("tariff_versions?page_size=x")],
    ["listCustomers", "429", "RATE_LIMITED", await limited("/v1/customers")],
    ["quoteShipment", "429", "RATE_LIMITED", await limited("/v1/shipments/quote", COVERED_ROUTE)],
  ];
  for (const [operationId, status, reason, body] of said) {
    expect([operationId, body]).toEqual([operationId, exampleOf(operationId, status, reason)]);
  }
  await admin(`tariff_drafts/${draft}`, { method: "DELETE" });
});

/** What the document's example of an operation's refusal for a reason says. */
function exampleOf(operationId: string, status: string, reason: string): unknown {
  const operations = Object.values<any>(DESCRIPTION.paths).flatMap((it) => Object.values<any>(it));
  const { $ref } = operations.find((it) => it.operationId === operationId).responses[status];
  const response = DESCRIPTION.components.responses[$ref.split("/").at(-1)];
  const { code, request_id, ...said } = response.content["application/json"].examples[reason].value;
  expect([code, request_id]).toEqual([reason, expect.any(String)]);
  return said;
}

test("these tests have seen the answer to success of every operation of the OpenAPI document", () => {
  const operations = Object.values<any>(DESCRIPTION.paths).flatMap((it) => Object.values<any>(it));
  const successes = operations.flatMap(({ operationId, responses }) =>
    Object.keys(responses)
      .filter((status) => /^[23]/.test(status))
      .map((status) => `${operationId} ${status}`),
  );
  expect(successes.filter((it) => !checked.seen.has(it))).toEqual([]);
});
