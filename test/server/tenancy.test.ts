import { createHash } from "node:crypto";
import { fromJson, toJson, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { book, bookAnd, BOOKING, NO_REFERENCE, PAYMENT } from "../support/bookings.ts";
import { connectTo } from "../support/database.ts";
import { describedServices, httpCalls } from "../support/described-services.ts";
import { eventually } from "../support/eventually.ts";
import { startReceiver } from "../support/receiver.ts";
import { PROTOCOLS, rpcClient } from "../support/rpc-client.ts";
import { rpcError } from "../support/rpc-error.ts";
import { startService } from "../support/service.ts";
import { take } from "../support/take.ts";
import { addWebhook, deliveriesOf } from "../support/webhooks.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a field can name: a record of another workspace, paired with one that does not exist. */
type Name = readonly [pair: keyof typeof pairs, call: (it: string | number) => Fields];

/** A method's fields, by whether they can name a record of another workspace. */
interface Entry {
  /** For each field that can, which of the pairs it names, and a call that does. */
  readonly names?: Readonly<Record<string, Name>>;
  /** All the other fields. */
  readonly plain?: readonly string[];
  /** The fields with which a call that names nothing of the workspace succeeds. */
  readonly answered?: readonly string[];
}

/** A field that is all of a call, besides some others. */
const naming = (field: keyof typeof pairs, others: Fields = {}) => ({
  [field]: [field, (it) => ({ [field]: it, ...others })] satisfies Name,
});

const ROUTE = ["pickup_lat", "pickup_lng", "dropoff_lat", "dropoff_lng", "weight_kg"];
const ADDRESSES = ["pickup_address", "dropoff_address"];

/** The id of no webhook. */
const NO_WEBHOOK = `wh_${"0".repeat(24)}`;

/**
 * Every method of every service that workspaces call. A new one fails this test until it is listed here, with
 * the fields that name records and a call that names a foreign one.
 */
const ENTRIES: Readonly<Record<string, Entry>> = {
  "ShipmentService/QuoteShipment": { plain: ROUTE },
  "ShipmentService/BatchQuoteShipments": { plain: ["routes"] },
  "ShipmentService/CreateShipment": {
    names: {
      customer_id: ["customer", (customer_id) => ({ ...BOOKING, customer_id })],
      external_reference: [
        "externalReference",
        (external_reference) => ({ ...BOOKING, external_reference }),
      ],
      customer_email: ["email", (customer_email) => ({ ...BOOKING, customer_email })],
    },
    plain: [
      ...ROUTE,
      ...ADDRESSES,
      "customer_name",
      "customer_id_number",
      "metadata",
      "expected_total",
      "expected_currency",
    ],
    answered: ["customer_id", "external_reference", "customer_email"],
  },
  "ShipmentService/GetShipment": { names: naming("shipment") },
  "ShipmentService/ListShipments": {
    names: {
      customer_id: ["customer", (customer_id) => ({ customer_id })],
      external_reference: ["externalReference", (external_reference) => ({ external_reference })],
      page_token: ["shipmentsPageToken", (page_token) => ({ page_token, page_size: 1 })],
    },
    plain: ["status", "payment_status", "created_after", "created_before", "page_size"],
    answered: ["customer_id", "external_reference"],
  },
  "ShipmentService/UpdateShipment": {
    names: {
      ...naming("shipment", { etag: "1", pickup_address: "Mine now" }),
      customer_id: ["customer", (customer_id) => ({ shipment: own["reference"], customer_id })],
    },
    plain: [...ROUTE, ...ADDRESSES, "etag", "metadata", "clear"],
  },
  "ShipmentService/AdvanceShipment": { names: naming("shipment") },
  "ShipmentService/RecordPayment": {
    names: naming("shipment", { ...PAYMENT, amount: 1 }),
    plain: ["amount", "currency"],
  },
  "ShipmentService/RecordRefund": {
    names: { shipment: ["cancelledShipment", (shipment) => ({ shipment })] },
  },
  "ShipmentService/CancelShipment": {
    names: naming("shipment", { note: "Not mine" }),
    plain: ["reason", "note"],
  },
  "CustomerService/GetCustomer": { names: naming("customer") },
  "CustomerService/ListCustomers": {
    names: {
      ...naming("email"),
      name: ["customerName", (name) => ({ name })],
      page_token: ["customersPageToken", (page_token) => ({ page_token, page_size: 1 })],
    },
    plain: ["page_size"],
    answered: ["email", "name"],
  },
  "CustomerService/UpdateCustomer": {
    names: naming("customer", { id_number: "Mine now" }),
    plain: ["name", "email", "id_number"],
  },
  "WorkspaceService/GetWorkspace": {},
  "CoverageService/GetCoverage": { plain: ["tolerance_m"] },
  "EventService/ListShipmentEvents": {
    names: {
      ...naming("shipment"),
      page_token: [
        "shipmentEventsPageToken",
        (page_token) => ({ shipment: own["reference"], page_token, page_size: 1 }),
      ],
    },
    plain: ["page_size"],
  },
  "EventService/ListEvents": {
    names: { after: ["cursor", (after) => ({ after })] },
    plain: ["page_size", "types"],
  },
  "EventService/WatchEvents": {
    names: { after: ["cursor", (after) => ({ after })] },
    plain: ["types", "from_now"],
  },
  "WebhookService/CreateWebhook": {
    names: { url: ["webhookUrl", (url) => ({ url })] },
    plain: ["types"],
    answered: ["url"],
  },
  "WebhookService/ListWebhooks": {},
  "WebhookService/GetWebhook": { names: naming("webhook") },
  "WebhookService/UpdateWebhook": {
    names: {
      ...naming("webhook", { enabled: false }),
      url: ["webhookUrl", (url) => ({ webhook: ownWebhook, url })],
    },
    plain: ["clear", "types", "enabled"],
    answered: ["url"],
  },
  "WebhookService/DeleteWebhook": { names: naming("webhook") },
  "WebhookService/RotateWebhookSecret": {
    names: naming("webhook", { overlap_seconds: 0 }),
    plain: ["overlap_seconds"],
  },
  "WebhookService/TestWebhook": { names: naming("webhook") },
  "WebhookService/RedeliverEvent": {
    names: {
      webhook: ["webhook", (webhook) => ({ webhook, event: `evt_${own["reference"]}_1` })],
      event: ["event", (event) => ({ webhook: ownWebhook, event })],
    },
  },
  "WebhookService/ListWebhookDeliveries": {
    names: {
      ...naming("webhook"),
      page_token: [
        "deliveriesPageToken",
        (page_token) => ({ webhook: ownWebhook, page_token, page_size: 1 }),
      ],
    },
    plain: ["status", "page_size"],
  },
  "WebhookService/ListWebhookAttempts": {
    names: {
      webhook: ["webhook", (webhook) => ({ webhook, delivery: pairs.delivery.foreign })],
      delivery: ["delivery", (delivery) => ({ webhook: ownWebhook, delivery })],
    },
  },
  "ApiKeyService/ListApiKeys": {},
  "ApiKeyService/CreateApiKey": { plain: ["name", "scope"] },
  "ApiKeyService/UpdateApiKey": {
    names: { key: ["apiKey", (key) => ({ key, name: "Mine now" })] },
    plain: ["name", "scope"],
  },
  "ApiKeyService/RotateApiKey": {
    names: { key: ["apiKey", (key) => ({ key, overlap_seconds: 0 })] },
    plain: ["overlap_seconds"],
  },
  "ApiKeyService/RevokeApiKey": { names: { key: ["apiKey", (key) => ({ key })] } },
  "MemberService/ListMembers": {},
  // Makes a person a member of the caller's workspace alone; other memberships do not show.
  "MemberService/InviteMember": { plain: ["email", "name", "role"] },
  "MemberService/UpdateMember": {
    names: { person: ["member", (person) => ({ person, role: 1 })] },
    plain: ["role"],
  },
  "MemberService/RemoveMember": { names: { person: ["member", (person) => ({ person })] } },
  "ReportService/GetUsage": {},
  "ReportService/GetOverview": { plain: ["from_date", "to_date"] },
};

const SERVICES = await describedServices("workspace");
const METHODS = SERVICES.flatMap((service) =>
  service.methods.map((method) => [`${service.name}/${method.name}`, service, method] as const),
);

const service = await startService();
const receiver = await startReceiver();
const sql = await connectTo(service.databaseUrl);
const other = await service.addWorkspace();
const caller = await service.addWorkspace();
const theirs = (await addWebhook(service, other.apiKey, { url: receiver.url })).data;
const ownWebhook = (await addWebhook(service, caller.apiKey, { url: `${receiver.url}/own` })).data
  .id;

const shipment = await bookAnd(service, other.apiKey, ["pay"], {
  customer_name: "Theirs",
  customer_email: "theirs@example.org",
  external_reference: "theirs",
});
const cancelled = await bookAnd(service, other.apiKey, ["pay", "cancel"]);
const own = await book(service, caller.apiKey, { customer_email: "own@example.org" });
await book(service, caller.apiKey, { customer_email: "own2@example.org" });
const firstPage = async (path: string) =>
  (await service.request(`${path}?page_size=1`, { apiKey: other.apiKey })).body;
const tokenOf = async (path: string) => (await firstPage(path)).next_page_token;
const shipmentsToken = await tokenOf("/v1/shipments");
const customersToken = await tokenOf("/v1/customers");
const shipmentEventsToken = await tokenOf(`/v1/shipments/${shipment["reference"]}/events`);
// From here on nothing of the other workspace may change by itself.
await eventually("the end of the deliveries", async () => {
  const deliveries = await deliveriesOf(service, other.apiKey, theirs.id);
  return deliveries.every(({ status }) => status === "delivered");
});
const [delivery] = await deliveriesOf(service, other.apiKey, theirs.id);
const deliveriesToken = await tokenOf(`/v1/webhooks/${theirs.id}/deliveries`);
// The feed waits for open transactions, also those of other tests.
await eventually("an event in the feed", async () => (await firstPage("/v1/events")).cursor !== "");
const { cursor } = await firstPage("/v1/events");
const keys = await service.request("/v1/api_keys", { apiKey: other.apiKey });
const { body: member } = await service.request("/v1/members", {
  apiKey: other.apiKey,
  body: { email: "member@example.org", role: "admin" },
});
const pairs = {
  shipment: { foreign: shipment["reference"], missing: NO_REFERENCE },
  cancelledShipment: { foreign: cancelled["reference"], missing: NO_REFERENCE },
  customer: { foreign: shipment["customer"].id, missing: 2 ** 40 },
  externalReference: { foreign: "theirs", missing: "nobody's" },
  email: { foreign: "theirs@example.org", missing: "nobody@example.org" },
  customerName: { foreign: "Theirs", missing: "Nobody" },
  shipmentsPageToken: { foreign: shipmentsToken, missing: madeUpToken(shipmentsToken) },
  customersPageToken: { foreign: customersToken, missing: madeUpToken(customersToken) },
  shipmentEventsPageToken: {
    foreign: shipmentEventsToken,
    missing: madeUpToken(shipmentEventsToken),
  },
  event: {
    foreign: `evt_${shipment["reference"]}_1`,
    missing: `evt_${NO_REFERENCE}_1`,
  },
  cursor: { foreign: cursor, missing: madeUpToken(cursor) },
  webhook: { foreign: theirs.id, missing: NO_WEBHOOK },
  webhookUrl: { foreign: receiver.url, missing: `${receiver.url}/nobody` },
  delivery: { foreign: delivery.id, missing: 2 ** 40 },
  deliveriesPageToken: { foreign: deliveriesToken, missing: madeUpToken(deliveriesToken) },
  member: { foreign: member.data.person, missing: 2 ** 40 },
  apiKey: { foreign: keys.body.data[0].id, missing: `key_${"0".repeat(24)}` },
};

/** A token of the same form that was never issued. */
function madeUpToken(token: string): string {
  const [, ...position] = JSON.parse(Buffer.from(token, "base64url").toString());
  return Buffer.from(JSON.stringify(["AAAAAAAA", ...position])).toString("base64url");
}

test("every method, and every field of its request, is listed in these tests", () => {
  expect(METHODS.map(([name]) => name).sort()).toEqual(Object.keys(ENTRIES).sort());
  for (const [name, , method] of METHODS) {
    const { names = {}, plain = [] } = ENTRIES[name]!;
    const sorted = [...Object.keys(names), ...plain].sort();
    expect(sorted, name).toEqual(method.input.fields.map((field) => field.name).sort());
  }
});

const CASES = METHODS.flatMap(([name, desc, method]) =>
  Object.keys(ENTRIES[name]?.names ?? {}).map((field) => [name, field, desc, method] as const),
);

describe("a foreign record is indistinguishable from a missing one", () => {
  test.each(CASES)("%s by %s", async (name, field, desc, method) => {
    const entry = ENTRIES[name]!;
    const [pair, call] = entry.names![field]!;
    const { foreign, missing } = pairs[pair];
    const answered = entry.answered?.includes(field) ?? false;
    const before = await othersRecords();
    for (const ask of [askHttp, askGrpc]) {
      const ofForeign = await ask(desc, method, call(foreign), answered);
      const ofMissing = await ask(desc, method, call(missing), answered);
      expect(comparable(ofForeign, foreign, answered)).toEqual(
        comparable(ofMissing, missing, answered),
      );
      expect(await othersRecords()).toEqual(before);
      // A booking on one server would collide with the same booking on the next.
      await sql.query("update shipment set external_reference = null where workspace_id = $1", [
        caller.id,
      ]);
    }
  });
});

/** A digest of all records of the other workspace. */
async function othersRecords(): Promise<string> {
  const { rows } = await sql.query(
    `select (select json_agg(s order by reference) from shipment s where workspace_id <> $1) shipments,
       (select json_agg(c order by id) from customer c where workspace_id <> $1) customers,
       (select json_agg(p order by shipment_reference) from payment p where workspace_id <> $1) payments,
       (select json_agg(e order by subject, number) from event e where workspace_id <> $1) events,
       (select json_agg(w order by id) from webhook w where workspace_id <> $1) webhooks,
       (select json_agg(d order by id) from webhook_delivery d where workspace_id <> $1) deliveries,
       (select json_agg(a order by delivery_id, number) from webhook_attempt a where workspace_id <> $1) attempts,
       (select json_agg(to_jsonb(k) - 'last_used_at' order by id) from api_key k
        where workspace_id <> $1) keys,
       (select json_agg(m order by person_id) from membership m where workspace_id <> $1) members`,
    [caller.id],
  );
  return createHash("sha256").update(JSON.stringify(rows)).digest("hex");
}

/**
 * The whole answers by JSON, on every path to the method; a stream has no path, and is called by
 * Connect.
 */
async function askHttp(_: DescService, method: DescMethod, fields: Fields, answered: boolean) {
  if (isStream(method))
    return refusalOfStream("Connect on the HTTP server", method, fields, answered);
  const calls = httpCalls(method, fields);
  expect(calls.length).toBeGreaterThan(0);
  return Promise.all(
    calls.map(async ({ method: httpMethod, path, body }) => {
      const { status, headers, text } = await service.request(path, {
        apiKey: caller.apiKey,
        method: httpMethod,
        ...(body === undefined ? {} : { body }),
        headers: { "x-request-id": "the-same" },
      });
      expect(status < 300, text).toBe(answered);
      expect(status).toBeLessThan(500);
      const steady = [...headers].filter(([header]) => !["date", "ratelimit"].includes(header));
      return { status, headers: steady, text };
    }),
  );
}

/** The whole answer by gRPC. */
async function askGrpc(desc: DescService, method: DescMethod, fields: Fields, answered: boolean) {
  if (isStream(method)) return refusalOfStream("gRPC on the gRPC server", method, fields, answered);
  const client = service.grpcClient(caller.apiKey, desc) as Record<
    string,
    (request: unknown) => Promise<any>
  >;
  const call = client[method.localName]!(fromJson(method.input, fields as any));
  if (!answered) return { refusal: await rpcError(call) };
  return { text: JSON.stringify(toJson(method.output, await call)) };
}

function isStream(method: DescMethod): boolean {
  return method.methodKind === "server_streaming";
}

/** The error that a stream ends with, by the given protocol. */
async function refusalOfStream(
  protocol: keyof typeof PROTOCOLS,
  method: DescMethod,
  fields: Fields,
  answered: boolean,
) {
  expect([method.name, answered]).toEqual(["WatchEvents", false]);
  const client = rpcClient(EventService, PROTOCOLS[protocol], service, caller.apiKey);
  const request = fromJson(method.input, fields as any);
  return { refusal: await rpcError(take(1, client.watchEvents(request as any))) };
}

/**
 * Answers in comparable form: errors unchanged; others without random references and ids and times,
 * and without what the call itself named.
 */
function comparable(answer: unknown, named: string | number, answered: boolean): unknown {
  if (!answered) return answer;
  return JSON.stringify(answer)
    .replaceAll(/SHP-[0-9A-Z]{12}/g, "a reference")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time")
    .replaceAll(/wh_[0-9a-f]{24}/g, "a webhook")
    .replaceAll(/whsec_[A-Za-z0-9+/]+=/g, "a secret")
    .replaceAll(/\\"id\\":(\\")?\d+/g, "an id")
    .replaceAll(/\["content-length","\d+"\]/g, "a length")
    .replaceAll(typeof named === "string" ? named : "no text", "what was named");
}
