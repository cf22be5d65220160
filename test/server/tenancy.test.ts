import { createHash } from "node:crypto";
import { getOption, ScalarType, type DescField, type DescMethod, type Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { field as rules } from "../../gen/buf/validate/validate_pb.js";
import { DISTRIBUTED_TABLES } from "../../src/db/citus/distributed.ts";
import { compileDecodeJson } from "../../src/json/decode-json.ts";
import { compileEncodeJson } from "../../src/json/encode-json.ts";
import { exampleBody } from "../support/api-description.ts";
import { BOOKING, book, bookAnd, COVERED_ROUTE, NO_REFERENCE } from "../support/bookings.ts";
import { connectTo } from "../support/database.ts";
import { describedMethods, httpCalls, pathFields } from "../support/described-services.ts";
import { eventually } from "../support/eventually.ts";
import { createMethodCalls, isOfProvider, type Fields } from "../support/method-calls.ts";
import { startReceiver } from "../support/receiver.ts";
import { PROTOCOLS, rpcClient } from "../support/rpc-client.ts";
import { rpcError } from "../support/rpc-error.ts";
import { sharedService, type TestWorkspace } from "../support/service.ts";
import { take } from "../support/take.ts";
import { addWebhook, deliveriesOf } from "../support/webhooks.ts";

/** A record of another workspace, paired with a nonexistent one. */
interface Pair {
  readonly foreign: string | number;
  readonly missing: string | number;
}

/** Pair that a field of this name refers to, in every method or in one. */
const NAMING: Readonly<Record<string, string>> = {
  shipment: "shipment",
  "ShipmentService.shipments": "shipment",
  "RecordPayment.shipment": "pending",
  payments: "pending",
  "RecordRefund.shipment": "cancelled",
  customer: "customer",
  customer_id: "customer",
  "MergeCustomers.from": "customer",
  customer_email: "email",
  "ListCustomers.email": "email",
  "ListCustomers.name": "customerName",
  "SearchShipments.text": "email",
  "ListCustomers.text": "email",
  external_reference: "externalReference",
  "ListCouriers.external_id": "courierExternalId",
  "AssignCourier.courier": "courier",
  courier_id: "courier",
  quote_id: "quote",
  event: "event",
  "ListEvents.subject": "shipment",
  after: "cursor",
  page_token: "pageToken",
  webhook: "webhook",
  url: "webhookUrl",
  delivery: "delivery",
  key: "apiKey",
  person: "member",
};

/** Fields that `couldName` finds although they name no record. */
const PLAIN = ["query", "method", "places"];

const METHODS = await describedMethods("workspace");

/** Returns the pair that a field of a method refers to. */
function pairOf({ name, parent }: DescMethod, field: string): string | undefined {
  const candidates = [`${name}.${field}`, `${parent.name}.${field}`, field];
  return NAMING[candidates.find((candidate) => candidate in NAMING) ?? ""];
}

/** Fields in paths, which name records. */
const IN_PATHS = METHODS.flatMap(pathFields);

/** Whether a field is an id, has the name of one, or is any text of a read. */
function couldName({ idempotency }: DescMethod, field: DescField): boolean {
  const { name, fieldKind, message, scalar } = field;
  if (message !== undefined) return message.fields.some((inner) => IN_PATHS.includes(inner.name));
  if (scalar === ScalarType.INT64) return true;
  if (scalar !== ScalarType.STRING || fieldKind === "map") return false;
  const { type } = getOption(field, rules);
  const own = type?.case === "repeated" ? type.value.items?.type : type;
  if (own?.case !== "string") return true;
  if (own.value.pattern !== "" || own.value.in.length > 0) return false;
  const isRead = idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  return isRead || IN_PATHS.includes(name) || /_(id|reference|token)$/.test(name);
}

/** Fields that name a record. */
const CASES = METHODS.flatMap((method) =>
  method.input.fields
    .filter((field) => couldName(method, field) || pairOf(method, field.name) !== undefined)
    .filter(({ name }) => !PLAIN.includes(name))
    .map(({ name }) => [`${method.parent.name}/${method.name}`, name, method] as const),
);

const NAME_IN_PATH = "name the record in the path, or add the field to NAMING and makePairs of this file";

test("every field that can name a record is in a path or has a known record type", () => {
  const unknown = CASES.filter(
    ([, name, method]) => pairOf(method, name) === undefined && !pathFields(method).includes(name),
  );
  expect(
    unknown.map(([method, name]) => `${method}.${name}`),
    NAME_IN_PATH,
  ).toEqual([]);
});

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);
const receiver = await startReceiver();
const operator = await service.addOperator();
const stranger = await service.addWorkspace();
const [first, second, third] = [
  await service.addWorkspace(),
  await service.addWorkspace(),
  await service.addWorkspace(),
];

