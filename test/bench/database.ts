import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { createSecretKey, hashKey } from "../../src/domain/secret-key.ts";
import { inDatabase, joinNodes, runSql } from "../citus/cluster.ts";
import { countyTariff } from "../support/county-tariff.ts";
import { KNOWN_CUSTOMERS, SHIPMENT_DIGITS_SQL } from "./numbering.ts";
import { ADDRESSES, ROUTE, type State } from "./operations.ts";
import { runCommand } from "./processes.ts";

/** An embedded PostgreSQL with the product's settings and its own data folder. */
export interface DatabaseServer {
  readonly folder: string;
  /** URL of a database that no case uses. */
  readonly url: string;
  /** File with the tariff that every database uses. */
  readonly tariffFile: string;
  /** Template databases by the clone whose product created them. */
  readonly templates: Map<string, { readonly name: string; readonly accounts: readonly Account[] }>;
}

/** Initial contents of a database for a case. See `Side`. */
export interface Contents {
  readonly shipments: number;
  readonly repository?: string | undefined;
  /** Servers of the database's cluster, which distributes it if there are several. Defaults to the bench's server. */
  readonly nodes?: readonly string[] | undefined;
}

/** Key of a workspace without rate limits. */
export interface Account {
  readonly workspace: number;
  readonly apiKey: string;
}

export interface Database {
  readonly url: string;
  /** URL of the database on each node that stores data, coordinator first. */
  readonly nodes: readonly string[];
  /** Workspaces and their keys. Every database has the same number. */
  readonly accounts: readonly Account[];
  /** Number of shipments before any load. */
  readonly shipments: number;
}

/** Start of the bench. Initial shipments are older, and shipments that a case writes are newer. */
const BEGUN = new Date();
/** Price of `ROUTE` with the tariff, as column values in minor units. */
const PRICE = {
  distance_km: 9.532,
  distance_fee_minor: 1144,
  weight_fee_minor: 125,
  base_fee_minor: 500,
  subtotal_minor: 1269,
  total_minor: 1269,
};

/** Number of workspaces in every database. */
const WORKSPACES = 50;

/** Starts PostgreSQL with an empty data folder. */
export async function startDatabaseServer(owned: AsyncDisposableStack): Promise<DatabaseServer> {
  const folder = await mkdtemp(join(tmpdir(), "shipments-bench-"));
  owned.defer(() => rm(folder, { recursive: true, force: true }));
  const lease = await acquireEmbeddedPostgres(join(folder, "data"));
  owned.defer(() => lease.release());
  const tariffFile = join(folder, "tariff.json");
  await writeFile(tariffFile, JSON.stringify(countyTariff()));
  return { folder, url: lease.url, tariffFile, templates: new Map() };
}

/** Publishes a tariff and creates the workspaces. */
async function prepare(url: string, tariffFile: string, repository?: string): Promise<readonly Account[]> {
  const environment = { DATABASE_URL: url };
  await runCommand(["tariff", "publish", tariffFile], environment, repository);
  const create = ["workspace", "create", "--name", "Bench", "--payment-provider", "manual"];
  await runCommand(create, environment, repository);
  const accounts = Array.from({ length: WORKSPACES }, (_, i) => ({
    workspace: i + 1,
    apiKey: createSecretKey("shp_"),
  }));
  const keys = accounts.map(({ workspace, apiKey }) => `(${workspace}, '${hashKey(apiKey)}')`);
  await query(
    url,
    "update feed set position = 0",
    // Deletes the test twin, so that workspace ids equal account numbers.
    ...["payment_connection", "feed", "api_key"].map((table) => `delete from ${table} where workspace_id > 1`),
    "delete from workspace where id > 1",
    "select setval(pg_get_serial_sequence('workspace', 'id'), 1)",
    // Copies the first workspace, whose rows the command line created.
    `insert into workspace (name, created_at)
     select name, created_at from workspace, generate_series(2, ${WORKSPACES})`,
    `insert into payment_connection (workspace_id, provider, connected_at)
     select id, provider, connected_at from workspace, payment_connection where id > 1`,
    `insert into api_key (workspace_id, id, hash, last4, created_at, changed_at)
     select workspace, 'key_' || left(md5(key.hash), 24), key.hash, last4, created_at, changed_at
     from api_key, (values ${keys.join()}) as key (workspace, hash)`,
    `insert into feed (workspace_id, position, changed_at)
     select id, position, changed_at from workspace, feed where id > 1`,
    // Raises the rate limits until they have no effect.
    `insert into workspace_limit (workspace_id, limit_class, rate, burst)
     select id, c, 1000000, 1000000 from workspace, unnest('{quote,read,write}'::text[]) c`,
  );
  return accounts;
}

/**
 * Creates a database with a tariff and workspaces, and runs the given statements. Distributes the
 * database if there are several nodes.
 *
 * @param nodes servers of a cluster, which stops with the database
 */
export async function createOnNodes(
  nodes: readonly string[],
  tariffFile: string,
  { repository, fill = [] }: { repository?: string | undefined; fill?: readonly string[] } = {},
): Promise<Omit<Database, "shipments">> {
  for (const node of nodes) await runSql(node, "create database bench");
  const urls = nodes.map((node) => inDatabase(node, "bench"));
  const [url] = urls as [string];
  if (nodes.length > 1) await joinNodes(nodes, "bench");
  const accounts = await prepare(url, tariffFile, repository);
  await query(url, ...fill);
  if (nodes.length > 1) await runCommand(["distribute"], { DATABASE_URL: url }, repository);
  return { url, nodes: urls, accounts };
}

