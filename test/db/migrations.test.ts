import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { migrate, REPLACED } from "../../src/db/migrate.ts";
import { BASELINE, MIGRATIONS } from "../../src/db/migration-list.ts";
import { applyMigrations, MIGRATION_FILES } from "../../src/db/migrator.ts";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

type Row = Readonly<Record<string, unknown>>;

const MIGRATIONS_FOLDER = new URL("../../src/db/migrations/", import.meta.url);
const SNAPSHOT = new URL("schema-snapshot.json", MIGRATIONS_FOLDER);

/** Queries that describe our tables in PostgreSQL's catalog, without the migrator's table. */
const CATALOGUE = {
  columns: `
    select attrelid::regclass::text as table, attname as name, attnotnull as required,
      format_type(atttypid, atttypmod) as type, pg_get_expr(adbin, adrelid) as default
    from pg_attribute join pg_class on pg_class.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0
      and not attisdropped and relname <> 'applied_migration'
    order by 1, 2`,
  constraints: `
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as rule
    from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'p', 'u')
      and conrelid::regclass::text <> 'applied_migration'
    order by 1, 2`,
  indexes: `
    select indexdef from pg_indexes
    where schemaname = 'public' and tablename <> 'applied_migration' order by 1`,
} as const;

const database = await createDatabase();
const orm = createOrm(database.url, { entities: ENTITIES, migrator: MIGRATION_FILES });
const client = new pg.Client(database.url);
await client.connect();

afterAll(async () => {
  await client.end();
  await orm.close();
});

test("migrations build exactly the schema that the entities describe", async () => {
  const built = await createEmptyDatabase();
  const builder = createOrm(built.url, { entities: ENTITIES });
  await builder.schema.create();
  await builder.close();
  const fromEntities = new pg.Client(built.url);
  await fromEntities.connect();

  // Compares PostgreSQL's own spelling. The ORM would treat two spellings of a condition as different.
  for (const [what, sql] of Object.entries(CATALOGUE)) {
    const [migrated, said] = await Promise.all([client.query(sql), fromEntities.query(sql)]);
    expect(migrated.rows.length, what).toBeGreaterThan(0);
    expect(migrated.rows, what).toEqual(said.rows);
  }
  await fromEntities.end();
  await built.drop();
});

test("every migration in the folder is in the list, oldest first", () => {
  const files = readdirSync(MIGRATIONS_FOLDER).filter((name) => name.endsWith(".ts"));
  expect(Object.keys(MIGRATIONS).map((name) => `${name}.ts`)).toEqual(files.sort());
});

test("migrating does not change the committed schema snapshot", async () => {
  const empty = await createEmptyDatabase();
  const before = readFileSync(SNAPSHOT, "utf8");
  await migrate(empty.url);
  expect(readFileSync(SNAPSHOT, "utf8")).toBe(before);
  await empty.drop();
});

test("the committed schema snapshot matches the entities", async () => {
  expect(await orm.migrator.checkSchema()).toBe(false);
});

test("replicas that migrate at the same time apply each migration once", async () => {
  const empty = await createEmptyDatabase();
  const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(empty.url)));
  const migrated = new pg.Client(empty.url);
  await migrated.connect();
  const { rows } = await migrated.query("select name from applied_migration order by id");
  expect(rows.length).toBeGreaterThan(0);
  expect(applied.flat()).toEqual(rows.map(({ name }) => name));
  await migrated.end();
  await empty.drop();
});

/** Leftovers from the migrations that the baseline replaces. */
const REMAINS = `
  create function event_take_position_fn() returns trigger language plpgsql
    as 'begin return new; end;';
  create trigger take_position before insert on event
    for each row when (new.position is null) execute function event_take_position_fn();
  alter table event add transaction bigint not null
    default ((pg_current_xact_id())::text)::bigint;
  create index event_feed on event (workspace_id, transaction, subject, number);
  delete from applied_migration`;

