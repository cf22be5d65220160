import { ScalarType, type DescField, type DescMethod } from "@bufbuild/protobuf";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { book, bookAnd, BOOKING, COVERED_ROUTE, PAYMENT } from "../support/bookings.ts";
import { connectTo, createDatabase, type TestDatabase } from "../support/database.ts";
import { describedMethods, httpCalls } from "../support/described-services.ts";
import { listKeys } from "../support/platform.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { startReplica, type TestService } from "../support/service.ts";
import { startStatementLog, type StatementLog } from "../support/statement-log.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";
import { take } from "../support/take.ts";
import { addWebhook, attemptsAt, untilAttempted } from "../support/webhooks.ts";

/** Stands in every text of a caller or a stranger, and nowhere else. */
const MARK = "zqmarkqz";
/** With what statements would have to escape. */
const TEXT = `${MARK} 'a' "b" $1 ? ?? \\ ; --`;

/** For each field that takes free text, such text; for the others, what is valid there. */
const FIELDS: Readonly<Record<string, unknown>> = {
  ...BOOKING,
  ...PAYMENT,
  customer_name: TEXT,
  customer_email: `${MARK}'@example.org`,
  customer_id_number: TEXT,
  pickup_address: TEXT,
  dropoff_address: TEXT,
  metadata: { [MARK]: TEXT },
  note: TEXT,
  url: `https://example.com/${MARK}'`,
  etag: "1",
  email: `${MARK}'@example.org`,
  routes: [COVERED_ROUTE],
  enabled: true,
  overlap_seconds: 60,
  name: TEXT,
  name_contains: TEXT,
  payment_provider: "manual",
  quote: { rate: 5 },
  kind: "machine",
  role: "viewer",
  fees: { currency: MARK, base_fee: TEXT, rate_per_km: MARK, tiers: [] },
};

const ADMIN = await describedMethods("operator");
const METHODS = [...(await describedMethods("workspace")), ...ADMIN];

let database: TestDatabase;
let log: StatementLog;
let service: TestService;
let receiver: Receiver;
let sql: pg.Client;
let workspaceId: number;
let apiKey: string;
let operatorKey: string;

beforeAll(async () => {
  database = await createDatabase();
  log = await startStatementLog(database.url);
  service = await startReplica(log.url);
  sql = await connectTo(database.url);
  receiver = await startReceiver((response) => response.writeHead(500).end(TEXT));
  ({ id: workspaceId, apiKey } = await service.addWorkspace());
  ({ key: operatorKey } = await service.addOperator());
});
afterAll(async () => {
  await sql.end();
  await service.close();
  await receiver.close();
  await log.close();
  await database.drop();
});

const markedStatements = () => log.statements.filter((text) => text.toLowerCase().includes(MARK));

test("no text of a caller or of a webhook's receiver stands in a statement", async () => {
  let calls = 0;
  for (const method of METHODS) {
    const valid = await validFields(method);
    const statuses = await call(method, valid, ++calls);
    expect(
      statuses.filter((status) => status >= 300),
      method.name,
    ).toEqual([]);
    for (const fields of markedFields(method, valid)) await call(method, fields, ++calls);
  }
  const { data } = await addWebhook(service, apiKey, { url: `${receiver.url}/${MARK}` });
  await service.request(`/v1/webhooks/${data.id}/test`, { apiKey, body: {} });
  const delivery = await untilAttempted(service, apiKey, data.id, 1);
  expect(await attemptsAt(service, apiKey, delivery)).toMatchObject([{ status: 500 }]);

  expect(log.statements.length).toBeGreaterThan(50);
  expect(markedStatements()).toEqual([]);
  expect(await markedTables()).toEqual([
    "api_key",
    "audit_entry",
    "customer",
    "event",
    "kept_answer",
    "operator",
    "operator_stored_response",
    "person",
    "shipment",
    "tariff_draft",
    "webhook",
    "webhook_attempt",
    "workspace",
  ]);
});

test("the log sees a text that stands in a statement", async () => {
  await service.app.em.execute(`select '${MARK}'`);
  expect(markedStatements()).toEqual([`select '${MARK}'`]);
});

/** The fields of a call that succeeds, with the mark wherever a field takes free text. */
async function validFields(method: DescMethod): Promise<Record<string, unknown>> {
  const names = method.input.fields.map(({ name }) => name);
  const given = names.filter((name) => name in FIELDS).map((name) => [name, FIELDS[name]]);
  const fields: Record<string, unknown> = Object.fromEntries(given);
  if (names.includes("shipment")) fields["shipment"] = (await shipmentFor(method))["reference"];
  if (names.includes("webhook")) {
    const { data } = await addWebhook(service, apiKey, { url: `https://example.com/${MARK}` });
    fields["webhook"] = data.id;
  }
  if (names.includes("event")) fields["event"] = `evt_${(await book(service, apiKey)).reference}_1`;
  if (names.includes("workspace")) fields["workspace"] = (await service.addWorkspace()).id;
  if (names.includes("person")) fields["person"] = await addMember();
  if (names.includes("key")) fields["key"] = await keyFor(method, fields);
  // A draft's etag differs from a shipment's, and is not needed.
  if (names.includes("draft")) delete fields["etag"];
  return { ...fields, ...(await platformFields(method, names)) };
}

let operators = 0;

