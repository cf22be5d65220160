import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { countyTariff } from "./county-tariff.ts";
import { KNOWN_CUSTOMERS, SHIPMENT_DIGITS_SQL } from "./numbering.ts";
import { ADDRESSES, ROUTE, type State } from "./operations.ts";
import { runCommand } from "./processes.ts";

/** An embedded PostgreSQL with the product's settings, in a folder of the bench's own. */
export interface DatabaseServer {
  readonly folder: string;
  /** A database of no case's. */
  readonly url: string;
  /** What every database holds: a tariff, and one workspace that may call as often as it likes. */
  readonly tariffFile: string;
  readonly workspace: number;
  readonly apiKey: string;
}

/** A database of one case. */
export interface Database {
  readonly url: string;
  readonly workspace: number;
  readonly apiKey: string;
  /** How many shipments it began with. */
  readonly shipments: number;
}

/** All shipments that databases begin with are older; whatever a case writes is younger. */
const BEGUN = new Date();
const TEMPLATE = "bench_template";
/** What `ROUTE` costs with the tariff, in minor units, by column. */
const PRICE = {
  distance_km: 9.532,
  distance_fee_minor: 1144,
  weight_fee_minor: 125,
  base_fee_minor: 500,
  subtotal_minor: 1269,
  total_minor: 1269,
};

/** Starts PostgreSQL on an empty folder, with a database that those of the cases are copies of. */
export async function startDatabaseServer(owned: AsyncDisposableStack): Promise<DatabaseServer> {
  const folder = await mkdtemp(join(tmpdir(), "shipments-bench-"));
  owned.defer(() => rm(folder, { recursive: true, force: true }));
  const lease = await acquireEmbeddedPostgres(join(folder, "data"));
  owned.defer(() => lease.release());
  await query(lease.url, `create database ${TEMPLATE}`);
  const url = urlOf(lease.url, TEMPLATE);
  const tariffFile = join(folder, "tariff.json");
  await writeFile(tariffFile, JSON.stringify(countyTariff()));
  await runCommand(["tariff", "publish", tariffFile], { DATABASE_URL: url });
  const create = ["workspace", "create", "--name", "Bench", "--payment-provider", "manual"];
  const made = JSON.parse(await runCommand([...create, "--json"], { DATABASE_URL: url })) as {
    workspace: { id: number };
    api_key: string;
  };
  // Limits are not what is measured.
  await query(
    url,
    `insert into workspace_limit (workspace_id, limit_class, rate, burst)
     select ${made.workspace.id}, c, 1000000, 1000000 from unnest('{quote,read,write}'::text[]) c`,
  );
  return { folder, url: lease.url, tariffFile, workspace: made.workspace.id, apiKey: made.api_key };
}

/**
 * Makes a database with the known customers and so many pending shipments, each a second younger
 * than the one before it, with an event each. All that are made with one number are the same.
 */
export async function createDatabase(
  owned: AsyncDisposableStack,
  { url: serverUrl, workspace, apiKey }: DatabaseServer,
  shipments: number,
): Promise<Database> {
  const url = await copyTemplate(owned, serverUrl);
  await query(
    url,
    "set synchronous_commit = off",
    WITHOUT_TRIGGERS,
    `insert into customer (workspace_id, name, email, email_lower, created_at)
     select ${workspace}, 'Customer ' || n, 'customer' || n || '@example.org',
       'customer' || n || '@example.org', ${sqlOf(BEGUN)} - interval '1 day'
     from (select lpad(i::text, 12, '0') as n from generate_series(0, ${KNOWN_CUSTOMERS - 1}) i) c`,
    insertShipments(workspace, shipments),
    `insert into event (workspace_id, position, subject, number, type, data, created_at)
     select workspace_id, row_number() over (order by created_at), reference, 1, 'shipment.created',
       jsonb_build_object('reference', reference), created_at from shipment`,
    ALIGN_FEEDS,
    "vacuum analyze",
  );
  return { url, workspace, apiKey, shipments };
}