test("a database that has had all that the baseline replaces goes on from the baseline, and an older one is told which commit to pass through", async () => {
  const old = await createEmptyDatabase();
  await applyMigrations(old.url, { migrations: { [BASELINE]: MIGRATIONS[BASELINE]! } });
  const inside = new pg.Client(old.url);
  await inside.connect();
  await inside.query(REMAINS);
  const names = Array.from(
    { length: REPLACED.count - 1 },
    (_, i) => `20261101000000-replaced-${i}`,
  );
  const note = "insert into applied_migration (name) select unnest($1::text[])";
  await inside.query(note, [names]);
  await expect(migrate(old.url)).rejects.toThrow(
    `its schema is older than this version can migrate; start commit ${REPLACED.commit} on it first`,
  );
  await inside.query(note, [[REPLACED.last]]);
  const all = Object.keys(MIGRATIONS);
  expect(await migrate(old.url)).toEqual(all);

  expect(await migrate(old.url)).toEqual([]);
  const { rows } = await inside.query("select name from applied_migration order by name");
  expect(rows).toEqual(all.map((name) => ({ name })));
  for (const sql of Object.values(CATALOGUE)) {
    expect((await inside.query(sql)).rows).toEqual((await client.query(sql)).rows);
  }
  await inside.end();
});

test("a database that a later release migrated from a newer baseline is reported as newer", async () => {
  const newer = await createEmptyDatabase();
  await applyMigrations(newer.url, { migrations: { [BASELINE]: MIGRATIONS[BASELINE]! } });
  const inside = new pg.Client(newer.url);
  await inside.connect();
  await inside.query("update applied_migration set name = '29991231000000-baseline'");
  await expect(migrate(newer.url)).rejects.toThrow(
    "its schema is newer than this version: a later release applied 29991231000000-baseline; start that release, or restore a backup",
  );
  const { rows } = await inside.query("select name from applied_migration");
  expect(rows).toEqual([{ name: "29991231000000-baseline" }]);
  await inside.end();
});

test("members who had signed in keep their names, and other names stay in the workspace that invited first", async () => {
  const old = await createEmptyDatabase();
  const earlier = Object.entries(MIGRATIONS).filter(([name]) => name < "20261128073500");
  await applyMigrations(old.url, { migrations: Object.fromEntries(earlier) });
  const inside = new pg.Client(old.url);
  await inside.connect();
  await inside.query(`
    insert into workspace (id, name, created_at) values (1, 'First', now()), (2, 'Second', now());
    insert into person (id, email, name, created_at, last_signed_in_at) values
      (1, 'ada@example.org', 'Ada', now(), '2026-11-01T00:00:00Z'),
      (2, 'grace@example.org', 'Grace Hopper', now(), null);
    insert into membership (workspace_id, person_id, role, created_at)
    select workspace.id, person.id, 'viewer', now() + interval '1 minute' * workspace.id
    from workspace cross join person`);
  await migrate(old.url);
  const { rows } = await inside.query(`
    select workspace_id::int as workspace, email, membership.name, person.name as own,
      membership.last_signed_in_at as time
    from membership join person on person.id = person_id order by person.id, workspace_id`);
  const ada = { email: "ada@example.org", name: null, own: "Ada", time: new Date("2026-11-01") };
  const grace = { email: "grace@example.org", own: null, time: null };
  expect(rows).toEqual([
    { ...ada, workspace: 1 },
    { ...ada, workspace: 2 },
    { ...grace, workspace: 1, name: "Grace Hopper" },
    { ...grace, workspace: 2, name: "grace" },
  ]);
  await inside.end();
  await old.drop();
});

const NOW = new Date();

