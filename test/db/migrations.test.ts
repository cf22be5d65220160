import { globSync, readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DISTRIBUTED_TABLES } from "../../src/db/citus/distributed.ts";
import { migrate, REPLACED } from "../../src/db/migrate.ts";
import { BASELINE, MIGRATIONS } from "../../src/db/migration-list.ts";
import { applyMigrations, MIGRATION_FILES } from "../../src/db/migrator.ts";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

type Row = Readonly<Record<string, unknown>>;

const MIGRATIONS_FOLDER = new URL("../../src/db/migrations/", import.meta.url);
const SNAPSHOT = new URL("schema-snapshot.json", MIGRATIONS_FOLDER);

/** PostgreSQL's catalog of our tables, without the migrator's table. */
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

test("migrations build exactly the schema of the entities", async () => {
  const built = await createEmptyDatabase();
  const builder = createOrm(built.url, { entities: ENTITIES });
  await builder.schema.create();
  await builder.close();
  const fromEntities = new pg.Client(built.url);
  await fromEntities.connect();

  // Compared in PostgreSQL's spelling, because the ORM's comparison treats two spellings of a condition as different.
  for (const [what, sql] of Object.entries(CATALOGUE)) {
    const [migrated, described] = await Promise.all([client.query(sql), fromEntities.query(sql)]);
    expect(migrated.rows.length, what).toBeGreaterThan(0);
    expect(migrated.rows, what).toEqual(described.rows);
  }
  await fromEntities.end();
  await built.drop();
});

test("the list contains every entity of the features", async () => {
  const files = globSync("src/features/**/*.ts");
  const defined = files.flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(/^export const (\w+) = defineEntity\(/gm),
  ]);
  const listed = ENTITIES.map((it) => it.init().meta.className);
  expect(new Set(listed)).toEqual(new Set(defined.map(([, name]) => name)));
  expect(listed).toHaveLength(defined.length);
});

/** Tables of workspaces that stay on the coordinator, where operators and sign-ins read them. */
const ON_COORDINATOR = ["membership", "usage_hour", "workspace_limit"];

test("distributes every table whose key starts with the workspace", () => {
  const ofWorkspaces = KEYS.filter(({ kind, columns }) => kind === "p" && columns[0] === "workspace_id");
  expect(ofWorkspaces.map(({ table }) => table).toSorted()).toEqual(
    [...DISTRIBUTED_TABLES, ...ON_COORDINATOR].toSorted(),
  );
});