/** Those of the fields that name operators, drafts and versions, or mean something else to operators. */
async function platformFields(method: DescMethod, names: readonly string[]) {
  const service = method.parent.name;
  if (service === "AuditService") {
    return { action: "CreateOperator", subject: `workspace/${TEXT}` };
  }
  if (service === "OperatorService") {
    const email = `${MARK}'${++operators}@example.org`;
    return { ...(names.includes("email") ? { email } : {}), ...(await operatorFor(method, names)) };
  }
  if (service !== "TariffService") return {};
  const named: Record<string, unknown> = {};
  if (names.includes("draft")) named["draft"] = await makeDraft();
  if (names.includes("replaces")) named["replaces"] = 1;
  for (const name of ["version", "from_version", "to_version"]) {
    if (names.includes(name)) named[name] = 1;
  }
  if (names.includes("data")) named["data"] = TEXT;
  if (method.name === "CallOffTariff") named["version"] = await scheduleVersion();
  return named;
}

async function operatorFor(
  { name }: DescMethod,
  names: readonly string[],
): Promise<Record<string, unknown>> {
  if (!names.includes("operator")) return {};
  if (name !== "CreateOperatorSignInLink") {
    return { operator: (await service.addOperator("viewer")).id };
  }
  const body = {
    name: TEXT,
    kind: "person",
    role: "viewer",
    email: `${MARK}'${++operators}@example.org`,
  };
  const made = await service.request("/admin/v1/operators", { apiKey: operatorKey, body });
  return { operator: made.body.data.id };
}

/** The id of a new member of the workspace. */
async function addMember(): Promise<number> {
  const body = { email: `${MARK}'member${++operators}@example.org` };
  const { body: answer } = await service.request("/v1/members", { apiKey, body });
  return answer.data.person;
}

async function makeDraft(fees?: object): Promise<number> {
  const body = { name: TEXT, from_version: 1, ...(fees === undefined ? {} : { fees }) };
  const answer = await service.request("/admin/v1/tariff_drafts", { apiKey: operatorKey, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.id;
}

/** Schedules a version for tomorrow, and gives its number. */
async function scheduleVersion(): Promise<number> {
  const { base_fee: _, zones: __, ...fees } = SAMPLE_TARIFF;
  const draft = await makeDraft({ ...fees, base_fee: "77.00" });
  const body = { replaces: 1, effective_at: new Date(Date.now() + 86_400_000).toISOString() };
  const answer = await service.request(`/admin/v1/tariff_drafts/${draft}/publish`, {
    apiKey: operatorKey,
    body,
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.version;
}

/** A key of the workspace that the call names, or is of, which may be revoked. */
async function keyFor({ name }: DescMethod, fields: Record<string, unknown>): Promise<string> {
  if (fields["workspace"] !== undefined) {
    const [key] = await listKeys(service.app.em, Number(fields["workspace"]));
    return key!.id;
  }
  await service.request("/v1/api_keys", { apiKey, body: { name } });
  return (await listKeys(service.app.em, workspaceId)).at(-1)!.id;
}

function shipmentFor({ name }: DescMethod) {
  if (name === "AdvanceShipment") return bookAnd(service, apiKey, ["pay"]);
  if (name === "RecordRefund") return bookAnd(service, apiKey, ["pay", "cancel"]);
  return book(service, apiKey);
}

/** For each field that is text or has text in it, the valid fields with the mark there. */
function markedFields({ input }: DescMethod, valid: object): Record<string, unknown>[] {
  return input.fields.flatMap((field) => {
    const marked = markedValue(field);
    return marked === undefined ? [] : [{ ...valid, [field.name]: marked }];
  });
}

function markedValue(field: DescField): unknown {
  if (field.fieldKind === "map") return { [TEXT]: TEXT };
  if (field.fieldKind === "list") return [TEXT];
  return field.scalar === ScalarType.STRING ? TEXT : undefined;
}

/** Calls a method on each of its paths, or the stream, and gives the statuses of the paths. */
async function call(
  method: DescMethod,
  fields: Record<string, unknown>,
  count: number,
): Promise<number[]> {
  const statuses: number[] = [];
  if (method.methodKind === "server_streaming") {
    const client = service.grpcClient(apiKey, EventService);
    await take(1, client.watchEvents(fields, { timeoutMs: 500 })).catch(() => undefined);
    return statuses;
  }
  for (const { method: verb, path, body } of httpCalls(method, fields)) {
    const headers = {
      "idempotency-key": `${MARK}'${count}-${statuses.length}`,
      "x-request-id": `${MARK}${count}`,
    };
    const isAdmin = path.startsWith("/admin/");
    const { status, text } = await service.request(path, {
      apiKey: isAdmin ? operatorKey : apiKey,
      method: verb,
      body,
      headers,
    });
    expect(status, `${verb} ${path}: ${text}`).toBeLessThan(500);
    statuses.push(status);
  }
  return statuses;
}

/** The tables that have the mark in some row. */
async function markedTables(): Promise<string[]> {
  const { rows } = await sql.query(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1",
  );
  const marked = [];
  for (const { name } of rows) {
    const found = await sql.query(`select from "${name}" as t where t::text ilike $1 limit 1`, [
      `%${MARK}%`,
    ]);
    if (found.rowCount === 1) marked.push(name);
  }
  return marked;
}
