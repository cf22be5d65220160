/**
 * Books, moves, cancels and holds places in 20 slots with 64 clients on three replicas. Replicas are killed, clients
 * abandon requests, and holds expire. On Citus, shards move meanwhile. Afterwards each counter must equal the
 * reservations and the shipments, no slot may have exceeded its capacity, and each SLOT_FULL must have had a reason.
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { type Account, createOnNodes, query } from "../bench/database.ts";
import { type ServerProcess, startProduct } from "../bench/processes.ts";
import { findPrograms, startCluster } from "../citus/cluster.ts";
import { freePort } from "../support/free-port.ts";
import { EVERY_DAY, scheduleOf } from "../support/schedules.ts";
import { worldTariff } from "../support/tariffs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { expect } from "./drill.ts";
import { CAPACITY, History, SlotClient } from "./slot-clients.ts";

const LOAD_MS = 180_000;
const REPLICAS = 3;
const CLIENTS = 64;
const KILL_EVERY_MS = 15_000;
const EXPIRE_EVERY_MS = 2_000;
const MOVE_EVERY_MS = 30_000;
const SETTLE_MS = 180_000;

const TARIFF = worldTariff({
  schedules: [
    scheduleOf({
      time_zone: "UTC",
      hours: [{ days: EVERY_DAY, opens: "00:00", closes: "20:00" }],
      slot_minutes: 60,
      capacity: CAPACITY,
    }),
  ],
  default_schedule: "day",
});

async function repeat(everyMs: number, untilMs: number, work: () => Promise<unknown>): Promise<void> {
  for (await sleep(everyMs); Date.now() < untilMs; await sleep(everyMs)) await work();
}

/**
 * Lets holds expire after the longest duration of a booking, as quotes do that are booked at the last moment.
 *
 * @param share share of the holds
 */
async function expireHolds(url: string, history: History, share: number): Promise<void> {
  const expired = await query<{ holder: string }>(
    url,
    `update slot_reservation set check_at = now() + interval '61 s'
     where reference is null and check_at > now() + interval '2 minutes' and random() < ${share} returning holder`,
  );
  for (const { holder } of expired) {
    history.count("expired hold");
    history.expire(holder);
  }
}

/** Moves a shard of the shipments, with all tables of the same workspaces, to the other worker. */
async function moveShard(url: string, workspace: number): Promise<void> {
  await query(
    url,
    `select citus_move_shard_placement(shardid, here.nodename, here.nodeport, other.nodename, other.nodeport, 'block_writes')
     from pg_dist_shard_placement as here
     join pg_dist_node as other on other.groupid > 0 and other.nodeport <> here.nodeport
     where shardid = get_shard_id_for_distribution_column('shipment', ${workspace}::bigint) limit 1`,
  );
}

const WRONG = `
  select slot.id from slot where
    shipments <> (select count(*) from slot_reservation where slot_id = slot.id)
    or shipments <> (select count(*) from slot_reservation where slot_id = slot.id and reference is null)
      + (select count(*) from booked where slot = slot.starts_at)`;

const BOOKED = `
  select external_reference as "externalReference", reference, windows #>> '{pickup,start}' as start
  from shipment where status <> 'cancelled'`;

