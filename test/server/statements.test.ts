import { ScalarType, type DescField, type DescMethod } from "@bufbuild/protobuf";
import { beforeAll, expect, inject, test } from "vitest";
import { DISTRIBUTED_TABLES } from "../../src/db/citus/distributed.ts";
import { bookAnd } from "../support/bookings.ts";
import { connectTo, createDatabase } from "../support/database.ts";
import { describedMethods } from "../support/described-services.ts";
import { eventually } from "../support/eventually.ts";
import { startGeocoder } from "../support/geocoder.ts";
import { startMailServer } from "../support/mail-server.ts";
import { createMethodCalls } from "../support/method-calls.ts";
import { startStripe } from "../stripe/stand-in.ts";
import { stripeSettings } from "../support/stripe-service.ts";
import { startReceiver } from "../support/receiver.ts";
import { startReplica } from "../support/service.ts";
import { startStatementLog } from "../support/statement-log.ts";
import type { Answer } from "../support/client.ts";
import { addWebhook, attemptsAt, untilAttempted } from "../support/webhooks.ts";

/** Mark that is in every text from a caller or stranger, and nowhere else. */
const MARK = "zqmarkqz";
/** Text with the mark and with characters that SQL would have to escape. */
const TEXT = `${MARK} 'a' "b" $1 ? ?? \\ ; --`;

const METHODS = [...(await describedMethods("workspace")), ...(await describedMethods("operator"))];

const database = await createDatabase();
const log = await startStatementLog(database.url);
const stripe = await startStripe({ livemode: true });
const service = await startReplica(log.url, {
  eventRetentionDays: 30,
  ...stripeSettings(stripe),
  ...(await startGeocoder("photon")).settings,
});
const sql = await connectTo(database.url);
const receiver = await startReceiver((response) => response.writeHead(500).end(TEXT));
const workspace = await service.addWorkspace();
const { apiKey } = workspace;
const operator = await service.addOperator();
const calls = createMethodCalls(service, {
  workspace,
  stripe,
  operator,
  mark: MARK,
  text: TEXT,
});

const markedStatements = () => log.statements.filter((text) => text.toLowerCase().includes(MARK));

beforeAll(async () => {
  for (const method of METHODS) {
    const valid = await calls.validFields(method);
    const failed = (await call(method, valid)).filter(({ status }) => status >= 300);
    expect(failed.map(({ text }) => `${method.name}: ${text}`)).toEqual([]);
    for (const fields of markedFields(method, valid)) await call(method, fields);
  }
  // The fields of the method select entries without couriers.
  await service.request("/admin/v1/audit_entries?action=CreateCourier", { apiKey: operator.key });
  const { data } = await addWebhook(service, apiKey, { url: `${receiver.url}/${MARK}` });
  await service.request(`/v1/webhooks/${data.id}/test`, { apiKey, body: {} });
  const delivery = await untilAttempted(service, apiKey, data.id, 1);
  expect(await attemptsAt(service, apiKey, delivery)).toMatchObject([{ status: 500 }]);
  await sendRecipientEmail();
});

/** Sends a recipient email in a separate process, so that no other emails are sent. */
async function sendRecipientEmail(): Promise<void> {
  await service.as(apiKey).updateWorkspace({ notifies_recipients: true });
  const mails = await startMailServer();
  const notifying = await startReplica(log.url, {
    publicUrl: "http://book.example.org",
    mail: { smtpUrl: mails.url, from: "no-reply@example.org" },
  });
  await bookAnd(notifying, apiKey, ["pay"], { recipient_email: "ada@example.org" });
  const mail = await eventually("an email to the recipient", () => mails.mails[0]);
  const { pathname } = new URL(mail.headers["list-unsubscribe"]!.slice(1, -1));
  expect((await fetch(notifying.httpUrl + pathname, { method: "POST" })).status).toBe(200);
}

test("no statement contains text from a caller or a webhook receiver", async () => {
  expect(log.statements.length).toBeGreaterThan(50);
  expect(markedStatements()).toEqual([]);
  const stored = [
    "api_key",
    "api_request",
    "audit_entry",
    "customer",
    "customer_alias",
    "event",
    "kept_answer",
    "membership",
    "operator",
    "operator_key",
    "operator_stored_response",
    "person",
    "shipment",
    "tariff_draft",
    "tariff_version",
    "webhook",
    "webhook_attempt",
    "workspace",
  ];
  expect(await markedTables()).toEqual(expect.arrayContaining(stored));
});

test("the log detects text in a statement", async () => {
  await service.app.em.execute(`select '${MARK}'`);
  expect(markedStatements()).toEqual([`select '${MARK}'`]);
});

