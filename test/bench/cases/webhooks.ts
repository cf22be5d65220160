import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { interleave, measureRound, startSide, type Bench, type Contestant } from "../contest.ts";
import { query, restore } from "../database.ts";
import { quantile, spread, table } from "../figures.ts";
import { create } from "../operations.ts";
import { interrupted, startProduct } from "../processes.ts";
import { SETTINGS } from "../settings.ts";

const BOOKINGS_PER_SECOND = 100;
const CLIENTS = 8;
/** Events in the backlog for each second of a round. */
const BACKLOG_PER_SECOND = 250;
/** How long the last delivery may take, in milliseconds. */
const PATIENCE_MS = 60_000;

/** Deliveries to a receiver on this machine: of a backlog, and of bookings as they are made. */
export async function webhooks(bench: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const receiver = await startReceiver(owned);
  const ours = await startSide(owned, bench, {
    name: "ours",
    isPeer: false,
    start: async (it, { url }) => [
      await startProduct(it, { DATABASE_URL: url, WEBHOOK_ALLOW_LOOPBACK_HTTP: "true" }),
    ],
  });
  await addWebhook(ours, receiver.url);
  const ways = [drainBacklog, deliverBookings];
  for (const measure of ways) await measure(bench, ours, receiver);
  const rounds = await interleave(ways, (measure) => measure(bench, ours, receiver));
  const rows = [`a backlog of ${backlog()}`, `${BOOKINGS_PER_SECOND} bookings a second`].map(
    (name, i) => [
      name,
      spread(
        rounds[i]!.map((it) => it.perSecond),
        0,
      ),
      spread(
        rounds[i]!.map((it) => it.medianMs),
        0,
      ),
      spread(
        rounds[i]!.map((it) => it.p99Ms),
        0,
      ),
    ],
  );
  return table(["", "deliveries/s", "median lag, ms", "p99, ms"], rows);
}

function backlog(): number {
  return BACKLOG_PER_SECOND * SETTINGS.seconds;
}

/** Writes the events of many changes at once, and waits until all are delivered. */
async function drainBacklog(_: Bench, { database }: Contestant, receiver: Receiver) {
  receiver.lagsMs.clear();
  const beganMs = performance.now();
  await query(
    database.url,
    `insert into event (workspace_id, subject, number, type, data, created_at)
     select workspace_id, subject, 2, 'shipment.updated', data, now()
     from event where number = 1 limit ${backlog()}`,
  );
  return await whatCame(receiver, backlog(), beganMs, () => restore(database, create.from!));
}

/** Books at a steady rate, and waits until all bookings are delivered. */
async function deliverBookings(bench: Bench, ours: Contestant, receiver: Receiver) {
  receiver.lagsMs.clear();
  const beganMs = performance.now();
  // `restore` would take deliveries away that are still to be made.
  const booking = { ...create, from: undefined };
  const load = { clients: CLIENTS, requestsPerSecond: BOOKINGS_PER_SECOND };
  const { issued } = await measureRound(bench, ours, booking, load);
  return await whatCame(receiver, issued, beganMs, () => restore(ours.database, create.from!));
}

async function whatCame(
  { lagsMs }: Receiver,
  count: number,
  beganMs: number,
  cleanUp: () => Promise<void>,
) {
  const deadline = performance.now() + PATIENCE_MS;
  while (lagsMs.size < count) {
    if (performance.now() > deadline) throw new Error(`${lagsMs.size} of ${count} events came`);
    await sleep(5, undefined, { signal: interrupted });
  }
  const perSecond = (count * 1_000) / (performance.now() - beganMs);
  const sorted = [...lagsMs.values()].toSorted((a, b) => a - b);
  // The last answers are still to be recorded.
  await sleep(500, undefined, { signal: interrupted });
  await cleanUp();
  return { perSecond, medianMs: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

interface Receiver {
  readonly url: string;
  /** By the event's id, how long after the event its first delivery came, in milliseconds. */
  readonly lagsMs: Map<string, number>;
}

async function startReceiver(owned: AsyncDisposableStack): Promise<Receiver> {
  const lagsMs = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const event = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
      readonly id: string;
      readonly timestamp: string;
    };
    if (!lagsMs.has(event.id)) lagsMs.set(event.id, Date.now() - Date.parse(event.timestamp));
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  owned.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, lagsMs };
}

async function addWebhook({ processes, database }: Contestant, url: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${processes[0]!.ports.http}/v1/webhooks`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${database.apiKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ url }),
  });
  if (!response.ok) throw new Error(`no webhook was added: ${await response.text()}`);
}
