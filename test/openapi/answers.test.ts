import { expect, test } from "vitest";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { SAMPLE_PICTURES } from "../../src/features/test-mode/sample-pictures.ts";
import { bookAnd, BOOKING, COVERED_ROUTE, NO_REFERENCE, PAYMENT } from "../support/bookings.ts";
import { createCheckedCalls, DESCRIPTION, type CheckedOptions } from "../support/api-description.ts";
import { signIn, signInByPath } from "../support/browser.ts";
import { describedMethods } from "../support/described-services.ts";
import { eventually } from "../support/eventually.ts";
import { startGeocoder } from "../support/geocoder.ts";
import { createMethodCalls } from "../support/method-calls.ts";
import { startReceiver } from "../support/receiver.ts";
import { createRestrictedDatabase } from "../support/restricted-database.ts";
import { startUnprepared } from "../support/service.ts";
import { startStripeService } from "../support/stripe-service.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";

// Runs the service with the restricted role from the guide on production databases.
const geocoder = await startGeocoder("pelias");
const { service, stripe } = await startStripeService({
  database: await createRestrictedDatabase(),
  ...geocoder.settings,
});
const workspace = await service.addWorkspace();
const operator = await service.addOperator();
const operatorKey = operator.key;

const checked = createCheckedCalls();
const request: typeof service.request = (path, options) => checked.call(service, path, options);
const calls = createMethodCalls({ ...service, request }, { workspace, stripe, operator });

/** Calls with the workspace's key. Returns the body, which must conform to the document. */
async function call(path: string, options: CheckedOptions = {}): Promise<any> {
  const { apiKey } = workspace;
  return (await checked.call(service, `/v1/${path}`, { apiKey, ...options })).body;
}

/** Calls with the operator's key, like `call`. */
async function admin(path: string, options: CheckedOptions = {}): Promise<any> {
  const all = { apiKey: operatorKey, ...options };
  return (await checked.call(service, `/admin/v1/${path}`, all)).body;
}

const book = async (fields: object = {}) => (await call("shipments", { body: { ...BOOKING, ...fields } })).data;

test("quotes match the OpenAPI document, including uncovered routes", async () => {
  await call("shipments/quote", { body: COVERED_ROUTE });
  await call("shipments/quote", { body: { ...COVERED_ROUTE, pickup_lat: 0 } });
  await call("quotes", { body: COVERED_ROUTE });
  await call("quotes", { body: { ...COVERED_ROUTE, pickup_lat: 0 } });
  const faulty = { ...COVERED_ROUTE, weight_kg: "heavy" };
  const body = { routes: [COVERED_ROUTE, faulty] };
  await call("shipments/quote/batch", { body, mayBreakRules: true });
  await call("quotes/batch", { body, mayBreakRules: true });
});

test("the examples of the OpenAPI document can be used to quote, book and pay", async () => {
  const exampleOf = (path: string) => DESCRIPTION.paths[path].post.requestBody.content["application/json"].example;
  const route = exampleOf("/v1/shipments/quote");
  expect((await call("shipments/quote", { body: route })).covered).toBe(true);
  const { data } = await call("shipments", { body: exampleOf("/v1/shipments") });
  const payment = exampleOf("/v1/shipments/{shipment}/payments");
  const paid = await call(`shipments/${data.reference}/payments`, { body: payment });
  expect(paid.data).toMatchObject({ payment_status: "paid", total: payment.amount });
});

test("responses to all calls of workspaces and operators match the OpenAPI document", async () => {
  const methods = [...(await describedMethods("workspace")), ...(await describedMethods("operator"))];
  for (const method of methods) await calls.call(method, await calls.validFields(method));
  const uncounted = ShipmentService.method.acceptUncountedPayment;
  await calls.validFields(uncounted);
  await call("attention", { apiKey: calls.callerOf(uncounted).apiKey });
});