/** Beginnings of statements that access data of several or all workspaces, with the data that they return. */
const PLATFORM_STATEMENTS: readonly (readonly [beginning: string, data: string])[] = [
  ["select workspace_id::float8 as workspace, id as webhook, failing", "webhooks with due deliveries"],
  [
    "select min(created_at)::text as first, max(created_at)::text as last from ( select created_at from kept_answer",
    "age of the rows to purge",
  ],
  [
    "select min(started_at)::text as first, max(started_at)::text as last from ( select started_at from api_request",
    "age of the rows to purge",
  ],
  [
    "select min(created_at)::text as first, max(created_at)::text as last from ( select created_at from recipient_notice",
    "age of the rows to purge",
  ],
  [
    "select count(*)::float8 as waiting, (extract(epoch from min(created_at)) * 1000)::float8",
    "waiting emails, for operators",
  ],
  ["select count(*)::float8 as count, (extract(epoch from min(due)) * 1000)::float8", "due work, for metrics"],
  ["select workspace_id::float8 as workspace, shipment_reference || ' ' || kind as reference", "due recipient emails"],
  [
    "select workspace_id::float8 as workspace, id as reference, extract(epoch from next_attempt_at)",
    "due courier emails",
  ],
  [
    "select min(ends_at)::text as first, max(ends_at)::text as last from ( select ends_at from courier_link",
    "age of the rows to purge",
  ],
  [
    "select min(used_at)::text as first, max(used_at)::text as last from ( select used_at from used_quote",
    "age of the rows to purge",
  ],
  [
    "select min(measured_at)::text as first, max(measured_at)::text as last from ( select measured_at from courier_place",
    "age of the rows to purge",
  ],
  [
    "select min(recorded_at)::text as first, max(recorded_at)::text as last from ( select recorded_at from proof_picture",
    "age of the rows to purge",
  ],
  [
    "select min(ended_at)::text as first, max(ended_at)::text as last from ( select ended_at from webhook_delivery",
    "age of the rows to purge",
  ],
  [
    "select feed.workspace_id::float8 as id from feed cross join lateral ( select created_at from event",
    "workspaces with events to purge",
  ],
  ["select workspace_id::float8 as workspace, id as webhook, secrets", "webhook secrets to encrypt"],
  ["select feed.workspace_id::float8 as workspace, rolled_up.workspace_id is null", "workspaces with events to count"],
  ["select (date_part('epoch', max(changed_at))", "time of the newest event, for metrics"],
  ["select (select count(*) from ( select 1 from webhook_delivery", "number of pending deliveries, for GetHealth"],
  ["select workspace_id::float8 as workspace, position", "positions of the feeds that have streams"],
  ["select feed.workspace_id::float8 as id from feed join workspace", "test twins with data to purge"],
  [
    "select simulation.workspace_id::float8 as workspace, shipment_reference as reference, tries",
    "due simulation steps",
  ],
  ["select workspace_id::float8 as id from test_clock where moved_at <", "old test clocks"],
  [
    "select workspace_id::float8 as workspace, shipment_reference as reference, extract(epoch from due_at)",
    "due payments",
  ],
  ["select workspace_id::float8 as workspace, extract(epoch from check_at)", "provider accounts to check"],
  ["select workspace_id::float8 as workspace, own_key", "provider keys to encrypt"],
  [
    "select workspace_id::float8 as workspace, shipment_reference as shipment, failures",
    "overdue payments, for operators",
  ],
  ["select count(*)::float8 as count from (select 1 from p", "number of overdue payment tasks, for metrics"],
  [
    "select workspace_id::float8 as workspace from payment_connection where state in",
    "stopped payment providers, for operators",
  ],
  ["select workspace_id::float8 as workspace, id, url", "failing webhooks, for operators"],
  ["select date::text as date, currency, sum(bookings)", "the platform's overview"],
  ["select workspace_id::float8 as workspace from booking_day", "the platform's overview"],
  ["select workspace.id::float8 as workspace, workspace.name, currency", "the platform's overview"],
  ["select workspace_id::float8, reference, pickup_lat", "shipments for a replay"],
  ["select workspace_id || '/courier/' || id as subject, name from courier", "names of couriers, for the audit log"],
  [
    'select "p0".* from "payment_connection" as "p0" where "p0"."workspace_id" in ($1, $2',
    "payment providers, for the list of workspaces",
  ],
];

/** Patterns of statements that take a workspace as a parameter, in a row or a condition. */
const NAMES_WORKSPACE = [
  /^insert into "?\w+"? \("?workspace_id"?, .*?\) (?:values \(|select )\$1\b/,
  /\bworkspace_id"? (?:\+ 0 )?(?:= \$\d|in \(\$\d\))/,
  // Matches keys whose first column is the workspace.
  /\bworkspace_id", (?:"\w+"\.)?"\w+"\) (?:= \(\$\d|in \(\(\$\d, \$\d\)\))/,
];

test("every statement on workspace data has one workspace as a parameter, or is listed as a platform statement", () => {
  const tables = new RegExp(`\\b(?:from|join|into|update) "?(?:${DISTRIBUTED_TABLES.join("|")})\\b`);
  const statements = [...new Set(log.statements.map((text) => text.replace(/\s+/g, " ").trim()))];
  const unnamed = statements.filter((text) => tables.test(text) && !NAMES_WORKSPACE.some((form) => form.test(text)));
  const isListed = (text: string) => PLATFORM_STATEMENTS.some(([start]) => text.startsWith(start));
  expect(unnamed.filter((text) => !isListed(text))).toEqual([]);
  const unused = PLATFORM_STATEMENTS.filter(([start]) => !unnamed.some((text) => text.startsWith(start)));
  // On a cluster, workers read the due work, and their statements are not in this log.
  if (inject("adminDatabaseUrls").length === 1) expect(unused).toEqual([]);
});

/** Returns one variant of the fields per text field, with the mark in that field. */
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

let count = 0;

/** Calls a method on each of its paths, or as a stream. Returns the statuses. */
async function call(method: DescMethod, fields: Record<string, unknown>): Promise<Answer[]> {
  const answers = await calls.call(method, fields, () => ({
    "idempotency-key": `${MARK}'${++count}`,
    "x-request-id": `${MARK}${count}`,
  }));
  for (const { status, text } of answers) expect(status, `${method.name}: ${text}`).toBeLessThan(500);
  return answers;
}

/** Returns the tables in which a row contains the mark. */
async function markedTables(): Promise<string[]> {
  const { rows } = await sql.query(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1",
  );
  const marked = [];
  for (const { name } of rows) {
    const found = await sql.query(`select from "${name}" as t where t::text ilike $1 limit 1`, [`%${MARK}%`]);
    if (found.rowCount === 1) marked.push(name);
  }
  return marked;
}