/** Runs the load against a database with the tariff. */
async function run(url: string, accounts: readonly Account[], isDistributed: boolean): Promise<void> {
  await using owned = new AsyncDisposableStack();
  // A booking above the capacity fails.
  await query(url, `alter table slot add constraint never_above_capacity check (shipments <= ${CAPACITY})`);
  const environments = await Promise.all(
    Array.from({ length: REPLICAS }, async () => ({
      DATABASE_URL: url,
      LOG_LEVEL: "fatal",
      PORT: `${await freePort()}`,
      GRPC_PORT: `${await freePort()}`,
    })),
  );
  const ports = environments.map(({ PORT }) => Number(PORT));
  const replicas: ServerProcess[] = [];
  for (const environment of environments) replicas.push(await startProduct(owned, environment));

  const history = new History();
  const clients = Array.from(
    { length: CLIENTS },
    (_, i) => new SlotClient(accounts[i % accounts.length]!, ports, history),
  );
  const untilMs = Date.now() + LOAD_MS;
  let kills = 0;
  let moves = 0;
  await Promise.all([
    ...clients.map((client) => client.run(untilMs)),
    repeat(EXPIRE_EVERY_MS, untilMs, () => expireHolds(url, history, 1 / 8)),
    repeat(KILL_EVERY_MS, untilMs - KILL_EVERY_MS, async () => {
      const i = kills++ % REPLICAS;
      process.kill(replicas[i]!.pid, "SIGKILL");
      replicas[i] = await startProduct(owned, environments[i]!);
    }),
    isDistributed &&
      repeat(MOVE_EVERY_MS, untilMs - KILL_EVERY_MS, () =>
        moveShard(url, accounts[moves++ % accounts.length]!.workspace),
      ),
  ]);
  const calls = [...history.counts].map(([name, count]) => `${count} ${name}`);
  process.stdout.write(`  ${kills} kills, ${moves} moved shards; ${calls.join(", ")}\n`);
  await expireHolds(url, history, 1);
  const settledMs = Date.now() + SETTLE_MS;
  while ((await countPending(url)) > 0 && Date.now() < settledMs) await sleep(500);
  await compare(url, clients, history);
}

/** Counts the reservations that have not been compared with their shipments. */
async function countPending(url: string): Promise<number> {
  return (await query(url, "select from slot_reservation where check_at is not null")).length;
}

/** Compares counters, reservations and shipments with each other and with the history. */
async function compare(url: string, clients: readonly SlotClient[], history: History): Promise<void> {
  const booked = await query<{ externalReference: string; reference: string; start: string }>(url, BOOKED);
  const starts = booked.map(({ start }) => `('${start}'::timestamptz)`).join();
  const wrong = await query(url, `with booked (slot) as (values ${starts}) ${WRONG}`);
  const [counted] = await query<{ total: number }>(url, "select sum(shipments)::int as total from slot");
  expect(
    "counters equal reservations and shipments",
    wrong.length === 0 && counted!.total === booked.length && (await countPending(url)) === 0,
    `${counted!.total} counted, ${booked.length} booked, ${wrong.length} wrong`,
  );
  expect(
    "no slot exceeds its capacity, and no call fails",
    history.unexpected.length === 0,
    history.unexpected.slice(0, 5).join("; ") || "no unexpected response",
  );
  const stored = new Set(
    booked
      .filter(({ externalReference }) => !history.uncertain.has(externalReference))
      .map(({ reference, start }) => `${reference} ${Date.parse(start)}`),
  );
  const acknowledged = new Set(clients.flatMap((client) => client.acknowledged));
  expect(
    "exactly the acknowledged bookings, moves and cancellations are stored",
    acknowledged.symmetricDifference(stored).size === 0,
    `${acknowledged.size} acknowledged, ${stored.size} stored, ${history.uncertain.size} uncertain`,
  );
  expect(
    "each SLOT_FULL is explained by places that other calls may have taken",
    history.unjustified().length === 0,
    `${history.full.length} refusals, ${history.unjustified().length} unexplained`,
  );
}

/** Creates a database with the tariff, and runs the load. */
async function drill(nodes: readonly string[], folder: string): Promise<void> {
  const file = join(folder, "tariff.json");
  await writeFile(file, JSON.stringify(TARIFF));
  const { url, accounts } = await createOnNodes(nodes, file);
  await run(url, accounts.slice(0, CLIENTS / 4), nodes.length > 1);
}

const folder = makeTemporaryFolder("shipments-slots");
try {
  process.stdout.write("  one server\n");
  const lease = await acquireEmbeddedPostgres(join(folder, "data"));
  await drill([lease.url], folder).finally(() => lease.release());
  const programs = findPrograms();
  if (programs === undefined) process.stdout.write("  not run on a cluster: no PostgreSQL with Citus is installed\n");
  else {
    process.stdout.write("  a cluster\n");
    const cluster = await startCluster(programs);
    await drill(cluster.nodes, folder).finally(() => cluster.stop());
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit();
