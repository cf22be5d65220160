import { randomBytes, randomUUID } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import type { DescMethod } from "@bufbuild/protobuf";
import type pg from "pg";
import { pino } from "pino";
import { describe, expect, test, vi } from "vitest";
import { SAMPLE_PICTURES } from "../../src/features/test-mode/sample-pictures.ts";
import { createSecretSeal, SEALING_KEY_LENGTH } from "../../src/domain/secret-seal.ts";
import { signInByEmail, spendAttempt } from "../../src/features/people/sign-in.ts";
import { loadPublishedTariff } from "../../src/features/tariffs/versions/load-version.ts";
import { sealStoredSecrets } from "../../src/features/webhooks/webhook-secrets.ts";
import { createDatabaseFigures } from "../../src/server/database-figures.ts";
import { purgeExpired } from "../../src/server/upkeep.ts";
import { data } from "../support/answers.ts";
import { book, bookAnd, COVERED_ROUTE } from "../support/bookings.ts";
import { startBucket } from "../support/bucket.ts";
import { postForm, signIn } from "../support/browser.ts";
import { connectTo, createDatabase } from "../support/database.ts";
import { describedMethods } from "../support/described-services.ts";
import { eventually } from "../support/eventually.ts";
import { fillTables, type FilledRecords } from "../support/fill-tables.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { startGeocoder } from "../support/geocoder.ts";
import { createMethodCalls, type MethodCaller } from "../support/method-calls.ts";
import {
  alterDatabase,
  announcePlans,
  onOneLine,
  plansIn,
  rowsAt,
  type PlanNode,
  type RunPlan,
} from "../support/plans.ts";
import { startReceiver } from "../support/receiver.ts";
import { startReplica, type TestService, type TestWorkspace } from "../support/service.ts";
import { SEALING_KEY, stripeSettings } from "../support/stripe-service.ts";
import { startStripe } from "../stripe/stand-in.ts";
import { startStatementLog } from "../support/statement-log.ts";
import { addWebhook, deliveriesOf } from "../support/webhooks.ts";

/** Number of rows inserted into each table. */
const ROWS = 2_000;
const MINUTE_MS = 60_000;
/** Rows read for a page: 25, and one that shows whether there is a next page. */
const PAGE = 26;
/** Maximum ratio of rows that a plan node reads to the rows of the result or a page. */
const FACTOR = 4;

/**
 * Statements that may read more than they return, by a part of their text, with the reason. All of
 * them run outside of calls, or serve operators and reports and read each relevant row once.
 */
const READS_MUCH: Readonly<Record<string, string>> = {
  "with oldest as ( select subject, number, created_at from event":
    "a purge reads a full batch of events even if few of them are old enough",
  '"w0"."name" ilike': "no index supports a search for any part of a workspace's name",
  '"o0"."revoked_at" is null': "there are few operators, and the index of their emails excludes revoked operators",
  "with recent as materialized": "a search compares its words with the newest shipments",
  "as slot cross join lateral": "a search compares up to 1,000 rows that contain some of its words",
  "with looked_at as": "a feed filtered by type examines a limited number of events at a time",
  "from webhook cross join lateral": "counts up to 500 deliveries of each webhook",
  "from feed join workspace on": "reads one row per workspace",
  "from feed cross join lateral": "looks up the oldest event of each workspace",
  "from webhook join workspace on": "looks up the due or pending deliveries of each webhook",
  'from "webhook_delivery" as "w0" where':
    "a connection that planned the statement for empty tables may use the index by status instead of the one by id",
  "where true and earliest.next_attempt_at <= now()": "looks up the earliest delivery of each webhook",
  ")::text as last from (": "reads the times of the next rows to purge",
  "select width_bucket(created_at, $2::timestamptz[])": "a report counts bookings",
  "select list, currency, count(*)::int as found": "counts up to 1,000 shipments of each queue",
  "as asked (id bigint) cross join lateral": "sums up all shipments of the listed customers",
  "from feed left join booking_roll_up": "compares each workspace's feed with its counted position",
  "with part as materialized": "reads every event since the last count",
  "from feed left join customer_roll_up": "compares each workspace's feed with its counted position",
  "insert into booking_day": "counts all bookings of a day",
  "insert into customer_figure": "sums up all shipments of a customer",
  "not exists ( select from customer_figure as ranked":
    "the last page of customers sorted by a figure searches all customers for those without the figure",
  "from (select created_at from mail where state = 'waiting'": "counts waiting sign-in emails",
  "from (select created_at from recipient_notice where state = 'waiting'": "counts waiting recipient emails",
  "from booking_day": "a report sums up bookings",
  "delete from session": "a purge searches all sessions for idle ones every ten minutes",
  "from replica where": "there are few replicas",
  "from installation": "the table has one row",
  'from "tariff_draft" as "t0" order by': "the number of drafts is limited to 50",
  'from "courier" as "c0" where': "the number of couriers is limited",
  "from courier where workspace_id": "the number of couriers is limited",
  "from courier join workspace": "the number of couriers is limited",
  "from courier cross join lateral": "the number of couriers is limited",
  'as "inForce"': "there are few tariff versions",
  "from usage_hour cross join lateral": "a report counts quotes",
  "from usage_hour join workspace on": "a report counts quotes",
};

