/**
 * Tests a distributed database while many workspaces book. A worker is killed and restarted, then
 * another one joins and takes over shards. No acknowledged booking may be lost or duplicated, feed
 * readers must receive every event, and workspaces on other nodes must be unaffected.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createOnNodes, query, type Account } from "../bench/database.ts";
import { startProduct } from "../bench/processes.ts";
import { findPrograms, inDatabase, runSql, startCluster, type Cluster } from "../citus/cluster.ts";
import { startBookingLoad, type BookingLoad } from "../support/booking-load.ts";
import { endpointsAt, type Endpoints } from "../support/endpoints.ts";
import { expect, SAMPLE_TARIFF } from "./drill.ts";

const REPLICAS = 2;
/** Duration of the load before and after each incident, in milliseconds. */
const LOAD_MS = 10_000;
/** Downtime of a worker, in milliseconds. */
const AWAY_MS = 3_000;
const GIVE_UP_MS = 60_000;
/** Pause after which a feed reader polls again at the end of its feed, in milliseconds. */
const READ_AGAIN_MS = 500;
/**
 * PostgreSQL settings. Acknowledged data must survive a killed server. The log of statements is used for counting.
 */
const SETTINGS = ["synchronous_commit = on", "log_statement = all"];

/** Matches a logged statement and captures its process id and text. */
const LOGGED = /\[(\d+)\] LOG: {2}(?:statement|execute [^:]*): (.*)/;

/**
 * Counts the two-phase transactions in a node's log that booked a shipment. Only transactions that
 * span several nodes use two phases.
 */
function countPreparedBookings(log: string): number {
  const booking = new Set<string>();
  return log.split("\n").filter((line) => {
    const [, process = "", statement = ""] = LOGGED.exec(line) ?? [];
    if (/^begin/i.test(statement)) booking.delete(process);
    if (/^insert into (?:public\.)?shipment_/i.test(statement)) booking.add(process);
    return statement.startsWith("PREPARE TRANSACTION") && booking.has(process);
  }).length;
}

/** SQL that returns the node of each workspace. */
const NODE_OF = `
  select workspace.id::float8 as workspace, nodeport::text as port from workspace
  join pg_dist_shard_placement on shardid = get_shard_id_for_distribution_column('shipment', workspace.id)`;

/** A workspace that books while a reader follows its feed. */
interface Team {
  readonly workspace: number;
  readonly load: BookingLoad;
  readonly feed: Feed;
}

/** A reader of all events in a workspace's feed. */
interface Feed {
  /** Shipments whose creation event has been read. */
  readonly shipments: readonly string[];
  /** Descriptions of unexpected positions. Empty without gaps. */
  readonly gaps: readonly string[];
  /** Reads to the end of the feed and stops. */
  end(): Promise<void>;
}

function readFeed({ request }: Endpoints, apiKey: string): Feed {
  const shipments: string[] = [];
  const gaps: string[] = [];
  let isEnding = false;
  let cursor = "";
  let position = 0;
  async function readPage(): Promise<boolean> {
    const after = cursor === "" ? "" : `&after=${encodeURIComponent(cursor)}`;
    const page = await request(`/v1/events?page_size=100${after}`, { apiKey }).catch(() => undefined);
    if (page?.status !== 200) return true;
    for (const event of page.body.data) {
      position += 1;
      if (Number(event.position) !== position) gaps.push(`${event.position} for ${position}`);
      position = Number(event.position);
      if (event.type === "shipment.created") shipments.push(event.shipment);
    }
    cursor = page.body.cursor;
    return page.body.has_more;
  }
  const reading = (async () => {
    for (;;) {
      const isLast = isEnding;
      while (await readPage());
      if (isLast) return;
      await sleep(READ_AGAIN_MS);
    }
  })();
  return {
    shipments,
    gaps,
    async end() {
      isEnding = true;
      await reading;
    },
  };
}

/** Returns the workspaces whose shipments are on a node. */
async function workspacesOn(url: string, node: string): Promise<Set<number>> {
  const rows = await query<{ workspace: number; port: string }>(url, NODE_OF);
  const { port } = new URL(node);
  return new Set(rows.filter((row) => row.port === port).map(({ workspace }) => workspace));
}

function startTeam(services: readonly Endpoints[], { workspace, apiKey }: Account): Team {
  const load = startBookingLoad(services, apiKey, 1);
  return { workspace, load, feed: readFeed(services[workspace % services.length]!, apiKey) };
}

/** Returns the longest pause between acknowledged bookings of a workspace, in milliseconds. */
function longestPauseMs(teams: readonly Team[], sinceMs: number): number {
  const pauses = teams.map(({ load }) => {
    const times = [sinceMs, ...load.acknowledgedAtMs.filter((ms) => ms > sinceMs), performance.now()];
    return Math.max(...times.slice(1).map((ms, i) => ms - times[i]!));
  });
  return Math.round(Math.max(...pauses));
}

/** Lists the responses other than 201. */
function refusalsOf(teams: readonly Team[]): string[] {
  const counts = new Map<string, number>();
  for (const [what, count] of teams.flatMap(({ load }) => [...load.refused])) {
    counts.set(what, (counts.get(what) ?? 0) + count);
  }
  return [...counts].map(([what, count]) => `${count} × ${what}`);
}

function countBookings(teams: readonly Team[]): number {
  return teams.reduce((sum, { load }) => sum + load.acknowledged.size, 0);
}

