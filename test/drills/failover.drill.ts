/**
 * Kills the primary under load and promotes its synchronous standby. No acknowledged booking may be
 * lost, and bookings must resume soon, regardless of the number of replicas.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand, startProduct } from "../bench/processes.ts";
import { startBookingLoad } from "../support/booking-load.ts";
import { endpointsAt } from "../support/endpoints.ts";
import { startServerPair } from "../support/server-pair.ts";
import { expect, SAMPLE_TARIFF } from "./drill.ts";

const RUNS = 5;
const REPLICAS = 2;
const CLIENTS = 16;
/** Duration of the load before the primary is killed, and after bookings resume, in milliseconds. */
const LOAD_MS = 3_000;
/**
 * Time between the kill and the promotion, in milliseconds. It stands for an operator's failover
 * tool, whose speed is not tested.
 */
const AWAY_MS = 1_000;
/** Maximum time from the promotion to the first acknowledged booking, in milliseconds. */
const RECOVERY_MS = 2_000;
const GIVE_UP_MS = 60_000;

/** Measurements of one failover. */
interface FailoverTimes {
  /** Times from the promotion until the server accepted writes, and until a booking was acknowledged. */
  readonly promotionMs: number;
  readonly recoveryMs: number;
  readonly acknowledged: number;
  readonly stored: number;
  /** Number of ready replicas at the end. */
  readonly ready: number;
}

async function failOver(): Promise<FailoverTimes> {
  await using owned = new AsyncDisposableStack();
  const pair = await startServerPair();
  owned.defer(() => pair.close());
  const environment = { DATABASE_URL: pair.url, LOG_LEVEL: "error" };
  await runCommand(["tariff", "publish", SAMPLE_TARIFF], environment);
  const create = ["workspace", "create", "--name", "Drill", "--payment-provider", "manual"];
  const printed = await runCommand([...create, "--json"], environment);
  const { api_key: apiKey } = JSON.parse(printed) as { api_key: string };
  await pair.first.query(
    `insert into workspace_limit (workspace_id, limit_class, rate, burst)
     select id, class, 1000000, 1000000
     from workspace, unnest('{quote,read,write}'::text[]) as class`,
  );
  const services = [];
  for (let i = 0; i < REPLICAS; i++) {
    const { ports } = await startProduct(owned, environment);
    services.push(endpointsAt(`http://127.0.0.1:${ports.http}`, ""));
  }
  const load = startBookingLoad(services, apiKey, CLIENTS);
  await sleep(LOAD_MS);
  pair.first.kill();
  await sleep(AWAY_MS);
  const before = load.acknowledged.size;
  const begunMs = performance.now();
  const promotionMs = pair.second.promote().then(() => Math.round(performance.now() - begunMs));
  let firstMs = Infinity;
  while (firstMs === Infinity && performance.now() - begunMs < GIVE_UP_MS) {
    if (load.acknowledged.size > before) firstMs = load.acknowledgedAtMs.at(-1)!;
    await sleep(1);
  }
  await sleep(LOAD_MS);
  await load.stop();
  const probes = services.map(({ request }) => request("/readyz").catch(() => undefined));
  const ready = (await Promise.all(probes)).filter((answer) => answer?.status === 200).length;
  const rows = await pair.second.query("select reference from shipment");
  const stored = new Set(rows.map(({ reference }) => reference));
  const acknowledged = [...load.acknowledged.values()];
  const found = acknowledged.filter((reference) => stored.has(reference));
  return {
    promotionMs: await promotionMs,
    recoveryMs: Math.round(firstMs - begunMs),
    acknowledged: acknowledged.length,
    stored: found.length === acknowledged.length ? rows.length : found.length,
    ready,
  };
}

for (let run = 1; run <= RUNS; run++) {
  const { promotionMs, recoveryMs, acknowledged, stored, ready } = await failOver();
  const isKept = recoveryMs <= RECOVERY_MS && acknowledged === stored && ready === REPLICAS;
  const counts = `${acknowledged} acknowledged, ${stored} stored, ${ready} replicas ready`;
  const seen = `after ${recoveryMs} ms, of which the promotion took ${promotionMs} ms; ${counts}`;
  expect(`run ${run}: bookings continue after a promotion`, isKept, seen);
}