/** Returns a value for every filter. Some rows match each value. */
const filterValues = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  status: "pending",
  payment_status: "awaiting_payment",
  customer_id: fields["customer"] ?? 1,
  external_reference: "order 7",
  created_after: "2026-01-01T00:00:00Z",
  created_before: "2099-01-01T00:00:00Z",
  email: "c7@example.org",
  name: "custo",
  text: "c7@",
  types: "shipment.updated",
  operator: 1,
  workspace: fields["workspace"],
  action: "CreateOperator",
  subject: "operator/1",
  // Applies to paginated lists. In the feed, `after` is the end of a page.
  after: 0,
  include_revoked: true,
  external_id: "rider 7",
  include_archived: true,
  courier_id: "cou_7",
  unassigned: true,
  name_contains: "other 7",
  suspended: false,
  figures: true,
  order_by: "created_at desc",
  failed: true,
  newest_first: true,
  method: "CreateShipment",
  outcome: "succeeded",
  // The window filters require their own order.
  pickup_from: undefined,
  pickup_before: undefined,
});

/** Combinations of filters that share an index, and other orders, by method. */
const FILTER_COMBINATIONS: Readonly<
  Record<string, readonly ((values: Record<string, unknown>) => Record<string, unknown>)[]>
> = {
  ListShipments: [
    ({ customer_id }) => ({ customer_id, failed: true }),
    ({ status }) => ({ status, order_by: "total" }),
    ({ status }) => ({ status, order_by: "pickup_window" }),
  ],
  ListCustomers: ["name", "last_booked_at desc", "paid"].map((order_by) => () => ({ order_by })),
};

/** Indexes that only statements in `STATEMENTS_OF_OTHER_SETUPS` and `RUN_BY_OTHER_TESTS` use. */
const INDEXES_OF_OTHER_TESTS = [
  "payment_notice_of_test",
  "payment_connection_account",
  "slot_by_twin",
  "slot_reservation_by_holder",
];

const METHODS = [...(await describedMethods("workspace")), ...(await describedMethods("operator"))];