/**
 * Creates a database with known customers in each workspace. The first workspace has pending
 * shipments, one second apart, with one event each. Equal numbers create equal databases.
 */
export async function createDatabase(
  owned: AsyncDisposableStack,
  server: DatabaseServer,
  { shipments, repository, nodes }: Contents,
): Promise<Database> {
  const fill = fillSql(shipments);
  const database =
    nodes === undefined
      ? await copyTemplate(owned, server, repository)
      : await createOnNodes(nodes, server.tariffFile, { repository, fill });
  if (nodes === undefined) await query(database.url, ...fill);
  for (const url of database.nodes) await query(url, "vacuum analyze");
  return { ...database, shipments };
}

function fillSql(shipments: number): string[] {
  return [
    "set synchronous_commit = off",
    WITHOUT_TRIGGERS,
    `insert into customer (workspace_id, name, email, email_lower, created_at)
     select workspace.id, 'Customer ' || n, 'customer' || n || '@example.org',
       'customer' || n || '@example.org', ${sqlOf(BEGUN)} - interval '1 day'
     from workspace,
       (select lpad(i::text, 12, '0') as n from generate_series(0, ${KNOWN_CUSTOMERS - 1}) i) c
     order by workspace.id, n`,
    insertShipments(shipments),
    // Builds events from records, which ignore columns that a version does not have.
    `insert into event select (jsonb_populate_record(null::event, jsonb_build_object(
       'workspace_id', workspace_id, 'subject', reference, 'number', 1, 'type', 'shipment.created',
       'data', jsonb_build_object('reference', reference), 'created_at', created_at,
       'transaction', 1, 'position',
       row_number() over (partition by workspace_id order by created_at)))).* from shipment`,
    ALIGN_FEEDS,
  ];
}

let databases = 0;

async function copyTemplate(
  owned: AsyncDisposableStack,
  { url: serverUrl, tariffFile, templates }: DatabaseServer,
  repository = "",
): Promise<Omit<Database, "shipments">> {
  const createNew = async (name: string, from = "") => {
    await query(serverUrl, `create database ${name} ${from}`);
    return urlOf(serverUrl, name);
  };
  let template = templates.get(repository);
  if (template === undefined) {
    const name = `bench_template_${templates.size}`;
    template = { name, accounts: await prepare(await createNew(name), tariffFile, repository) };
    templates.set(repository, template);
  }
  const name = `bench_${++databases}`;
  const url = await createNew(name, `template ${template.name} strategy file_copy`);
  owned.defer(async () => void (await query(serverUrl, `drop database ${name} with (force)`)));
  return { url, nodes: [url], accounts: template.accounts };
}

/** Disables triggers and foreign keys: the events have no consumers, and the keys are known to be valid. */
const WITHOUT_TRIGGERS = "set session_replication_role = replica";

/** Moves each feed's position to its last event. */
const ALIGN_FEEDS = `update feed set position =
    (select coalesce(max(position), 0) from event where event.workspace_id = feed.workspace_id)`;

function insertShipments(count: number): string {
  const columns = { ...ROUTE, ...PRICE };
  return `insert into shipment (workspace_id, reference, status, payment_status, customer_id,
      pickup_address, dropoff_address, ${Object.keys(columns).join(", ")}, currency,
      tariff_version, created_at, updated_at, event_count)
    select 1, 'SHP-' || ${SHIPMENT_DIGITS_SQL}, 'pending', 'awaiting_payment',
      (select min(id) from customer) + i % ${KNOWN_CUSTOMERS},
      '${ADDRESSES.pickup_address}', '${ADDRESSES.dropoff_address}',
      ${Object.values(columns).join(", ")}, 'USD', 1, at, at, 1
    from generate_series(1, ${count}) i,
      lateral (select ${sqlOf(BEGUN)} - (${count} - i + 60) * interval '1 second') as time (at)`;
}

/**
 * Deletes later writes and resets all shipments, so that every round starts from the same state.
 * New customers stay, because processes may have cached them.
 */
export async function restore({ url, nodes }: Database, [status, paymentStatus]: State): Promise<void> {
  const begun = sqlOf(BEGUN);
  await query(
    url,
    WITHOUT_TRIGGERS,
    "delete from webhook_attempt",
    "delete from webhook_delivery",
    "delete from kept_answer",
    `delete from event where created_at >= ${begun}`,
    `delete from payment where paid_at >= ${begun}`,
    `delete from shipment where created_at >= ${begun}`,
    `update shipment set status = '${status}', payment_status = '${paymentStatus}',
       cancelled_at = null, metadata = '{}', updated_at = created_at, event_count = 1, version = 1
     where updated_at >= ${begun} or status <> '${status}'`,
    ALIGN_FEEDS,
  );
  for (const node of nodes) await query(node, "vacuum", "checkpoint");
}

/** Returns the id of the PostgreSQL process whose children are the sessions. */
export async function postmasterOf(url: string): Promise<number> {
  const file = "select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid";
  const [row] = await query<{ pid: number }>(url, file);
  return row!.pid;
}

/** Returns the rows written or changed since the databases were created, in order. */
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

/** Runs statements on a new connection and returns the last one's rows. */
export async function query<R extends pg.QueryResultRow>(url: string, ...statements: readonly string[]): Promise<R[]> {
  return (await runSql(url, ...statements)) as R[];
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = database;
  return url.href;
}

function sqlOf(time: Date): string {
  return `'${time.toISOString()}'::timestamptz`;
}