/** Kills a worker and restarts it. */
async function loseWorker(cluster: Cluster, url: string, teams: readonly Team[]): Promise<void> {
  const worker = cluster.nodes[1]!;
  const onWorker = await workspacesOn(url, worker);
  const hit = teams.filter(({ workspace }) => onWorker.has(workspace));
  const others = teams.filter(({ workspace }) => !onWorker.has(workspace));
  const killedMs = performance.now();
  cluster.kill(worker);
  await sleep(AWAY_MS);
  cluster.restart(worker);
  const restartedMs = performance.now();
  const hasBooked = ({ load }: Team) => load.acknowledgedAtMs.at(-1)! > restartedMs;
  while (!hit.every(hasBooked) && performance.now() < restartedMs + GIVE_UP_MS) await sleep(10);
  const recoveryMs = Math.round(performance.now() - restartedMs);
  await sleep(LOAD_MS);
  expect(
    "killing a worker does not affect workspaces on the other worker",
    refusalsOf(others).length === 0,
    `${others.length} workspaces, longest pause ${longestPauseMs(others, killedMs)} ms; ${refusalsOf(others).join(", ") || "no error"}`,
  );
  expect(
    "workspaces on the killed worker get 503, and continue once it is back",
    hit.every(hasBooked) && refusalsOf(hit).every((it) => it.includes(" × 503")),
    `${hit.length} workspaces, after ${recoveryMs} ms; ${refusalsOf(hit).join(", ")}`,
  );
}

/** Adds a worker that takes over shards. */
async function gainWorker(cluster: Cluster, url: string, teams: readonly Team[]): Promise<void> {
  const before = countBookings(teams);
  const worker = await cluster.add();
  await runSql(worker, "create database bench");
  await runSql(inDatabase(worker, "bench"), "create extension citus");
  const { hostname, port } = new URL(worker);
  const joinedMs = performance.now();
  await runSql(
    url,
    `select citus_add_node('${hostname}', ${port})`,
    "select citus_rebalance_start()",
    "select citus_rebalance_wait()",
  );
  const tookMs = Math.round(performance.now() - joinedMs);
  await sleep(LOAD_MS);
  const { size } = await workspacesOn(url, worker);
  expect(
    "a worker joins, and shards move during bookings",
    size > 0,
    `${size} workspaces moved in ${tookMs} ms, during ${countBookings(teams) - before} bookings, longest pause ${longestPauseMs(teams, joinedMs)} ms`,
  );
}

/** Compares the acknowledged bookings with the stored shipments and the feeds. */
async function compare(url: string, teams: readonly Team[]): Promise<void> {
  const rows = await query<{ workspace: number; reference: string }>(
    url,
    "select workspace_id::float8 as workspace, reference from shipment",
  );
  const keyOf = (workspace: number, reference: string) => `${workspace} ${reference}`;
  const stored = rows.map(({ workspace, reference }) => keyOf(workspace, reference));
  const keysOf = (referencesOf: (team: Team) => Iterable<string>) =>
    teams.flatMap((team) => [...referencesOf(team)].map((it) => keyOf(team.workspace, it)));
  const acknowledged = keysOf(({ load }) => load.acknowledged.values());
  const eventKeys = keysOf(({ feed }) => feed.shipments);
  const gaps = teams.flatMap(({ feed }) => feed.gaps);
  const isSame = (keys: readonly string[]) => keys.toSorted().join() === acknowledged.toSorted().join();
  expect(
    "each acknowledged booking is stored once",
    isSame(stored),
    `${acknowledged.length} acknowledged, ${stored.length} stored`,
  );
  expect(
    "feeds contain each booking once, without gaps",
    gaps.length === 0 && isSame(eventKeys),
    `${eventKeys.length} events, ${gaps.length} gaps`,
  );
}

async function drill(programs: string): Promise<void> {
  await using owned = new AsyncDisposableStack();
  const cluster = await startCluster(programs, { settings: SETTINGS });
  owned.defer(cluster.stop);
  const { url, accounts } = await createOnNodes(cluster.nodes, SAMPLE_TARIFF);
  const services: Endpoints[] = [];
  while (services.length < REPLICAS) {
    const { ports } = await startProduct(owned, { DATABASE_URL: url, LOG_LEVEL: "error" });
    services.push(endpointsAt(`http://127.0.0.1:${ports.http}`, ""));
  }
  // Calls with every key once so that keys are cached, because too many concurrent unknown keys are refused.
  for (const { apiKey } of accounts) {
    for (const { request } of services) await request("/v1/shipments", { apiKey });
  }
  const teams = accounts.map((account) => startTeam(services, account));
  await sleep(LOAD_MS);
  await loseWorker(cluster, url, teams);
  const logs = cluster.nodes.slice(1).map((node) => cluster.log(node));
  const prepared = logs.reduce((sum, log) => sum + countPreparedBookings(log), 0);
  const seen = `${prepared} two-phase transactions, ${countBookings(teams)} bookings`;
  expect("each booking is a transaction of one node", prepared === 0, seen);
  await gainWorker(cluster, url, teams);
  await Promise.all(teams.map(({ load }) => load.stop()));
  await Promise.all(teams.map(({ feed }) => feed.end()));
  await compare(url, teams);
}

const programs = findPrograms();
if (programs === undefined) process.stdout.write("  not run: no PostgreSQL with Citus is installed\n");
else await drill(programs);
process.exit();