test("the list contains every migration in the folder, oldest first", () => {
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

test("replicas that migrate concurrently apply each migration once", async () => {
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

/** Remains of the migrations that the baseline replaces. */
const REMAINS = `
  create function event_take_position_fn() returns trigger language plpgsql
    as 'begin return new; end;';
  create trigger take_position before insert on event
    for each row when (new.position is null) execute function event_take_position_fn();
  alter table event add transaction bigint not null
    default ((pg_current_xact_id())::text)::bigint;
  create index event_feed on event (workspace_id, transaction, subject, number);
  delete from applied_migration`;

test("a database with all migrations that the baseline replaces continues from the baseline, and an older one is refused with the commit to start first", async () => {
  const old = await createEmptyDatabase();
  await applyMigrations(old.url, { migrations: { [BASELINE]: MIGRATIONS[BASELINE]! } });
  const inside = new pg.Client(old.url);
  await inside.connect();
  await inside.query(REMAINS);
  const names = Array.from({ length: REPLACED.count - 1 }, (_, i) => `20261101000000-replaced-${i}`);
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

test("members who had signed in keep their names, and the first inviting workspace keeps the other names", async () => {
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

/** Each key, with its columns and those that it refers to. */
const { rows: KEYS } = await client.query<{
  kind: "p" | "f";
  name: string;
  table: string;
  columns: string[];
  referred: string | null;
  referredColumns: string[];
}>(
  `select contype as kind, conname as name, conrelid::regclass::text as table,
     ${namesOf("conrelid", "conkey")} as columns,
     nullif(confrelid, 0)::regclass::text as referred,
     ${namesOf("confrelid", "confkey")} as "referredColumns"
   from pg_constraint
   where contype in ('p', 'f') and connamespace = 'public'::regnamespace
     and conrelid::regclass::text <> 'applied_migration'`,
);

/** Values of columns by type, without its length. */
const ANY: Row = {
  bigint: 1,
  boolean: false,
  bytea: Buffer.from("{}"),
  character: "USD",
  date: "2026-11-01",
  "double precision": 1,
  integer: 1,
  json: "{}",
  jsonb: "{}",
  text: "a",
  "text[]": ["a"],
  "timestamp with time zone": NOW,
  uuid: "0198c0de-0000-4000-8000-000000000000",
};

const HASH = "h".repeat(43);

/** Values of valid rows that checks or the bad rows require. */
const FORMED: Readonly<Record<string, Row>> = {
  payment_connection: { provider: "manual" },
  customer: { email: "Ada@example.org", email_lower: "ada@example.org" },
  courier: { external_id: "c-7" },
  api_key: { hash: HASH },
  shipment: {
    reference: "SHP-0123456789AB",
    external_reference: "order-7",
    status: "pending",
    payment_status: "awaiting_payment",
    distance_fee_minor: 1144,
    weight_fee_minor: 125,
    base_fee_minor: 500,
    subtotal_minor: 1269,
    total_minor: 1269,
  },
  payment: { provider: "manual" },
  provider_payment: { provider: "stripe", state: "wanted" },
  workspace_limit: { limit_class: "quote" },
  webhook_delivery: { next_attempt_at: NOW },
  operator: { email: "Ada@example.org", kind: "person", role: "owner" },
  operator_key: { hash: HASH },
  audit_entry: { actor: "operator" },
  person: { email: "Ada@example.org" },
  membership: { role: "admin" },
  saved_filter: { name: "To pay" },
  sign_in_link: { hash: HASH },
  spent_attempt: { hash: HASH },
  mail: { kind: "sign_in", state: "asked" },
  session: { hash: HASH, id: 1 },
  simulation: { scenario: "deliver" },
  proof_picture: { kind: "photo" },
  recipient_notice: { kind: "delivered", state: "waiting" },
  usage_hour: { hour: "2026-11-01T07:00:00Z", limit_class: "read" },
};

const { rows: COLUMNS } = await client.query(CATALOGUE.columns);
/** A valid row of each table, after the rows that it refers to. */
const VALID_ROWS: Record<string, Row> = {};
for (const { table } of COLUMNS) addValidRow(table);

function addValidRow(table: string): Row {
  const own = KEYS.filter((key) => key.table === table);
  const [primary] = own.filter(({ kind }) => kind === "p");
  const needed = COLUMNS.filter(
    (it) => it.table === table && it.required && (it.default === null || primary!.columns.includes(it.name)),
  );
  const names = needed.map(({ name }) => name);
  const references = own
    .filter(({ kind, columns }) => kind === "f" && columns.every((name) => names.includes(name)))
    .flatMap(({ columns, referred, referredColumns }) => {
      const row = addValidRow(referred!);
      return columns.map((name, i) => [name, row[referredColumns[i]!]]);
    });
  return (VALID_ROWS[table] ??= {
    ...Object.fromEntries(needed.map(({ name, type }) => [name, ANY[type.replace(/\(\d+\)/, "")]])),
    ...Object.fromEntries(references),
    ...FORMED[table],
  });
}

/** Slug of the second workspace. */
const SLUG = "0123abcd";

/**
 * Changes that make a valid row invalid, with the constraint that must refuse it and the table.
 * Primary and foreign keys are derived from their kind.
 */
const INVALID_ROWS: readonly (readonly [constraint: string, table: string, change: Row])[] = [
  ["slot_count_not_negative", "slot", { id: "other", shipments: -1 }],
  ["slot_capacity_not_negative", "slot", { id: "other", capacity: -1 }],
  ["tariff_version_counts_from_one", "tariff_version", { version: 0 }],
  ["workspace_name_given", "workspace", { id: 2, name: "" }],
  ["workspace_twin", "workspace", { id: 4, twin_of: 1 }],
  ["workspace_tracking_slug", "workspace", { id: 4, tracking_slug: SLUG }],
  ["payment_connection_provider", "payment_connection", { provider: "nonsense" }],
  ["courier_link_state", "courier_link", { id: "col_2", hash: "other", state: "lost" }],
  ["recipient_notice_kind", "recipient_notice", { kind: "lost" }],
  ["recipient_notice_state", "recipient_notice", { shipment_reference: "SHP-2", state: "lost" }],
  ["simulation_scenario", "simulation", { scenario: "lost" }],
  ["proof_picture_kind", "proof_picture", { kind: "film" }],
  ["customer_once", "customer", { id: 2, email: "ADA@example.org" }],
  ["customer_name_given", "customer", { id: 2, name: "" }],
  ["customer_email_lower", "customer", { id: 2, email_lower: "Ada@example.org" }],
  ["customer_email_lower", "customer", { id: 2, email: "", email_lower: "" }],
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
  ["event_number_counts_from_one", "event", { number: 0 }],
  ["webhook_disabled_reason", "webhook", { id: "wh_2", disabled_reason: "boredom" }],
  ["webhook_types_given", "webhook", { id: "wh_2", types: [] }],
  ["webhook_delivery_status", "webhook_delivery", { id: 2, status: "lost", next_attempt_at: null, ended_at: NOW }],
  ["webhook_delivery_pending_or_ended", "webhook_delivery", { id: 2, ended_at: NOW }],
  ["operator_email_unique", "operator", { id: 2, email: "ADA@example.org" }],
  ["operator_name_given", "operator", { id: 2, name: "" }],
  ["operator_kind", "operator", { id: 2, kind: "team" }],
  ["operator_role", "operator", { id: 2, role: "king" }],
  ["operator_person_has_email", "operator", { id: 2, email: null }],
  ["operator_key_hash_form", "operator_key", { hash: "sho_0123456789abcdefghijABCDEFGHIJ012345", id: "key_2" }],
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
  ["shipment_details", "shipment", other({ package_count: 0 })],
  ["shipment_details", "shipment", other({ dropoff_handover: "throw" })],
  ["shipment_details", "shipment", other({ if_undeliverable: "keep" })],
  ["shipment_distance", "shipment", other({ distance_km: -0.001 })],
  ["shipment_distance", "shipment", other({ distance_km: 20_017 })],
  ["shipment_currency_form", "shipment", other({ currency: "usd" })],
  ["shipment_currency_form", "shipment", other({ currency: "US" })],
  ["shipment_amounts_add_up", "shipment", other({ distance_fee_minor: -1, subtotal_minor: 124, total_minor: 500 })],
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

/** Unique indexes without a bad row, with their table. */
const UNIQUE = (
  await client.query<{ name: string; table: string }>(
    `select relname as name, indrelid::regclass::text as table
     from pg_index join pg_class on pg_class.oid = indexrelid
     where indisunique and not indisprimary and relnamespace = 'public'::regnamespace`,
  )
).rows
  .map(({ name, table }) => [name, table] as const)
  .filter(([name]) => !INVALID_ROWS.some(([bad]) => bad === name));

describe("with a valid row in every table", () => {
  beforeAll(async () => {
    await client.query("begin");
    for (const [table, row] of Object.entries(VALID_ROWS)) await insert(table, row);
    await insert("workspace", { ...VALID_ROWS.workspace, id: 3, twin_of: 1, tracking_slug: SLUG });
  });
  afterAll(() => client.query("rollback"));
  beforeEach(() => client.query("savepoint good"));
  afterEach(() => client.query("rollback to good"));

  const refusalOf = (table: string, change: Row) => expect(insert(table, { ...VALID_ROWS[table], ...change })).rejects;

  test.each(INVALID_ROWS)("the constraint %s refuses an invalid row of %s: %o", (name, table, change) =>
    refusalOf(table, change).toMatchObject({ constraint: name }),
  );

  test.each(UNIQUE)("the index %s refuses a duplicate of the row of %s", (constraint, table) => {
    const { columns } = KEYS.find((key) => key.kind === "p" && key.table === table)!;
    const last = columns.at(-1)!;
    const value = VALID_ROWS[table]![last];
    const changed = typeof value === "string" ? value.replace(/.$/, "C") : 2;
    return refusalOf(table, { [last]: changed }).toMatchObject({ constraint });
  });

  const keys = (kind: string) => KEYS.filter((key) => key.kind === kind).map((key) => [key.name, key] as const);

  test.each(keys("p"))("the key %s refuses an existing row", (constraint, { table }) =>
    refusalOf(table, {}).toMatchObject({ constraint }),
  );

  test.each(keys("f"))(
    "the key %s refuses a row that references a missing row",
    async (constraint, { table, columns }) => {
      // The valid row has the same primary key.
      await client.query("set local session_replication_role = replica");
      await client.query(`delete from ${table}`);
      await client.query("set local session_replication_role = origin");
      const column = columns.at(-1)!;
      const { type } = COLUMNS.find((it) => it.table === table && it.name === column);
      const missing = type === "text" ? "SHP-0123456789AC" : 2;
      await refusalOf(table, { [column]: missing }).toMatchObject({ constraint });
    },
  );
});

test("the tests have an invalid row for every check of the schema", async () => {
  const { rows } = await client.query(
    `select name from (${CATALOGUE.constraints}) as constraints where rule like 'CHECK %'`,
  );
  const named = INVALID_ROWS.map(([name]) => name);
  expect(rows.map(({ name }) => name).filter((it) => !named.includes(it))).toEqual([]);
});

/** Returns a change to a shipment with a unique reference. */
function other(change: Row): Row {
  return { reference: "SHP-0123456789AC", external_reference: null, ...change };
}

/** Returns a change to a shipment that was canceled before payment. */
function cancelled(change: Row): Row {
  return other({
    status: "cancelled",
    payment_status: "voided",
    cancelled_at: NOW,
    ...change,
  });
}

/** SQL of the names of a key's columns, in order. */
function namesOf(table: string, numbers: string): string {
  return `array(
    select attname::text from unnest(${numbers}) with ordinality as key (number, position)
      join pg_attribute on attrelid = ${table} and attnum = number order by position)`;
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