test("responses for shipments and customers with all fields match the OpenAPI document", async () => {
  const fields = { external_reference: "4711", metadata: { floor: "3" } };
  const { reference, customer, etag } = await book(fields);
  const body = { etag, dropoff_address: "1 Main St", metadata: { floor: "4" } };
  await call(`shipments/${reference}`, { method: "PATCH", body });
  const headers = { "idempotency-key": "pay-1" };
  for (const _ of ["first", "again"]) {
    await call(`shipments/${reference}/payments`, { body: PAYMENT, headers });
  }
  await call(`shipments/${reference}/courier`, { method: "PUT", body: { name: "Ada" } });
  const progress = { stage: "at_pickup", pickup_eta: new Date(Date.now() + 3_600_000).toISOString() };
  await call(`shipments/${reference}/progress`, { body: progress });
  await call(`shipments/${reference}/attempts`, { body: { reason: "other", note: "Dog" } });
  await call(`shipments/${reference}/cancel`, { body: { reason: "other", note: "Moved" } });
  await call("shipments?status=cancelled&page_size=1&created_after=2020-01-01T00:00:00Z");
  await call("shipments/export?status=cancelled");
  await call(`customers/${customer.id}/shipments?payment_status=refunded`);
  const text = { email: "grace@example.org", id_number: "", phone: "555", notes: "Rings twice" };
  const at = { address: "1 Main St", lat: 40.7, lng: -73.9 };
  const change = { method: "PATCH", body: { ...text, default_pickup: at } };
  await call(`customers/${customer.id}`, change);
  await call("customers?page_size=1&figures=true");
  await call("events?types=shipment.created&types=shipment.paid");
});

test("responses for addresses match the OpenAPI document", async () => {
  const { customer } = await book();
  await call("addresses?query=new%20york&lat=40.7&lng=-74&limit=3");
  await call("addresses?query=nowhere");
  await call("addresses/reverse?lat=40.73&lng=-73.986");
  await call("addresses/reverse?lat=0&lng=0");
  await call(`customers/${customer.id}/addresses?limit=2`);
});

test("responses for a simulation and a report match the OpenAPI document", async () => {
  const { apiKey } = workspace.twin;
  const simulation = { scenario: "deliver", step_seconds: 60 };
  await call("shipments", { apiKey, body: { ...BOOKING, simulation } });
  await call("overview?from_date=2026-01-01&to_date=2026-01-03");
});

test("responses for webhooks and webhook messages match the OpenAPI document", async () => {
  const receiver = await startReceiver();
  const { id } = (await call("webhooks", { body: { url: receiver.url } })).data;
  await call(`webhooks/${id}/test`, { body: {} });
  await book();
  await eventually("both messages", () => receiver.received.length >= 2);
  await receiver.close();
  for (const { headers, body } of receiver.received) {
    const operation = ["webhooks", body.type, "post"];
    const { parameters } = DESCRIPTION.webhooks[body.type].post;
    for (const [i, { name }] of parameters.entries()) {
      checked.assertFollows(headers[name], ...operation, "parameters", String(i), "schema");
    }
    checked.assertFollows(body, ...operation, "requestBody", "content", headers["content-type"]!, "schema");
  }
  const event = receiver.received[0]!.body.id;
  const delivery = (await call(`webhooks/${id}/deliveries`, { body: { event } })).data;
  await eventually("an attempt", async () => {
    const { data } = await call(`webhooks/${id}/deliveries/${delivery.id}/attempts`);
    return data.length > 0;
  });
});

/** Headers of a response that can be cached. */
const KEPT = {
  "the coverage": async () => "/v1/coverage?tolerance_m=10",
  "a photo": async () => proofPath("photo"),
  "a signature": async () => proofPath("signature"),
};

async function proofPath(kind: keyof typeof SAMPLE_PICTURES): Promise<string> {
  const { reference } = await bookAnd(service, workspace.apiKey, ["pay", "advance"]);
  const path = `/v1/shipments/${reference}/proof`;
  const body = { [kind]: SAMPLE_PICTURES[kind].toString("base64") };
  await service.request(path, { apiKey: workspace.apiKey, body });
  return `${path}/${kind}`;
}

test.each(Object.entries(KEPT))("%s matches the OpenAPI document, also for a caller that has it", async (_, pathOf) => {
  const { apiKey } = workspace;
  const headers = { "accept-encoding": "identity" };
  const path = await pathOf();
  const first = await checked.call(service, path, { apiKey, headers });
  const etag = first.headers.get("etag")!;
  const again = { apiKey, headers: { ...headers, "if-none-match": etag } };
  expect((await checked.call(service, path, again)).status).toBe(304);
});