/** A valid row for each table, in an order that satisfies foreign keys. */
const GOOD_ROWS: Readonly<Record<string, Row>> = {
  tariff_version: { version: 1, document: "{}", digest: "digest", published_at: NOW },
  workspace: { id: 1, name: "Acme", created_at: NOW },
  payment_connection: { workspace_id: 1, provider: "manual", connected_at: NOW },
  customer: {
    workspace_id: 1,
    id: 1,
    name: "Ada",
    email: "Ada@example.org",
    email_lower: "ada@example.org",
    created_at: NOW,
  },
  customer_alias: {
    workspace_id: 1,
    id: 2,
    name: "A. Lovelace",
    email_lower: "ada@example.org",
    customer_id: 1,
    merged_at: NOW,
  },
  api_key: {
    hash: "h".repeat(43),
    id: "key_1",
    workspace_id: 1,
    last4: "abcd",
    created_at: NOW,
    changed_at: NOW,
  },
  shipment: {
    workspace_id: 1,
    reference: "SHP-0123456789AB",
    external_reference: "order-7",
    status: "pending",
    payment_status: "awaiting_payment",
    customer_id: 1,
    pickup_address: "1 Times Square",
    pickup_lat: 40.758,
    pickup_lng: -73.9855,
    dropoff_address: "95 Prospect Park West",
    dropoff_lat: 40.6782,
    dropoff_lng: -73.9442,
    weight_kg: 2.5,
    distance_km: 9.532,
    distance_fee_minor: 1144,
    weight_fee_minor: 125,
    base_fee_minor: 500,
    subtotal_minor: 1269,
    total_minor: 1269,
    currency: "USD",
    tariff_version: 1,
    created_at: NOW,
    updated_at: NOW,
  },
  payment: {
    workspace_id: 1,
    shipment_reference: "SHP-0123456789AB",
    provider: "manual",
    amount_minor: 1269,
    currency: "USD",
    paid_at: NOW,
  },
  provider_payment: {
    workspace_id: 1,
    shipment_reference: "SHP-0123456789AB",
    provider: "stripe",
    account: "acct_1",
    version: 1,
    state: "wanted",
    amount_minor: 1269,
    currency: "USD",
    success_url: "https://example.org/",
    cancel_url: "https://example.org/",
    expires_at: NOW,
  },
  payment_notice: {
    provider: "stripe",
    id: "evt_1",
    type: "charge.refunded",
    account: "acct_1",
    received_at: NOW,
  },
  kept_answer: {
    workspace_id: 1,
    key: "order-7",
    method: "shipments.v1.ShipmentService/CreateShipment",
    request_digest: "d".repeat(43),
    response: Buffer.from("response"),
    created_at: NOW,
  },
  workspace_limit: { workspace_id: 1, limit_class: "quote", rate: 10, burst: 20 },
  feed: { workspace_id: 1, position: 1, changed_at: NOW },
  event: {
    workspace_id: 1,
    subject: "SHP-0123456789AB",
    number: 1,
    position: 1,
    type: "shipment.created",
    data: "{}",
    created_at: NOW,
  },
  webhook: {
    workspace_id: 1,
    id: "wh_1",
    url: "https://example.org/hook",
    types: ["shipment.created"],
    secrets: "[]",
    created_at: NOW,
    updated_at: NOW,
  },
  webhook_delivery: {
    workspace_id: 1,
    id: 1,
    webhook_id: "wh_1",
    subject: "SHP-0123456789AB",
    number: 1,
    type: "shipment.created",
    next_attempt_at: NOW,
    created_at: NOW,
  },
  webhook_attempt: {
    workspace_id: 1,
    delivery_id: 1,
    number: 1,
    started_at: NOW,
    duration_ms: 7,
  },
  webhook_lease: { workspace_id: 1, webhook_id: "wh_1", worker: "one", leased_until: NOW },
  operator: {
    id: 1,
    name: "Ada",
    email: "Ada@example.org",
    kind: "person",
    role: "owner",
    created_at: NOW,
  },
  operator_key: {
    hash: "h".repeat(43),
    operator_id: 1,
    id: "key_1",
    last4: "abcd",
    created_at: NOW,
    changed_at: NOW,
  },
  operator_stored_response: {
    operator: 1,
    key: "tariff-7",
    method: "shipments.admin.v1.TariffService/PublishTariff",
    request_digest: "d".repeat(43),
    response: Buffer.from("response"),
    created_at: NOW,
  },
  audit_entry: {
    id: 1,
    created_at: NOW,
    actor: "operator",
    actor_name: "Ada",
    operator_id: 1,
    action: "PublishTariff",
    subject: "tariff_version/1",
    changes: "[]",
  },
  tariff_draft: {
    id: 1,
    name: "Winter",
    author: "Ada",
    fees: "{}",
    zones_bytes: 0,
    revision: 1,
    created_at: NOW,
    updated_at: NOW,
  },
  tariff_draft_piece: { draft_id: 1, begin: 0, data: Buffer.from("{}") },
  person: { id: 1, email: "Ada@example.org", name: "Ada", created_at: NOW },
  membership: { workspace_id: 1, person_id: 1, role: "admin", created_at: NOW },
  saved_filter: { id: 1, workspace_id: 1, person_id: 1, name: "To pay", query: "status=1" },
  sign_in_link: {
    hash: "h".repeat(43),
    person_id: 1,
    workspace_id: 1,
    created_at: NOW,
    ends_at: NOW,
  },
  spent_attempt: { hash: "h".repeat(43), ends_at: NOW },
  mail: {
    id: 1,
    kind: "sign_in",
    state: "asked",
    email: "ada@example.org",
    created_at: NOW,
    next_attempt_at: NOW,
  },
  session: {
    hash: "h".repeat(43),
    id: 1,
    person_id: 1,
    workspace_id: 1,
    user_agent: "curl/8.0",
    created_at: NOW,
    last_seen_at: NOW,
    ends_at: NOW,
  },
  booking_day: {
    workspace_id: 1,
    date: "2026-11-01",
    currency: "USD",
    bookings: 1,
    cancellations: 0,
    quoted: 0,
    paid_minor: 0,
    awaiting_minor: 1_269,
    hours: JSON.stringify([[12, 1, 0, 0, 0, 1_269]]),
  },
  used_quote: { workspace_id: 1, quote_id: "quo_a", reference: "SHP-0123456789AB", used_at: NOW },
  installation: { id: "an-installation", opt_out_secret: "s" },
  quote_key: { id: 1, secret: "c2VjcmV0", created_at: NOW },
  booking_roll_up: { workspace_id: 1, position: 1, fill_before: null, rest_until: NOW },
  simulation: {
    workspace_id: 1,
    shipment_reference: "SHP-0123456789AB",
    scenario: "deliver",
    step_seconds: 10,
    taken: 0,
    due_at: NOW,
    next_try_at: NOW,
    leased_until: null,
    tries: 0,
  },
  proof_picture: {
    workspace_id: 1,
    shipment_reference: "SHP-0123456789AB",
    kind: "photo",
    content: "\\xffd8",
    recorded_at: NOW,
  },
  recipient_notice: {
    workspace_id: 1,
    shipment_reference: "SHP-0123456789AB",
    kind: "delivered",
    state: "waiting",
    created_at: NOW,
    next_attempt_at: NOW,
    attempts: 0,
  },
  recipient_opt_out: { workspace_id: 1, email_hash: `hmac:${"a".repeat(43)}`, created_at: NOW },
  courier_place: {
    workspace_id: 1,
    shipment_reference: "SHP-0123456789AB",
    lat: 40.7,
    lng: -73.9,
    measured_at: NOW,
  },
  test_clock: { workspace_id: 1, frozen_at: NOW, latest_at: NOW, moved_at: NOW },
  api_request: {
    workspace_id: 1,
    id: 1,
    started_at: "2026-11-01T07:00:00Z",
    method: "CreateShipment",
    outcome: "succeeded",
    code: "ok",
    http_status: 201,
    duration_ms: 3,
    request_id: "r",
    caller: "Shop",
  },
  usage_hour: { workspace_id: 1, hour: "2026-11-01T07:00:00Z", limit_class: "read", calls: 1 },
  replica: {
    id: "0198c0de-0000-4000-8000-000000000000",
    host_name: "one.example.org",
    version: "0.1.0",
    node_version: "26.10.0",
    started_at: NOW,
    seen_at: NOW,
  },
};

