import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { hashKey } from "../../../src/domain/secret-key.ts";
import { createCourierToken } from "../../../src/features/couriers/courier-token.ts";
import type { Bench } from "../contest.ts";
import { createDatabase, query } from "../database.ts";
import { number, quantile, table } from "../figures.ts";
import { SHIPMENT_DIGITS_SQL, shipmentDigits } from "../numbering.ts";
import { interrupted, startProduct } from "../processes.ts";
import { SETTINGS } from "../settings.ts";

const COURIERS = 2_000;
/** Open shipments of each courier. The last two are awaiting pickup, one for each measurement. */
const STOPS = 10;
const PLACES_INTERVAL_S = 15;
const ACTS_INTERVAL_S = 300;

/**
 * Measures the actions of couriers on one process that is pinned to one core, without other load and while all couriers
 * report their location.
 */
export async function couriers({ databases }: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const tokens = Array.from({ length: COURIERS }, () => createCourierToken(1));
  const { url } = await createDatabase(owned, databases, { shipments: COURIERS * STOPS });
  await query(url, ...runsSql(tokens), "vacuum analyze");
  const { pid, ports } = await startProduct(owned, { DATABASE_URL: url });
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", "0", `${pid}`]);
  const callAs = async (courier: number, [path, body, extra]: JsonPost) => {
    const headers = { ...HEADERS, ...extra, cookie: `courier=${tokens[courier]}` };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${ports.http}${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(text);
  };
  // The first calls of credentials after a start wait behind each other, so that guesses do not slow down others.
  for (let courier = 0; courier < COURIERS; courier++) await callAs(courier, placesOf(courier));
  const acts = (stop: number) => send(ACTS_INTERVAL_S, (courier) => callAs(courier, actOf(courier, stop)));
  const places = () => send(PLACES_INTERVAL_S, (courier) => callAs(courier, placesOf(courier)));
  const alone = await acts(STOPS - 1);
  const [loaded, reports] = await Promise.all([acts(STOPS), places()]);
  const rows = Object.entries({
    "actions, idle service": alone,
    "actions, with locations": loaded,
    locations: reports,
  });
  return table(
    ["calls", "calls/s", "median, ms", "p99, ms", "p99 ÷ idle"],
    rows.map(([name, ms]) => [
      name,
      number(ms.length / SETTINGS.soakSeconds, 1),
      ...[0.5, 0.99].map((share) => number(quantile(ms, share), 1)),
      number(quantile(ms, 0.99) / quantile(alone, 0.99), 2),
    ]),
  );
}

/** Assigns the shipments to couriers, each with a link and a signed-in device. */
function runsSql(tokens: readonly string[]): string[] {
  const hashes = tokens.map((token, i) => `(${i}, '${hashKey(token)}')`).join();
  const courier = `jsonb_build_object('courierId', 'cou_' || (i - 1) / ${STOPS}, 'name', 'Ada', 'phone', null, 'vehicle', null, 'externalId', null, 'sequence', i)`;
  const etas = `'{"pickup": null, "dropoff": null}'::jsonb`;
  return [
    `insert into courier (workspace_id, id, name, created_at, updated_at, version)
     select 1, 'cou_' || i, 'Ada', now(), now(), 1 from generate_series(0, ${COURIERS - 1}) i`,
    `insert into courier_link (workspace_id, id, courier_id, hash, created_by, created_at, ends_at)
     select 1, 'col_' || i, 'cou_' || i, 'link ' || i, '', now(), now() + interval '1 day'
     from generate_series(0, ${COURIERS - 1}) i`,
    `insert into courier_session (workspace_id, hash, link_id, user_agent, created_at, last_seen_at)
     select 1, hash, 'col_' || i, '', now(), now() from (values ${hashes}) as device (i, hash)`,
    `update shipment set payment_status = 'paid',
       status = case when (i - 1) % ${STOPS} < ${STOPS - 2} then 'in_transit' else 'awaiting_pickup' end,
       progress = jsonb_build_object('courier', ${courier}, 'arrivedAt', null, 'etas', ${etas},
         'announcedEtas', ${etas}, 'attempts', '[]'::jsonb)
     from generate_series(1, ${COURIERS * STOPS}) i where workspace_id = 1 and reference = 'SHP-' || ${SHIPMENT_DIGITS_SQL}`,
  ];
}

const referenceOf = (courier: number, stop: number) => `SHP-${shipmentDigits(courier * STOPS + stop)}`;

const ACTS = [
  ["progress", { stage: "at_pickup" }],
  ["advance", { from: "awaiting_pickup" }],
  ["attempts", { reason: "nobody_there" }],
] as const;

type JsonPost = readonly [path: string, body: object, headers?: Readonly<Record<string, string>>];

const HEADERS = { "content-type": "application/json", "sec-fetch-site": "same-origin" };

function actOf(courier: number, stop: number): JsonPost {
  const [name, body] = ACTS[courier % ACTS.length]!;
  const path = `/v1/shipments/${referenceOf(courier, stop)}/${name}`;
  return [path, { ...body, occurred_at: new Date().toISOString() }, { "idempotency-key": randomUUID() }];
}

/** Returns a report of the location for the shipments in transit and the next pickup, as from the courier's page. */
function placesOf(courier: number): JsonPost {
  const place = { lat: 40.7 + courier / 100_000, lng: -73.9, measured_at: new Date().toISOString() };
  const stops = Array.from({ length: STOPS - 1 }, (_, i) => referenceOf(courier, i + 1));
  return ["/v1/courier_places", { places: stops.map((shipment) => ({ shipment, ...place })) }];
}

/**
 * Calls as each courier in turn, once per interval.
 *
 * @returns sorted latencies since each call was due, in milliseconds
 */
async function send(intervalS: number, call: (courier: number) => Promise<void>): Promise<Float64Array> {
  const rate = COURIERS / intervalS;
  const beganMs = performance.now();
  const latencies = Array.from({ length: Math.floor(SETTINGS.soakSeconds * rate) }, async (_, i) => {
    const dueMs = (i / rate) * 1_000;
    // A signal for each of thousands of timers delays their calls by up to half a second.
    await sleep(dueMs);
    interrupted.throwIfAborted();
    await call(i % COURIERS);
    return performance.now() - beganMs - dueMs;
  });
  return Float64Array.from(await Promise.all(latencies)).sort();
}