/** Matches SQL in the source, up to the first placeholder or quoted name. */
const SQL = /["`](\s*(?:select|insert into|update|delete from|with (?:recursive )?\w+ as)\s[^"`$]*)/g;
const SOURCE = globSync("src/{features,server}/**/*.ts").flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(SQL)].map(([, sql]) => [file, onOneLine(sql!)] as const),
);

const seen = new Set<string>();
const usedIndexes = new Set<string>();

describe.each([
  ["generic plans", { mode: "force_generic_plan", startsEmpty: false }],
  ["custom plans", { mode: "force_custom_plan", startsEmpty: false }],
  ["generic plans, a minute after calls on empty tables", { mode: "force_generic_plan", startsEmpty: true }],
])("with %s", (_, { mode, startsEmpty }) => {
  test("no statement reads much more than it returns, even if tables were not analyzed", async () => {
    const plans = await plansOfEverything(mode, startsEmpty);
    for (const { statement, nodes } of plans) {
      seen.add(statement);
      for (const node of nodes) usedIndexes.add(node["Index Name"] ?? "");
    }
    const found = plans.filter(readsTooMuch);
    // PostgreSQL chooses between equally cheap indexes, and the choice can differ between databases.
    const again = found.length === 0 ? [] : await plansOfEverything(mode, startsEmpty);
    const stays = new Set(again.filter(readsTooMuch).map(({ statement }) => statement));
    expect(found.filter(({ statement }) => stays.has(statement)).map(described)).toEqual([]);
    // Releases before 18 may choose different plans, such as a scan of the whole table.
    expect(plans.filter(lacksAlternative).map(described)).toEqual([]);
  });
});

/** Beginnings of statements for distributed databases, which have different plans. */
const STATEMENTS_OF_DISTRIBUTED = [
  "select sum(result::float8) as size from run_command",
  "select name as",
  "select customer_id::float8 as id from customer_alias where",
  "select id, types",
  "select pg_advisory_xact_lock(hashtextextended('new workspaces'",
];

/** Beginnings of statements whose setup this test does not create. */
const STATEMENTS_OF_OTHER_SETUPS = [
  // Runs only if there are more shipments than an export can contain.
  "select exists (select from (",
  // Needs a test twin that is connected to Stripe's test mode.
  "delete from payment_notice where (provider, id) in",
  // Needs a provider that refuses to create an account, and money in a closed account.
  "update workspace set account_attempt",
  "select 1 from provider_payment where",
  // Needs a webhook with very many deliveries.
  "update webhook set disabled_reason = 'request'",
  // Needs a workspace with more calls than are kept.
  "delete from api_request where",
  // Needs opt-outs that earlier commits stored as plain hashes.
  "select workspace_id::float8 as workspace, email_hash as hash",
  "delete from recipient_opt_out where",
  // Needs a courier among the changed records.
  "select workspace_id || '/courier/' || id as subject",
  // Needs a signed-in person whose name changes.
  "update membership set name = null from session",
];

/** Files whose statements run only after a Stripe event, when quote keys age, or for a courier's page. */
const RUN_BY_OTHER_TESTS = [
  "src/features/couriers/courier-sessions.ts",
  "src/features/payments/check-accounts.ts",
  "src/features/payments/payment-jobs.ts",
  "src/features/payments/provider-payments.ts",
  "src/features/payments/receive-event.ts",
  "src/features/payments/stored-payment.ts",
  "src/features/payments/seal-connections.ts",
  "src/features/quotes/quote-keys.ts",
  "src/features/shipments/reclaim-slots.ts",
  "src/features/slots/slots.ts",
];

test("checks every statement in the source", () => {
  const statements = [...seen].map((it) => it.replaceAll(/\$\d+/g, "?"));
  const unseen = SOURCE.filter(
    ([file, sql]) =>
      !RUN_BY_OTHER_TESTS.includes(file) &&
      ![...STATEMENTS_OF_DISTRIBUTED, ...STATEMENTS_OF_OTHER_SETUPS].some((begin) => sql.startsWith(begin)) &&
      !statements.some((it) => it.includes(sql)),
  );
  expect(unseen).toEqual([]);
});

/** Unique indexes are excluded, because they guard their key even if no statement reads them. */
test("every index of the schema serves a statement", async () => {
  const { url } = await createDatabase();
  const { rows } = await (
    await connectTo(url)
  ).query(
    `select indexrelid::regclass::text as name from pg_index
     join pg_class on pg_class.oid = indexrelid
     where relnamespace = 'public'::regnamespace and not indisunique`,
  );
  const unused = rows.map(({ name }) => name).filter((name) => !usedIndexes.has(name));
  expect(unused.filter((name) => !INDEXES_OF_OTHER_TESTS.includes(name))).toEqual([]);
});

async function plansOfEverything(mode: string, startsEmpty: boolean): Promise<RunPlan[]> {
  await using owned = new AsyncDisposableStack();
  const database = await createDatabase();
  owned.defer(database.drop);
  const sql = await connectTo(database.url);
  owned.defer(() => sql.end());
  await disableAnalysis(sql);
  if (startsEmpty) await sql.query("vacuum analyze");
  await alterDatabase(sql, `plan_cache_mode = ${mode}`);
  await announcePlans(sql);
  const log = await startStatementLog(database.url);
  owned.defer(log.close);
  const mails = await startMailServer({
    onRcptTo: ({ address }, _session, callback) =>
      callback(address.startsWith("later") ? Object.assign(new Error("come back"), { responseCode: 451 }) : null),
  });
  owned.defer(mails.stop);
  const stripe = await startStripe({ livemode: true });
  owned.defer(() => stripe.stop());
  const service = await startReplica(log.url, {
    eventRetentionDays: 1,
    ...stripeSettings(stripe),
    ...(await startGeocoder("photon")).settings,
    pictures: (await startBucket()).settings,
    publicUrl: "http://book.example.org",
    mail: { smtpUrl: mails.url, from: "no-reply@example.org" },
  });
  const workspace = await service.addWorkspace();
  const operator = await service.addOperator();
  const callers = { workspace, stripe, operator };
  const everything = async (filled?: FilledRecords) => {
    await callEverything(service, callers, sql, filled);
    await sendRecipientEmail(service, workspace, mails);
    await sendCourierEmail(service, workspace, mails);
  };
  if (startsEmpty) await everything();
  const filled = await fillTables(sql, workspace.id, ROWS);
  const before = log.notices.length;
  if (startsEmpty) owned.defer(advanceMinute());
  await everything(filled);
  await service.close();
  return plansIn(log.notices.slice(before));
}

/** Advances all of this process's clocks by a minute. Returns a function that restores them. */
function advanceMinute(): () => void {
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, "now").mockImplementation(() => now() + MINUTE_MS);
  return () => later.mockRestore();
}

/** Disables the automatic analysis of all tables. */
async function disableAnalysis(sql: pg.Client): Promise<void> {
  const { rows } = await sql.query(
    `select format('alter table %I set (autovacuum_enabled = off)', relname) as alter
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  for (const { alter } of rows) await sql.query(alter);
}