/** Slug of the second workspace. */
const SLUG = "0123abcd";

/**
 * Changes that make a valid row invalid, with the table and the constraint that must reject each.
 * Changes for primary and foreign keys are derived from the key.
 */
const BAD_ROWS: readonly (readonly [constraint: string, table: string, change: Row])[] = [
  ["tariff_version_counts_from_one", "tariff_version", { version: 0 }],
  ["workspace_name_given", "workspace", { id: 2, name: "" }],
  ["workspace_twin", "workspace", { id: 4, twin_of: 1 }],
  ["workspace_tracking_slug", "workspace", { id: 4, tracking_slug: SLUG }],
  ["payment_connection_provider", "payment_connection", { provider: "nonsense" }],
  ["recipient_notice_kind", "recipient_notice", { kind: "lost" }],
  ["recipient_notice_state", "recipient_notice", { shipment_reference: "SHP-2", state: "lost" }],
  ["simulation_scenario", "simulation", { scenario: "lost" }],
  ["proof_picture_kind", "proof_picture", { kind: "film" }],
  ["customer_once", "customer", { id: 2, email: "ADA@example.org" }],
  ["customer_name_given", "customer", { id: 2, name: "" }],
  ["customer_email_lower", "customer", { id: 2, email_lower: "Ada@example.org" }],
  ["customer_email_lower", "customer", { id: 2, email: "", email_lower: "" }],
  ["api_key_id_unique", "api_key", { hash: "i".repeat(43) }],
  ["api_key_hash_form", "api_key", { hash: "shp_0123456789abcdefghijABCDEFGHIJ012345" }],
  ["api_key_scope", "api_key", { hash: "i".repeat(43), id: "key_2", scope: "all" }],
  ["shipment_reference_form", "shipment", { reference: "SHP-0123456789AI" }],
  ["shipment_reference_form", "shipment", { reference: "SHP-0123456789A" }],
  ["shipment_statuses_agree", "shipment", other({ status: "lost" })],
  ["shipment_statuses_agree", "shipment", other({ payment_status: "lost" })],
  ["shipment_cancelled_when_cancelled", "shipment", other({ status: "cancelled" })],
  ["shipment_cancelled_when_cancelled", "shipment", other({ cancelled_at: NOW })],
  ["shipment_statuses_agree", "shipment", other({ payment_status: "paid" })],
  ["shipment_ended_when_ended", "shipment", other({ delivered_at: NOW })],
  ["shipment_ended_when_ended", "shipment", other({ returned_at: NOW })],
  ["shipment_cancelled_when_cancelled", "shipment", other({ cancel_reason: "other" })],
  ["shipment_cancelled_when_cancelled", "shipment", cancelled({ cancel_reason: "boredom" })],
  ["shipment_cancelled_when_cancelled", "shipment", other({ cancel_note: "why" })],
  ["shipment_external_reference", "shipment", { reference: "SHP-0123456789AC" }],
  ["payment_provider", "payment", { provider: "nonsense" }],
  ["payment_amount_positive", "payment", { amount_minor: -1 }],
  ["payment_currency_form", "payment", { currency: "usd" }],
  ["payment_refunded_after_paid", "payment", { refunded_at: "2000-01-01T00:00:00Z" }],
  ["payment_connection_state", "payment_connection", { state: "nonsense" }],
  ["provider_payment_provider", "provider_payment", { provider: "nonsense" }],
  ["provider_payment_state", "provider_payment", { state: "nonsense" }],
  ["provider_payment_counts", "provider_payment", { version: 0 }],
  ["kept_answer_key_form", "kept_answer", { key: "two words" }],
  ["workspace_limit_class", "workspace_limit", { limit_class: "everything" }],
  ["workspace_limit_in_range", "workspace_limit", { limit_class: "read", rate: 0 }],
  ["event_position", "event", { number: 2 }],
  ["event_number_counts_from_one", "event", { number: 0 }],
  ["webhook_disabled_reason", "webhook", { id: "wh_2", disabled_reason: "boredom" }],
  ["webhook_types_given", "webhook", { id: "wh_2", types: [] }],
  [
    "webhook_delivery_status",
    "webhook_delivery",
    { id: 2, status: "lost", next_attempt_at: null, ended_at: NOW },
  ],
  ["webhook_delivery_pending_or_ended", "webhook_delivery", { id: 2, ended_at: NOW }],
  ["operator_email_unique", "operator", { id: 2, email: "ADA@example.org" }],
  ["operator_name_given", "operator", { id: 2, name: "" }],
  ["operator_kind", "operator", { id: 2, kind: "team" }],
  ["operator_role", "operator", { id: 2, role: "king" }],
  ["operator_person_has_email", "operator", { id: 2, email: null }],
  ["operator_key_id_unique", "operator_key", { hash: "i".repeat(43) }],
  [
    "operator_key_hash_form",
    "operator_key",
    { hash: "sho_0123456789abcdefghijABCDEFGHIJ012345", id: "key_2" },
  ],
  ["operator_stored_response_key_form", "operator_stored_response", { key: "two words" }],
  ["audit_entry_actor", "audit_entry", { id: 2, actor: "nobody" }],
  ["shipment_pickup_in_range", "shipment", other({ pickup_lat: 90.1 })],
  ["shipment_pickup_in_range", "shipment", other({ pickup_lng: -180.1 })],
  ["shipment_pickup_in_range", "shipment", other({ pickup_lat: NaN })],
  ["shipment_dropoff_in_range", "shipment", other({ dropoff_lat: -90.1 })],
  ["shipment_dropoff_in_range", "shipment", other({ dropoff_lng: 180.1 })],
  ["shipment_weight", "shipment", other({ weight_kg: 0.009 })],
  ["shipment_weight", "shipment", other({ weight_kg: Infinity })],
  ["shipment_weight", "shipment", other({ weight_kg: NaN })],
  ["shipment_distance", "shipment", other({ distance_km: -0.001 })],
  ["shipment_distance", "shipment", other({ distance_km: 20_017 })],
  ["shipment_currency_form", "shipment", other({ currency: "usd" })],
  ["shipment_currency_form", "shipment", other({ currency: "US" })],
  [
    "shipment_amounts_add_up",
    "shipment",
    other({ distance_fee_minor: -1, subtotal_minor: 124, total_minor: 500 }),
  ],
  ["shipment_amounts_add_up", "shipment", other({ base_fee_minor: -1 })],
  ["shipment_amounts_add_up", "shipment", other({ subtotal_minor: 1268, total_minor: 1268 })],
  ["shipment_amounts_add_up", "shipment", other({ base_fee_minor: 2_000 })],
  ["person_email_unique", "person", { id: 2, email: "ADA@example.org" }],
  ["person_email_given", "person", { id: 2, email: "" }],
  ["person_name_given", "person", { id: 2, email: "grace@example.org", name: "" }],
  ["membership_role", "membership", { person_id: 2, role: "king" }],
  ["saved_filter_name", "saved_filter", { id: 2, name: "TO PAY" }],
  ["sign_in_link_hash_form", "sign_in_link", { hash: "short" }],
  ["spent_attempt_hash_form", "spent_attempt", { hash: "short" }],
  ["mail_kind", "mail", { id: 2, kind: "advertisement" }],
  ["mail_state", "mail", { id: 2, state: "lost" }],
  ["mail_workspace_of_invitation", "mail", { id: 2, kind: "invitation" }],
  ["session_id_unique", "session", { hash: "i".repeat(43) }],
  ["session_hash_form", "session", { hash: "short", id: 2 }],
  ["usage_hour_class", "usage_hour", { limit_class: "everything" }],
  ["usage_hour_whole", "usage_hour", { hour: "2026-11-01T07:00:01Z" }],
  ["usage_hour_calls_counted", "usage_hour", { limit_class: "write", calls: 0 }],
  [
    "replica_seen_after_start",
    "replica",
    { id: "0198c0de-0000-4000-8000-000000000001", seen_at: "2000-01-01T00:00:00Z" },
  ],
];

