import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { measureAll, measureRound, startSide, type Bench } from "../contest.ts";
import { query, restore } from "../database.ts";
import { quantile, spreads, table } from "../figures.ts";
import { create } from "../operations.ts";
import { interrupted } from "../processes.ts";
import { SETTINGS } from "../settings.ts";
import { ours } from "../sides.ts";
import { startNodes } from "./distribution.ts";

const RATE = { clients: 8, requestsPerSecond: 100 };
const BACKLOG = 250 * SETTINGS.seconds;
/** Maximum time until the last delivery, in milliseconds. */
const DELIVERY_TIMEOUT_MS = 60_000;
/** Pause in which the last outcomes are recorded, in milliseconds. */
const SETTLE_MS = 500;

/** Measures deliveries to a local receiver, from a backlog and for new bookings. With Citus, also on a cluster. */
export async function webhooks(bench: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const nodes = await startNodes(owned);
  const rows = [
    ...(await measureOn(bench, "one server")),
    ...(nodes === undefined ? [] : await measureOn(bench, "three nodes", nodes)),
  ];
  return table(["", "", "deliveries/s", "median lag, ms", "p99, ms"], rows);
}

async function measureOn(bench: Bench, name: string, nodes?: readonly string[]): Promise<string[][]> {
  await using owned = new AsyncDisposableStack();
  const { lagsMs, url } = await startReceiver(owned);
  const environment = { WEBHOOK_ALLOW_LOOPBACK_HTTP: "true" };
  const product = await startSide(owned, bench, ours(name, { environment, nodes }));
  const { database, processes } = product;
  const added = await fetch(`http://127.0.0.1:${processes[0]!.ports.http}/v1/webhooks`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${database.accounts[0]!.apiKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ url }),
  });
  assert.equal(added.status, 201);

  const writeBacklog = async () => {
    for (const sql of BACKLOG_SQL) await query(database.url, sql);
    return BACKLOG;
  };
  const book = async () => {
    // A round's writes may be reverted only after the deliveries.
    const { issued } = await measureRound(bench, product, { name: create.name, call: create.call }, RATE);
    return issued;
  };
  const measure = async (write: () => Promise<number>) => {
    lagsMs.clear();
    const beganMs = performance.now();
    const count = await write();
    while (lagsMs.size < count) {
      const hasTime = performance.now() < beganMs + SETTINGS.seconds * 1_000 + DELIVERY_TIMEOUT_MS;
      assert.ok(hasTime, `${lagsMs.size} of ${count} events were delivered`);
      await sleep(5, undefined, { signal: interrupted });
    }
    const perSecond = (count * 1_000) / (performance.now() - beganMs);
    const sorted = [...lagsMs.values()].toSorted((a, b) => a - b);
    await sleep(SETTLE_MS);
    await restore(database, create.from!);
    return { perSecond, medianMs: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
  };
  const rounds = await measureAll([writeBacklog, book], measure);
  const names = [`a backlog of ${BACKLOG}`, `${RATE.requestsPerSecond} bookings a second`];
  return names.map((of, i) => [of, name, ...spreads(rounds[i]!, { perSecond: 0, medianMs: 0, p99Ms: 0 })]);
}

/** Statements that add a second event to existing shipments, each with a delivery. */
const BACKLOG_SQL = [
  `insert into event (workspace_id, subject, number, type, data, created_at, position)
   select event.workspace_id, subject, 2, 'shipment.updated', data, now(), feed.position + row_number() over ()
   from event join feed on feed.workspace_id = event.workspace_id
   where event.workspace_id in (select workspace_id from webhook) limit ${BACKLOG}`,
  `update feed set position = position + ${BACKLOG} where workspace_id in (select workspace_id from webhook)`,
  `insert into webhook_delivery (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
   select event.workspace_id, webhook.id, subject, number, event.type, event.created_at, event.created_at
   from event join webhook on webhook.workspace_id = event.workspace_id where number = 2`,
];

/** Delay of each event's first delivery by event id, in milliseconds. */
type Lags = Map<string, number>;

async function startReceiver(owned: AsyncDisposableStack): Promise<{ url: string; lagsMs: Lags }> {
  const lagsMs: Lags = new Map();
  const server = createServer(async (request, response) => {
    const { id, timestamp } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (!lagsMs.has(id)) lagsMs.set(id, Date.now() - Date.parse(timestamp));
    response.writeHead(204).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  owned.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, lagsMs };
}
