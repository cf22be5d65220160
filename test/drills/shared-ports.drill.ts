/**
 * Kills processes that share the ports one after the other under load, and replaces each. No acknowledged booking may
 * be lost or duplicated, and callers may lose only calls on connections to the killed process.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { query, startDatabaseServer } from "../bench/database.ts";
import { runCommand, startProduct } from "../bench/processes.ts";
import { startBookingLoad } from "../support/booking-load.ts";
import { endpointsAt } from "../support/endpoints.ts";
import { freePort } from "../support/free-port.ts";
import { expect, SAMPLE_TARIFF } from "./drill.ts";

const PROCESSES = 4;
const CLIENTS = 16;
/** Duration of the load before and after a process is killed, in milliseconds. */
const LOAD_MS = 2_000;

await using owned = new AsyncDisposableStack();
const { url } = await startDatabaseServer(owned);
const database = { DATABASE_URL: url, LOG_LEVEL: "error" };
await runCommand(["tariff", "publish", SAMPLE_TARIFF], database);
const create = ["workspace", "create", "--name", "Drill", "--payment-provider", "manual", "--json"];
const { api_key: apiKey } = JSON.parse(await runCommand(create, database)) as { api_key: string };
await query(
  url,
  `insert into workspace_limit (workspace_id, limit_class, rate, burst)
   select id, 'write', 1000000, 1000000 from workspace`,
);
const [PORT, GRPC_PORT] = [`${await freePort()}`, `${await freePort()}`];
const shared = { ...database, REUSE_PORT: "true", PORT, GRPC_PORT };
const start = async () => startProduct(owned, { ...shared, OPERATIONS_PORT: `${await freePort()}` });

const processes = [];
for (let i = 0; i < PROCESSES; i++) processes.push(await start());
const load = startBookingLoad([endpointsAt(`http://127.0.0.1:${PORT}`, "")], apiKey, CLIENTS);
const lost = () => load.refused.get("lost") ?? 0;
await sleep(LOAD_MS);
for (const [i, { pid }] of processes.entries()) {
  const before = { acknowledged: load.acknowledged.size, lost: lost() };
  process.kill(pid, "SIGKILL");
  await sleep(LOAD_MS);
  const others = load.acknowledged.size - before.acknowledged;
  processes[i] = await start();
  await sleep(LOAD_MS);
  const calls = lost() - before.lost;
  const seen = `${calls} calls lost, ${others} bookings until it was replaced`;
  expect(`killing process ${i + 1} loses only calls on its connections`, calls <= CLIENTS && others > 0, seen);
}
await load.stop();
const rows = await query(url, "select reference from shipment");
const acknowledged = [...load.acknowledged.values()].toSorted();
const stored = rows.map(({ reference }) => reference as string).toSorted();
expect(
  "each acknowledged booking is stored once",
  JSON.stringify(stored) === JSON.stringify(acknowledged),
  `${acknowledged.length} acknowledged, ${stored.length} stored`,
);
const refused = [...load.refused.keys()].filter((what) => what !== "lost");
expect("no call is refused", refused.length === 0, refused.join(", ") || "none");