describe.each([
  ["another workspace", stranger, first],
  ["the test twin", second.twin, second],
  ["the live workspace", third, third.twin],
])("a record of %s is indistinguishable from a missing one", async (_, other, caller) => {
  const calls = createMethodCalls(service, { workspace: { ...caller, twin: caller }, operator });
  const others = createMethodCalls(service, { workspace: { ...other, twin: other }, operator });
  const pairs = await makePairs(other);
  const isTest = caller === third.twin;

  /** Returns whether the caller's call succeeds, depending on live mode, test mode and the provider. */
  function isCallable(method: DescMethod): boolean {
    if (method.parent.name === "MemberService") return !isTest;
    if (method.parent.name === "TestService") return isTest;
    return !isOfProvider(method) && method.methodKind === "unary";
  }

  test.each(CASES)("%s by %s", async (_, field, method) => {
    const valid = isCallable(method) ? await calls.validFields(method) : exampleBody(method);
    const own = field === "page_token" ? { ...ownerFieldsOf(valid), page_size: 1 } : valid;
    const pair = pairs[pairOf(method, field) ?? ""] ?? (await newPair(method, field, own));
    const { foreign, missing } = pair;
    // An attempt is named by both.
    const more = field === "webhook" && own["delivery"] ? { delivery: pairs["delivery"]!.foreign } : {};
    const before = await othersRecords();
    for (const ask of [askHttp, askGrpc]) {
      const naming = (it: string | number) =>
        ask(method, { ...own, ...more, [field]: withName(own[field], it) }, caller);
      const ofForeign = comparable(await naming(foreign), foreign);
      expect(ofForeign).toEqual(comparable(await naming(missing), missing));
      // A booking on one transport would collide with the same booking on the next.
      const clear = "update shipment set external_reference = null where workspace_id = $1";
      await sql.query(clear, [caller.id]);
    }
    expect(await othersRecords()).toEqual(before);
    // Only the name caused the refusal.
    if (isCallable(method)) expect((await askHttp(method, own, caller))[0]!.status).toBeLessThan(300);
  });

  /** Returns a page token of the other workspace for the same call, or the id of a new record there. */
  async function newPair(method: DescMethod, field: string, own: Fields): Promise<Pair> {
    if (field === "page_token") return tokens(method, own);
    const foreign = (await others.validFields(method))[field];
    if (foreign === undefined) throw new Error(`${method.name}.${field}: ${NAME_IN_PATH}`);
    return {
      foreign,
      missing: typeof foreign === "number" ? 2 ** 40 : foreign.replace(/\w/g, "0"),
    };
  }

  /** Returns a page token of the other workspace for the same call, and one that was never issued. */
  async function tokens(method: DescMethod, own: Fields): Promise<Pair> {
    const ownerFields = Object.keys(ownerFieldsOf(own)).map((name) => [name, pairs[name]!.foreign]);
    const [answer] = await askHttp(method, { ...own, ...Object.fromEntries(ownerFields) }, other);
    // Methods that exist only in test mode have no tokens of live mode.
    return tokenPair(JSON.parse(answer!.text).next_page_token ?? NO_TOKEN);
  }

  /** Returns a digest of all records of the other workspaces. */
  async function othersRecords(): Promise<string> {
    const digests = TABLES.map(
      (table) =>
        `(select json_agg(shown order by shown::text) from (
            select to_jsonb(t) - 'last_used_at' as shown from ${table} t where workspace_id = any ($1)
          ) as records)`,
    );
    const { rows } = await sql.query(`select ${digests.join(", ")}`, [[other.id, stranger.id]]);
    return createHash("sha256").update(JSON.stringify(rows)).digest("hex");
  }
});