/** Calls every method and runs all background work. */
async function callEverything(
  service: TestService,
  callers: MethodCaller,
  sql: pg.Client,
  filled: FilledRecords | undefined,
): Promise<void> {
  const { workspace } = callers;
  const operatorKey = callers.operator.key;
  const calls = createMethodCalls(service, {
    ...callers,
    mark: filled === undefined ? "first" : "plain",
    text: "plain text",
  });
  const call = async (method: DescMethod, fields: Readonly<Record<string, unknown>>) => {
    const answers = await calls.call(method, fields, () => ({ "idempotency-key": randomUUID() }));
    const isUnary = method.methodKind === "unary";
    expect(answers.length > 0, `${method.name} is called`).toBe(isUnary);
    for (const { status, text } of answers) {
      expect(status, `${method.name} ${JSON.stringify(fields)}: ${text}`).toBeLessThan(300);
    }
    return answers;
  };
  for (const method of METHODS) {
    const fields = await calls.validFields(method);
    await call(method, fields);
    if (method.methodKind === "server_streaming") await call(method, { fromNow: true });
    const request = { ...fields, ...filled, workspace: workspace.id };
    // Small pages, so that even nearly empty tables have a second page.
    const page_size = filled === undefined ? 1 : PAGE - 1;
    for (const page of pagesOf(method, request)) {
      const [answer] = await call(method, { ...page, page_size });
      const { next_page_token, cursor } = answer!.body;
      if (next_page_token) await call(method, { ...page, page_size, page_token: next_page_token });
      if (cursor) await call(method, { ...page, page_size, after: cursor });
    }
  }
  // The search text matches none of the newest shipments.
  await data(service.as(workspace.apiKey).searchShipments({ text: "missing 4711" }));
  await useSessions(service, workspace, operatorKey);
  await useMails(service, workspace, sql);
  await callBatchMethods(service, workspace);
  await track(service, workspace);
  await movePicture(service, workspace);
  await simulate(service, workspace.twin);
  await deliver(service, workspace);
  await purge(service);
  const { em } = service.app;
  // Refreshes the figures explicitly, because the service polls them rarely.
  await createDatabaseFigures({
    em,
    log: pino({ level: "silent" }),
    now: () => new Date(),
    movesPictures: true,
  }).refresh();
  // The service does not load the tariff this way. Only a command does.
  await loadPublishedTariff(em);
}