/** Primary and foreign keys with their columns. */
const { rows: KEYS } = await client.query<{
  kind: "p" | "f";
  name: string;
  table: string;
  columns: string[];
}>(
  `select contype as kind, conname as name, conrelid::regclass::text as table, array(
     select attname::text from unnest(conkey) with ordinality as key (number, position)
       join pg_attribute on attrelid = conrelid and attnum = number order by position) as columns
   from pg_constraint
   where contype in ('p', 'f') and connamespace = 'public'::regnamespace
     and conrelid::regclass::text <> 'applied_migration'`,
);

describe("where every table has its good row", () => {
  beforeAll(async () => {
    await client.query("begin");
    for (const [table, row] of Object.entries(GOOD_ROWS)) await insert(table, row);
    await insert("workspace", { ...GOOD_ROWS.workspace, id: 3, twin_of: 1, tracking_slug: SLUG });
  });
  afterAll(() => client.query("rollback"));
  beforeEach(() => client.query("savepoint good"));
  afterEach(() => client.query("rollback to good"));

  const refusalOf = (table: string, change: Row) =>
    expect(insert(table, { ...GOOD_ROWS[table], ...change })).rejects;

  test.each(BAD_ROWS)("the constraint %s refuses a bad row of %s: %o", (name, table, change) =>
    refusalOf(table, change).toMatchObject({ constraint: name }),
  );

  const keys = (kind: string) =>
    KEYS.filter((key) => key.kind === kind).map((key) => [key.name, key] as const);

  test.each(keys("p"))("the key %s refuses a row that is there", (constraint, { table }) =>
    refusalOf(table, {}).toMatchObject({ constraint }),
  );

  test.each(keys("f"))(
    "the key %s refuses a row that names one that is not there",
    async (constraint, { table, columns }) => {
      // Deletes the valid row, because it has the same primary key.
      await client.query("set local session_replication_role = replica");
      await client.query(`delete from ${table}`);
      await client.query("set local session_replication_role = origin");
      const column = columns.at(-1)!;
      const missing = typeof GOOD_ROWS[table]![column] === "string" ? "SHP-0123456789AC" : 2;
      await refusalOf(table, { [column]: missing }).toMatchObject({ constraint });
    },
  );
});