test("responses to calls with Simulate have the header Simulated, as the OpenAPI document says", async () => {
  const path = "/v1/coverage";
  const { responses } = DESCRIPTION.paths[path].get;
  const headers = { simulate: "slow=1" };
  const { apiKey } = workspace;
  const first = await checked.call(service, path, { apiKey, headers });
  const known = { ...headers, "if-none-match": first.headers.get("etag")! };
  for (const { status, headers: sent } of [first, await checked.call(service, path, { apiKey, headers: known })]) {
    expect([sent.has("simulated"), "Simulated" in responses[status].headers]).toEqual([true, true]);
  }
});

test("zones of points match the OpenAPI document", async () => {
  const points = [
    { lat: COVERED_ROUTE.pickup_lat, lng: COVERED_ROUTE.pickup_lng },
    { lat: 0, lng: 0 },
  ];
  await call("coverage/zones", { body: { points } });
});

test("responses for tariff changes and cached zones match the OpenAPI document", async () => {
  const { zones, source: _, ...fees } = SAMPLE_TARIFF as Record<string, any>;
  const body = { name: "Spring", fees: { ...fees, base_fee: "6.00" } };
  const draft = (await admin("tariff_drafts", { body })).data.id;
  await admin(`tariff_drafts/${draft}/zones`, { method: "PUT", body: JSON.stringify(zones) });
  await book();
  await admin(`tariff_drafts/${draft}/replay`, {
    body: { shipments: 10, routes: [COVERED_ROUTE] },
  });
  const { version: replaces } = (await admin("tariff")).data;
  const published = await admin(`tariff_drafts/${draft}/publish`, { body: { replaces } });
  const { version } = published.data;
  const again = (path: string) => admin(path, { headers: { "if-none-match": "*" } });
  await again(`tariff_versions/${version}/zones`);
  await again(`tariff_drafts/${(await admin("tariff_drafts")).data[0].id}/zones`);
  await admin("tariff_versions?page_size=1");
  await admin(`tariff_comparison?from_version=${replaces}&to_version=${version}`);
  await admin(`tariff_versions/${replaces}/roll_back`, { body: { replaces: version } });
});

test("responses to a signed-in person match the OpenAPI document", async () => {
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

test("errors match the OpenAPI document", async () => {
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

test("operations return the example errors of the OpenAPI document", async () => {
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
      const { status, body: responseBody } = await checked.call(service, path, {
        apiKey: small.apiKey,
        body,
      });
      return status === 429 && responseBody;
    });
  const without = async (path: string, body?: object) => (await checked.call(service, path, { body })).body;

  const examples: readonly (readonly [string, string, string, unknown])[] = [
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
    ["createShipment", "413", "BODY_TOO_LARGE", await call("shipments", { body: "x".repeat(70_000) })],
    ["createShipment", "415", "BODY_NOT_JSON", await call("shipments", { body: BOOKING, headers: text })],
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
    ["createWebhook", "422", "FIELD_INVALID", await call("webhooks", { body: {}, mayBreakRules: true })],
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
  for (const [operationId, status, reason, body] of examples) {
    expect([operationId, body]).toEqual([operationId, exampleOf(operationId, status, reason)]);
  }
  await admin(`tariff_drafts/${draft}`, { method: "DELETE" });
});

/** Returns the document's example for an operation's refusal with this reason. */
function exampleOf(operationId: string, status: string, reason: string): unknown {
  const operations = Object.values<any>(DESCRIPTION.paths).flatMap((it) => Object.values<any>(it));
  const { $ref } = operations.find((it) => it.operationId === operationId).responses[status];
  const response = DESCRIPTION.components.responses[$ref.split("/").at(-1)];
  const { code, request_id, ...example } = response.content["application/json"].examples[reason].value;
  expect([code, request_id]).toEqual([reason, expect.any(String)]);
  return example;
}

test("these tests have checked the success response of every operation in the OpenAPI document", () => {
  const operations = Object.values<any>(DESCRIPTION.paths).flatMap((it) => Object.values<any>(it));
  const successes = operations.flatMap(({ operationId, responses }) =>
    Object.keys(responses)
      .filter((status) => /^[23]/.test(status))
      .map((status) => `${operationId} ${status}`),
  );
  expect(successes.filter((it) => !checked.seen.has(it))).toEqual([]);
});