/** Returns the fields for a list's first pages: one without filters, and one for each filter. */
function pagesOf({ name, input }: DescMethod, fields: Record<string, unknown>) {
  const names = input.fields.map((field) => field.name);
  if (!names.includes("page_size")) return [];
  const owners = ["shipment", "webhook"].filter((owner) => names.includes(owner));
  const of = Object.fromEntries(owners.map((owner) => [owner, fields[owner]]));
  // In lists without page tokens, `after` selects the page.
  const paging = ["page_size", "page_token", ...(names.includes("page_token") ? [] : ["after"])];
  const filters = names.filter((it) => !owners.includes(it) && !paging.includes(it));
  const values = filterValues(fields);
  expect(Object.keys(values), `a value of each filter of ${name}`).toEqual(expect.arrayContaining(filters));
  return [
    of,
    ...filters.map((filter) => ({ ...of, [filter]: values[filter] })),
    ...(FILTER_COMBINATIONS[name] ?? []).map((pick) => pick(values)),
  ];
}

async function useSessions(service: TestService, { id, apiKey }: TestWorkspace, operatorKey: string): Promise<void> {
  const email = `${randomUUID()}@example.org`;
  const person = await signIn(service, apiKey, { email, role: "member" });
  const headers = { "x-workspace": String(id) };
  const answers = [
    await person.request("/v1/shipments", { headers }),
    await person.request("/account/v1/account"),
    await person.request("/account/v1/account", { method: "PATCH", body: { name: "Ada" } }),
    await person.request("/account/v1/sessions"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const saved = `/account/v1/workspaces/${id}/saved_filters`;
  const { data } = (await person.request(saved, { body: { name: "Mine", query: "status=1" } })).body;
  const one = `${saved}/${data.id}`;
  const filters = [
    await person.request(saved),
    await person.request(one, { method: "PATCH", body: { name: "Ours" } }),
    await person.request(one, { method: "DELETE" }),
  ];
  expect(filters.map(({ status }) => status)).toEqual([200, 200, 200]);
  const session = answers.at(-1)!.body.data[0].id;
  await person.request(`/account/v1/sessions/${session}`, { method: "DELETE" });
  expect(await spendAttempt(service.app.em, email, 60)).toBe(true);
  const own = { cookie: person.cookie, "sec-fetch-site": "same-origin" };
  await postForm(service, "/sign-out", {}, own);
  const body = { name: "Grace", kind: "person", role: "viewer", email: `op-${email}` };
  await service.request("/admin/v1/operators", { apiKey: operatorKey, body });
  let token: string | undefined;
  for (const known of [email, body.email]) {
    // Each sign-in replaces the previous session.
    const browser = { userAgent: "a test", session: token };
    token = await signInByEmail(service.app.em, known, browser);
    expect(token).toBeDefined();
  }
}

/** Sends, postpones and purges emails. */
async function useMails(service: TestService, { apiKey }: TestWorkspace, sql: pg.Client): Promise<void> {
  for (const name of ["now", "later"]) {
    const email = `${name}-${randomUUID()}@example.org`;
    await service.request("/v1/members", { apiKey, body: { email } });
    expect((await postForm(service, "/sign-in/mail", { email })).status).toBe(303);
    await eventually(`an attempt at both emails to ${email}`, async () => {
      const { rows } = await sql.query(
        "select from mail where email = $1 and (state = 'sent' or next_attempt_at < now() + interval '10 s') and attempts > 0",
        [email],
      );
      return rows.length === 2;
    });
  }
}

/** Sends an email to a recipient and unsubscribes the recipient. */
async function sendRecipientEmail(
  service: TestService,
  { apiKey }: TestWorkspace,
  { mails }: MailServer,
): Promise<void> {
  await data(service.as(apiKey).updateWorkspace({ notifies_recipients: true }));
  const recipient_email = `${randomUUID()}@example.org`;
  await eventually("the changed setting to take effect", async () => {
    const { reference } = await bookAnd(service, apiKey, ["pay"], { recipient_email });
    const sent = "select 1 from recipient_notice where shipment_reference = ?";
    return (await service.app.em.execute(sent, [reference])).length > 0;
  });
  const mail = await eventually("an email", () => mails.find(({ to }) => to.includes(recipient_email)));
  const { pathname } = new URL(mail.headers["list-unsubscribe"]!.slice(1, -1));
  expect((await fetch(service.httpUrl + pathname, { method: "POST" })).ok).toBe(true);
}

async function sendCourierEmail(service: TestService, { apiKey }: TestWorkspace, { mails }: MailServer): Promise<void> {
  const as = service.as(apiKey);
  const email = `${randomUUID()}@example.org`;
  const { id: courier } = await data(as.createCourier({ name: "Ada", email }));
  await data(as.createCourierLink({ courier, send_email: true }));
  await eventually("an email", () => mails.find(({ to }) => to.includes(email)));
}

/**
 * Opens a tracking link as the recipient, and follows the shipment. The workspace's links may just
 * have been replaced.
 */
async function track(service: TestService, { apiKey }: TestWorkspace): Promise<void> {
  const as = service.as(apiKey);
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"], {
    recipient_phone: "+12025550123",
  });
  const path = await eventually("a working tracking link", async () => {
    const { tracking_url: url } = await data(as.getShipment({ shipment }));
    const { pathname } = new URL(url ?? service.httpUrl);
    return url !== null && (await fetch(service.httpUrl + pathname)).ok && pathname;
  });
  for (const digits of ["3210", "0123"]) {
    const body = new URLSearchParams({ digits });
    expect((await fetch(`${service.httpUrl}${path}/open`, { method: "POST", body })).ok).toBe(true);
  }
  const followed = await fetch(`${service.httpUrl}${path}/events`);
  // Assigns a second courier without a reported position.
  for (const name of ["Ada", "Bob"]) await data(as.setCourier({ shipment, name }));
  await data(as.cancelShipment({ shipment }));
  expect(await followed.text()).toContain("data: changed");
}