/** Tables that the service writes in the background, or about the calls themselves. */
const CHANGING = [
  "api_request",
  "booking_day",
  "booking_roll_up",
  "customer_figure",
  "customer_roll_up",
  "webhook_lease",
];

/** Tables of records of workspaces. */
const TABLES = [...DISTRIBUTED_TABLES, "api_key", "membership"].filter((it) => !CHANGING.includes(it));

/** Creates a record of each kind for a workspace. */
async function makePairs(of: TestWorkspace): Promise<Readonly<Record<string, Pair>>> {
  const { apiKey } = of;
  const get = async (path: string) => (await service.request(path, { apiKey })).body;
  const webhook = (await addWebhook(service, apiKey, { url: receiver.url })).data.id;
  const customer_name = "Theirs";
  const [email, reference] = [`theirs-${of.id}@example.org`, `theirs-${of.id}`];
  const shipment = await bookAnd(service, apiKey, ["pay"], {
    customer_name,
    customer_email: email,
    external_reference: reference,
  });
  const cancelled = await bookAnd(service, apiKey, ["pay", "cancel"]);
  const pending = await book(service, apiKey);
  // Refused in live mode. In test mode, there are two simulations, so that their list has a second page.
  const body = { ...BOOKING, simulation: { scenario: "stuck", step_seconds: 86_400 } };
  await service.request("/v1/shipments", { apiKey, body });
  await eventually("requests in the log", async () => {
    // Repeats the call, because the log drops requests that it cannot write.
    await service.request("/v1/shipments", { apiKey, body });
    return (await get("/v1/requests")).data.length > 1;
  });
  // After this, the workspace's data must not change in the background.
  const delivery = await eventually("the deliveries to finish", async () => {
    const deliveries = await deliveriesOf(service, apiKey, webhook);
    return deliveries.every(({ status }) => status === "delivered") && deliveries[0];
  });
  // The feed waits for open transactions, including those of other tests.
  const cursor = await eventually("an event in the feed", async () => {
    return (await get("/v1/events?page_size=1")).cursor;
  });
  const response = await service.request("/v1/quotes", { apiKey, body: COVERED_ROUTE });
  const invited = { email: `member-${of.id}@example.org`, role: "admin" };
  const member = await service.request("/v1/members", { apiKey: stranger.apiKey, body: invited });
  const named = { name: "Theirs", external_id: reference };
  await service.request("/v1/couriers", { apiKey, body: { name: "Theirs" } });
  const courier = (await service.request("/v1/couriers", { apiKey, body: named })).body.data;
  const key = (await get("/v1/api_keys")).data[0].id;
  const pair = (foreign: string | number, missing: string | number): Pair => ({ foreign, missing });
  return {
    quote: pair(response.body.id, response.body.id.toLowerCase()),
    shipment: pair(shipment["reference"], NO_REFERENCE),
    pending: pair(pending["reference"], NO_REFERENCE),
    cancelled: pair(cancelled["reference"], NO_REFERENCE),
    courier: pair(courier.id, `cou_${"0".repeat(24)}`),
    courierExternalId: pair(courier.external_id, "nobody's"),
    customer: pair(shipment["customer"].id, 2 ** 40),
    externalReference: pair(reference, "nobody's"),
    email: pair(email, "nobody@example.org"),
    customerName: pair(customer_name, "Nobody"),
    event: pair(`evt_${shipment["reference"]}_1`, `evt_${NO_REFERENCE}_1`),
    cursor: tokenPair(cursor),
    webhook: pair(webhook, `wh_${"0".repeat(24)}`),
    webhookUrl: pair(receiver.url, `${receiver.url}/nobody`),
    delivery: pair(delivery.id, 2 ** 40),
    member: pair(member.body.data.person, 2 ** 40),
    apiKey: pair(key, `key_${"0".repeat(24)}`),
  };
}