/** Makes a database as an installation has it at first: with no shipments, and never analyzed. */
export async function createEmptyDatabase(
  owned: AsyncDisposableStack,
  { url: serverUrl, workspace, apiKey }: DatabaseServer,
): Promise<Database> {
  return { url: await copyTemplate(owned, serverUrl), workspace, apiKey, shipments: 0 };
}

let databases = 0;

async function copyTemplate(owned: AsyncDisposableStack, serverUrl: string): Promise<string> {
  const name = `bench_${++databases}`;
  await query(serverUrl, `create database ${name} template ${TEMPLATE} strategy file_copy`);
  owned.defer(async () => void (await query(serverUrl, `drop database ${name} with (force)`)));
  return urlOf(serverUrl, name);
}

/** Neither triggers nor foreign keys: nobody waits for these events, and the keys are right. */
const WITHOUT_TRIGGERS = "set session_replication_role = replica";

/** Has each feed go on after its last event. */
const ALIGN_FEEDS = `
  update feed set position = coalesce(
    (select max(position) from event where event.workspace_id = feed.workspace_id), 0)`;

function insertShipments(workspace: number, count: number): string {
  const columns = { ...ROUTE, ...PRICE };
  return `insert into shipment (workspace_id, reference, status, payment_status, customer_id,
      pickup_address, dropoff_address, ${Object.keys(columns).join(", ")}, currency,
      tariff_version, created_at, updated_at, event_count)
    select ${workspace}, 'SHP-' || ${SHIPMENT_DIGITS_SQL}, 'pending', 'awaiting_payment',
      (select min(id) from customer) + i % ${KNOWN_CUSTOMERS},
      '${ADDRESSES.pickup_address}', '${ADDRESSES.dropoff_address}',
      ${Object.values(columns).join(", ")}, 'USD', 1, at, at, 1
    from generate_series(1, ${count}) i,
      lateral (select ${sqlOf(BEGUN)} - (${count} - i + 60) * interval '1 second' as at)`;
}

/**
 * Takes back what was written since, and puts all shipments in a state, so that every round finds
 * the same. New customers stay: processes may remember them.
 */
export async function restore({ url }: Database, [status, paymentStatus]: State): Promise<void> {
  const begun = sqlOf(BEGUN);
  await query(
    url,
    WITHOUT_TRIGGERS,
    "delete from webhook_attempt",
    "delete from webhook_delivery",
    `delete from event where created_at >= ${begun}`,
    `delete from payment where paid_at >= ${begun}`,
    `delete from shipment where created_at >= ${begun}`,
    `update shipment set status = '${status}', payment_status = '${paymentStatus}',
       cancelled_at = null, metadata = '{}', updated_at = created_at, event_count = 1, version = 1
     where updated_at >= ${begun} or status <> '${status}'`,
    ALIGN_FEEDS,
    "vacuum shipment, event, feed, payment, webhook_attempt, webhook_delivery",
    "checkpoint",
  );
}

/** The rows that were written or changed since databases were made, in the order they were. */
export async function newRows(url: string) {
  const begun = sqlOf(BEGUN);
  const rowsOf = async (table: string, time: string, order: string) =>
    query<{ row: object }>(
      url,
      `select to_jsonb(t) as row from ${table} t where ${time} >= ${begun} order by ${order}`,
    );
  return {
    customers: await rowsOf("customer", "created_at", "id"),
    shipments: await rowsOf("shipment", "updated_at", "updated_at"),
    payments: await rowsOf("payment", "paid_at", "paid_at"),
    events: await rowsOf("event", "created_at", "created_at, number"),
  };
}

/** Runs statements one after the other on a connection of their own; gives the rows of the last. */
export async function query<R extends pg.QueryResultRow>(
  url: string,
  ...statements: readonly string[]
): Promise<R[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    let rows: R[] = [];
    for (const statement of statements) ({ rows } = await client.query<R>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = database;
  return url.href;
}

function sqlOf(time: Date): string {
  return `'${time.toISOString()}'::timestamptz`;
}