test("every check and unique index of the schema has a bad row in these tests", async () => {
  const { rows } = await client.query(
    `select name from (${CATALOGUE.constraints}) as constraints
     union select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
     where indisunique and relnamespace = 'public'::regnamespace
       and not relname like 'applied_migration%'`,
  );
  const named = new Set([...BAD_ROWS.map(([name]) => name), ...KEYS.map(({ name }) => name)]);
  expect(named).toEqual(new Set(rows.map(({ name }) => name)));
});

/** Returns a change to a shipment that has a unique reference. */
function other(change: Row): Row {
  return { reference: "SHP-0123456789AC", external_reference: null, ...change };
}

/** Returns a change to a shipment that was canceled before it was paid. */
function cancelled(change: Row): Row {
  return other({
    status: "cancelled",
    payment_status: "voided",
    cancelled_at: NOW,
    ...change,
  });
}

async function insert(table: string, row: Row = {}): Promise<void> {
  const columns = Object.keys(row);
  const parameters = columns.map((_, i) => `$${i + 1}`);
  await client.query(
    `insert into ${table} (${columns.join(", ")}) values (${parameters.join(", ")})`,
    Object.values(row),
  );
}

async function createEmptyDatabase(): Promise<TestDatabase> {
  const emptied = await createDatabase();
  const inside = new pg.Client(emptied.url);
  await inside.connect();
  await inside.query("drop schema public cascade; create schema public");
  await inside.end();
  return emptied;
}