const NO_TOKEN = Buffer.from('["BBBBBBBB"]').toString("base64url");

/** Returns a token, and one of the same form that was never issued. */
function tokenPair(token: string): Pair {
  const [, ...position] = JSON.parse(Buffer.from(token, "base64url").toString());
  const missing = Buffer.from(JSON.stringify(["AAAAAAAA", ...position])).toString("base64url");
  return { foreign: token, missing };
}

/** Returns the fields that determine a list. */
const ownerFieldsOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => /^(shipment|webhook)$/.test(name)));

/** Returns a field's value with another record's name in it. */
function withName(value: unknown, name: string | number): unknown {
  if (Array.isArray(value)) return [withName(value[0], name)];
  return typeof value === "object" ? { ...value, shipment: name } : name;
}

/** A response: the status and the headers over HTTP, and the text, or the refusal. */
type ComparableResponse = Readonly<Record<string, unknown>>;

/** Returns the whole HTTP responses on every path of the method. A stream without a path is called with Connect. */
async function askHttp(method: DescMethod, fields: Fields, { apiKey }: TestWorkspace) {
  const ways = httpCalls(method, fields);
  if (ways.length === 0) return [await askRpc("Connect on the HTTP server", method, fields, apiKey)];
  return Promise.all(
    ways.map(async ({ path, ...way }) => {
      const options = { apiKey, ...way, headers: { "x-request-id": "the-same" } };
      const { status, headers, text } = await service.request(path, options);
      expect(status, text).toBeLessThan(500);
      const steady = [...headers].filter(([header]) => !["date", "ratelimit"].includes(header));
      return { status, headers: steady, text };
    }),
  );
}

/** Returns the whole gRPC response. */
const askGrpc = async (method: DescMethod, fields: Fields, { apiKey }: TestWorkspace) => [
  await askRpc("gRPC on the gRPC server", method, fields, apiKey),
];

async function askRpc(protocol: keyof typeof PROTOCOLS, method: DescMethod, fields: Fields, apiKey: string) {
  const client = rpcClient(method.parent, PROTOCOLS[protocol], service, apiKey) as any;
  const answer = client[method.localName](compileDecodeJson(method.input)(fields).request);
  // For a stream that no refusal ends earlier.
  const whole = method.methodKind === "unary" ? answer.then((it: Message) => [it]) : take(Infinity, answer);
  const refusal = await rpcError(whole).catch(() => undefined);
  if (refusal !== undefined) return { status: 400, text: JSON.stringify(refusal) };
  const messages: Message[] = await whole;
  return { status: 200, text: JSON.stringify(messages.map(compileEncodeJson(method.output))) };
}

/**
 * Returns responses in comparable form. Errors are unchanged. Others lose random references, ids
 * and times, and the name in the call.
 */
function comparable(answers: readonly ComparableResponse[], named: string | number): unknown {
  return answers.map((answer) => {
    if ((answer["status"] as number) >= 300) return answer;
    return JSON.stringify(answer)
      .replaceAll(/SHP-[0-9A-Z]{12}/g, "a reference")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time")
      .replaceAll(/(wh|cou)_[0-9a-f]{24}/g, "an id")
      .replaceAll(/whsec_[A-Za-z0-9+/]+=/g, "a secret")
      .replaceAll(/\\"(id|customer)\\":(\\")?\d+/g, "an id")
      .replaceAll(/\["content-length","\d+"\]/g, "a length")
      .replaceAll(typeof named === "string" ? named : "no text", "the named record");
  });
}
