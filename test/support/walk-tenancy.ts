import { createHash } from "node:crypto";
import {
  fromJson,
  toJson,
  type DescMethod,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { book, bookAnd, BOOKING, COVERED_ROUTE, NO_REFERENCE, PAYMENT } from "./bookings.ts";
import { connectTo } from "./database.ts";
import { describedServices, httpCalls } from "./described-services.ts";
import { eventually } from "./eventually.ts";
import { PAGE_URLS } from "./stripe-service.ts";
import { startReceiver } from "./receiver.ts";
import { PROTOCOLS, rpcClient } from "./rpc-client.ts";
import { rpcError } from "./rpc-error.ts";
import type { TestService, TestWorkspace } from "./service.ts";
import { SHIPMENT_TEXTS } from "./shipment-texts.ts";
import { take } from "./take.ts";
import { addWebhook, deliveriesOf } from "./webhooks.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Whose calls are tried on whose records. */
interface Sides {
  /** Whose records are not to be found. */
  readonly other: TestWorkspace;
  /** Who calls. */
  readonly caller: TestWorkspace;
  /** A live workspace with members that are not those of the caller. */
  readonly stranger: TestWorkspace;
}

/**
 * Registers tests that walk through every method and every field by which a call could name a record of
 * another workspace.
 */
export async function walkTenancy(
  service: TestService,
  { other, caller, stranger }: Sides,
): Promise<void> {
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
  const WINDOWS = ["pickup_window", "dropoff_window"];
  const FILTERS = ["status", "payment_status", "created_after", "created_before", "failed"];
  /** An external reference is the only one that finds a shipment. */
  const OTHER_TEXTS = SHIPMENT_TEXTS.map(({ name }) => name).filter(
    (name) => name !== "external_reference",
  );
  const TEXTS = ["pickup_address", "dropoff_address", ...OTHER_TEXTS];

  /** The id of no webhook. */
  const NO_WEBHOOK = `wh_${"0".repeat(24)}`;

  /** What a field names, by itself, in a method that has no entry. */
  const NAMED: Readonly<Record<string, keyof typeof pairs>> = {
    shipment: "shipment",
    customer: "customer",
    webhook: "webhook",
    key: "apiKey",
    person: "member",
  };

  /**
   * The methods of every service that workspaces call, with the fields that name records and a call that names a
   * foreign one. A new one that has other fields than those of `NAMED` fails this test until it is listed here.
   */
  const ENTRIES: Readonly<Record<string, Entry>> = {
    "ShipmentService/QuoteShipment": { plain: [...ROUTE, ...WINDOWS] },
    "ShipmentService/ListPickupSlots": { plain: [...ROUTE, "from_date", "days"] },
    "ShipmentService/BatchQuoteShipments": { plain: ["routes"] },
    "QuoteService/CreateQuote": { plain: [...ROUTE, ...WINDOWS, "valid_for_seconds"] },
    "QuoteService/BatchCreateQuotes": { plain: ["routes"] },
    "ShipmentService/CreateShipment": {
      names: {
        customer_id: ["customer", (customer_id) => ({ ...BOOKING, customer_id })],
        external_reference: [
          "externalReference",
          (external_reference) => ({ ...BOOKING, external_reference }),
        ],
        customer_email: ["email", (customer_email) => ({ ...BOOKING, customer_email })],
        quote_id: ["quote", (quote_id) => ({ ...BOOKING, quote_id })],
      },
      plain: [
        ...ROUTE,
        ...WINDOWS,
        ...TEXTS,
        "customer_name",
        "customer_id_number",
        "metadata",
        "expected_total",
        "expected_currency",
        "simulation",
      ],
      answered: ["customer_id", "external_reference", "customer_email"],
    },
    "ShipmentService/ListShipments": {
      names: {
        customer_id: ["customer", (customer_id) => ({ customer_id })],
        external_reference: ["externalReference", (external_reference) => ({ external_reference })],
        page_token: ["shipmentsPageToken", (page_token) => ({ page_token, page_size: 1 })],
      },
      plain: [...FILTERS, "page_size", "order_by"],
      answered: ["customer_id", "external_reference"],
    },
    "ShipmentService/CountShipments": {
      names: {
        customer_id: ["customer", (customer_id) => ({ customer_id })],
        external_reference: ["externalReference", (external_reference) => ({ external_reference })],
      },
      plain: FILTERS,
      answered: ["customer_id", "external_reference"],
    },
    "ShipmentService/ExportShipments": {
      names: {
        customer_id: ["customer", (customer_id) => ({ customer_id })],
        external_reference: ["externalReference", (it) => ({ external_reference: it })],
      },
      plain: ["status", "payment_status", "created_after", "created_before", "failed"],
      answered: ["customer_id", "external_reference"],
    },
    "ShipmentService/UpdateShipment": {
      names: {
        ...naming("shipment", { etag: "1", pickup_address: "Mine now" }),
        customer_id: ["customer", (customer_id) => ({ shipment: own["reference"], customer_id })],
      },
      plain: [...ROUTE, ...WINDOWS, ...TEXTS, "etag", "metadata", "clear"],
    },
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
    // Answered with a refusal in the result, which names what was asked.
    "ShipmentService/SearchShipments": {
      names: { text: ["email", (text) => ({ text })] },
      plain: ["limit"],
      answered: ["text"],
    },
    "ShipmentService/BatchAdvanceShipments": {
      names: { shipments: ["shipment", (it) => ({ shipments: [it] })] },
      plain: ["from"],
      answered: ["shipments"],
    },
    "ShipmentService/BatchCancelShipments": {
      names: { shipments: ["shipment", (it) => ({ shipments: [it], note: "Not mine" })] },
      plain: ["reason", "note"],
      answered: ["shipments"],
    },
    "ShipmentService/BatchRecordPayments": {
      names: { payments: ["shipment", (it) => ({ payments: [{ shipment: it, ...PAYMENT }] })] },
      answered: ["payments"],
    },
    "ShipmentService/CreateCheckout": {
      names: naming("shipment", PAGE_URLS),
      plain: ["success_url", "cancel_url", "expires_in_minutes"],
    },
    "PaymentConnectionService/BeginPaymentConnection": {
      plain: ["payment_provider", "return_url", "refresh_url"],
    },
    "PaymentConnectionService/SetPaymentKey": {
      plain: ["payment_provider", "restricted_key", "webhook_secret"],
    },
    "CustomerService/ListCustomers": {
      names: {
        ...naming("email"),
        name: ["customerName", (name) => ({ name })],
        page_token: ["customersPageToken", (page_token) => ({ page_token, page_size: 1 })],
      },
      plain: ["page_size", "figures"],
      answered: ["email", "name"],
    },
    "CustomerService/UpdateCustomer": {
      names: naming("customer", { id_number: "Mine now" }),
      plain: "name email id_number phone notes default_pickup default_dropoff clear etag".split(
        " ",
      ),
    },
    "CustomerService/MergeCustomers": {
      names: {
        ...naming("customer", { from: 2 ** 41 }),
        from: ["customer", (from) => ({ customer: own["customer"].id, from })],
      },
    },
    "WorkspaceService/UpdateWorkspace": { plain: ["time_zone"] },
    "AddressService/SearchAddresses": { plain: ["query", "lat", "lng", "limit"] },
    "AddressService/ReverseGeocode": { plain: ["lat", "lng"] },
    "AddressService/ListRecentAddresses": {
      names: naming("customer"),
      plain: ["limit"],
      answered: ["customer"],
    },
    "CoverageService/GetCoverage": { plain: ["tolerance_m"] },
    "CoverageService/FindZones": { plain: ["points"] },
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
    "WebhookService/UpdateWebhook": {
      names: {
        ...naming("webhook", { enabled: false }),
        url: ["webhookUrl", (url) => ({ webhook: ownWebhook, url })],
      },
      plain: ["clear", "types", "enabled"],
      answered: ["url"],
    },
    "WebhookService/RotateWebhookSecret": {
      names: naming("webhook", { overlap_seconds: 0 }),
      plain: ["overlap_seconds"],
    },
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
    "ApiKeyService/CreateApiKey": { plain: ["name", "scope"] },
    "ApiKeyService/UpdateApiKey": {
      names: { key: ["apiKey", (key) => ({ key, name: "Mine now" })] },
      plain: ["name", "scope"],
    },
    "ApiKeyService/RotateApiKey": {
      names: { key: ["apiKey", (key) => ({ key, overlap_seconds: 0 })] },
      plain: ["overlap_seconds"],
    },
    // Makes a person a member of the caller's workspace alone; other memberships do not show.
    "MemberService/InviteMember": { plain: ["email", "name", "role"] },
    "MemberService/UpdateMember": {
      names: { person: ["member", (person) => ({ person, role: 1 })] },
      plain: ["role"],
    },
    "TestService/TakeTestStep": { names: naming("shipment", { step: 1 }), plain: ["step"] },
    "TestService/MoveTestClock": { plain: ["time"] },
    "ReportService/GetOverview": { plain: ["from_date", "to_date"] },
  };

  const SERVICES = await describedServices("workspace");
  const METHODS = SERVICES.flatMap((of) =>
    of.methods.map((method) => [`${of.name}/${method.name}`, of, method] as const),
  );

  const entryOf = (name: string, { input }: DescMethod): Entry =>
    ENTRIES[name] ?? {
      names: Object.fromEntries(
        input.fields.flatMap(({ name: field }) =>
          NAMED[field] === undefined ? [] : [[field, [NAMED[field], (it) => ({ [field]: it })]]],
        ),
      ),
    };

  const receiver = await startReceiver();
  const sql = await connectTo(service.databaseUrl);
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
  await eventually(
    "an event in the feed",
    async () => (await firstPage("/v1/events")).cursor !== "",
  );
  const { cursor } = await firstPage("/v1/events");
  const keys = await service.request("/v1/api_keys", { apiKey: other.apiKey });
  const { body: member } = await service.request("/v1/members", {
    apiKey: stranger.apiKey,
    body: { email: "member@example.org", role: "admin" },
  });
  const asked = { apiKey: other.apiKey, body: COVERED_ROUTE };
  const quote = (await service.request("/v1/quotes", asked)).body.id as string;
  const pairs = {
    quote: { foreign: quote, missing: quote.toLowerCase() },
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
    expect(METHODS.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(ENTRIES)));
    for (const [name, , method] of METHODS) {
      const { names = {}, plain = [] } = entryOf(name, method);
      const sorted = [...Object.keys(names), ...plain].sort();
      expect(sorted, name).toEqual(method.input.fields.map((field) => field.name).sort());
    }
  });

  const CASES = METHODS.flatMap(([name, desc, method]) =>
    Object.keys(entryOf(name, method).names ?? {}).map(
      (field) => [name, field, desc, method] as const,
    ),
  );

  describe("a foreign record is indistinguishable from a missing one", () => {
    test.each(CASES)("%s by %s", async (name, field, desc, method) => {
      const entry = entryOf(name, method);
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

  /** The whole answers by HTTP, on every path to the method; a stream without a path is called by Connect. */
  async function askHttp(_: DescService, method: DescMethod, fields: Fields, answered: boolean) {
    const calls = httpCalls(method, fields);
    if (calls.length === 0)
      return askStream("Connect on the HTTP server", method, fields, answered);
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
    if (method.methodKind === "server_streaming")
      return askStream("gRPC on the gRPC server", method, fields, answered);
    const client = service.grpcClient(caller.apiKey, desc) as Record<
      string,
      (request: unknown) => Promise<any>
    >;
    const call = client[method.localName]!(fromJson(method.input, fields as any));
    if (!answered) return { refusal: await rpcError(call) };
    return { text: JSON.stringify(toJson(method.output, await call)) };
  }

  /** The messages of a stream by the given protocol, or the error that it ends with. */
  async function askStream(
    protocol: keyof typeof PROTOCOLS,
    method: DescMethod,
    fields: Fields,
    answered: boolean,
  ) {
    const client = rpcClient(method.parent, PROTOCOLS[protocol], service, caller.apiKey) as any;
    const stream = client[method.localName](fromJson(method.input, fields as any));
    if (!answered) return { refusal: await rpcError(take(1, stream)) };
    const messages = await take(Infinity, stream as AsyncIterable<Message>);
    return { text: JSON.stringify(messages.map((it) => toJson(method.output, it))) };
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
}