/** Moves a proof picture to the bucket and reads it from there. */
async function movePicture(service: TestService, { apiKey }: TestWorkspace): Promise<void> {
  const as = service.as(apiKey);
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay", "advance"]);
  await data(as.recordProof({ shipment, photo: SAMPLE_PICTURES.photo.toString("base64") }));
  await eventually("the picture to move into the bucket", async () => {
    const moved = "select 1 from proof_picture where shipment_reference = ? and content is null";
    return (await service.app.em.execute(moved, [shipment])).length > 0;
  });
  expect((await as.getProofPhoto({ shipment })).status).toBe(200);
}

/** Books with a quote, and reads and changes several shipments in one call each. */
async function callBatchMethods(service: TestService, { apiKey }: TestWorkspace): Promise<void> {
  const { body } = await service.request("/v1/quotes", { apiKey, body: COVERED_ROUTE });
  const shipments = [
    (await book(service, apiKey, { quote_id: body.id })).reference,
    // Books for a known customer with a different id number.
    (await book(service, apiKey, { customer_id_number: randomUUID() })).reference,
  ];
  const answers = await Promise.all([
    // Enough calls that some arrive in one tick, which share a statement.
    ...[...shipments, ...shipments, ...shipments, ...shipments].map((reference) =>
      service.request(`/v1/shipments/${reference}`, { apiKey }),
    ),
    service.request("/v1/shipments/cancel/batch", {
      apiKey,
      body: { shipments },
    }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
}

/** Parks a simulation, then advances the test clock so that its steps run. */
async function simulate(service: TestService, { id, apiKey }: TestWorkspace): Promise<void> {
  const move = async (time?: string) => (await service.request("/v1/test/clock", { apiKey, body: { time } })).body;
  const { data } = await move();
  await book(service, apiKey, { simulation: { scenario: "no_courier", step_seconds: 1 } });
  const next = (change: string) =>
    service.app.em.execute(`update simulation ${change} where workspace_id = ? returning next_try_at`, [id]);
  await next("set next_try_at = 'epoch'");
  await eventually("the simulation to be parked", async () => {
    const rows = await next("set taken = taken");
    return rows.every(({ next_try_at: time }) => time === null);
  });
  const later = new Date(Date.parse(data.time) + MINUTE_MS).toISOString();
  expect(await move(later)).toEqual({ data: { time: later, frozen: true }, complete: true });
  await service.request("/v1/test/clock", { apiKey, method: "DELETE" });
}

/** Delivers a webhook, seals all secrets, and deletes all enabled webhooks. */
async function deliver(service: TestService, { apiKey }: TestWorkspace): Promise<void> {
  const receiver = await startReceiver();
  const { data } = await addWebhook(service, apiKey, { url: receiver.url });
  await book(service, apiKey);
  await eventually("a delivery", async () => {
    const deliveries = await deliveriesOf(service, apiKey, data.id);
    return deliveries.some(({ status }) => status === "delivered");
  });
  await receiver.close();
  const seal = createSecretSeal([randomBytes(SEALING_KEY_LENGTH), SEALING_KEY]);
  expect(await sealStoredSecrets(service.app.em, seal)).toMatchObject({ unopened: 0 });
  const { body } = await service.request("/v1/webhooks", { apiKey });
  for (const { id, enabled } of body.data) {
    if (enabled) await service.request(`/v1/webhooks/${id}`, { apiKey, method: "DELETE" });
  }
}

async function purge({ app: { em } }: TestService): Promise<void> {
  const failed: string[] = [];
  await purgeExpired({
    em,
    log: pino({ level: "silent" }),
    now: () => new Date(),
    eventRetentionDays: 1,
    countPurge(kind, rows) {
      if (rows === undefined) failed.push(kind);
    },
  });
  expect(failed).toEqual([]);
}

/** Whether a plan node reads more than `FACTOR` times the result or a page. */
function readsTooMuch({ statement, nodes }: RunPlan): boolean {
  const bound = FACTOR * (mayReadMuch(statement) ? ROWS : Math.max(PAGE, answered(nodes)));
  return nodes.some((node) => rowsAt(node) > bound);
}

/** Whether PostgreSQL could not use an index for a statement that should use one. */
function lacksAlternative({ statement, nodes }: RunPlan): boolean {
  return !mayReadMuch(statement) && nodes.some((node) => node.Disabled);
}

function mayReadMuch(statement: string): boolean {
  return Object.keys(READS_MUCH).some((part) => statement.includes(part));
}

/** Returns how many rows a plan returns, writes or receives. */
function answered(nodes: readonly PlanNode[]): number {
  const [root] = nodes;
  const scans = nodes.filter((node) => /^(Function Scan|ProjectSet)$/.test(node["Node Type"]));
  const written = nodes.flatMap((node) => (node["Node Type"] === "ModifyTable" ? (node.Plans ?? []) : []));
  const rows = [root!, ...scans, ...written].map((node) => node["Actual Rows"] * node["Actual Loops"]);
  return Math.max(...rows);
}

function described({ statement, nodes }: RunPlan): string {
  const steps = nodes.map(
    (node) => `${node["Node Type"]} ${node["Index Name"] ?? node["Relation Name"] ?? ""}: ${rowsAt(node)}`,
  );
  return `${statement}\n  ${steps.join("\n  ")}`;
}
