import type { Bench } from "../contest.ts";
import { createDatabase, createEmptyDatabase, type Database } from "../database.ts";
import { number, table } from "../figures.ts";
import { cancel, create, get, list, quoteJson, requestOf } from "../operations.ts";
import { startWorker } from "../processes.ts";
import { SETTINGS } from "../settings.ts";
import { OURS } from "../sides.ts";
import type { Journey, Journeys } from "./first-minutes-process.ts";

/** What every client does again and again: the last three name the shipment that it has just booked. */
const STEPS = [quoteJson, create, get, list, cancel];
const CLIENTS = 32;
/** What the analyzed database begins with. */
const ANALYZED = { shipments: 10_000, workspaces: 1 };
/** How many times that of an analyzed database the p99 of a call may be. */
const MOST = 2;

/**
 * What clients see of a database that is empty at first, and that PostgreSQL knows nothing of until its
 * autovacuum comes round, beside one that it has analyzed.
 */
export async function firstMinutes(bench: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const empty = await measure(await createEmptyDatabase(owned, bench.databases));
  const known = await createDatabase(owned, bench.databases, ANALYZED);
  const analyzed = await measure(known);
  const rows = STEPS.map(({ name }, i) => {
    const [own, other] = [empty.steps[i]!, analyzed.steps[i]!];
    const holds = own.refused === 0 && own.p99Ms <= MOST * other.p99Ms;
    return [
      name,
      number(own.answered / SETTINGS.firstSeconds, 0),
      number(own.refused, 0),
      number(own.p99Ms, 1),
      number(other.answered / SETTINGS.firstSeconds, 0),
      number(other.refused, 0),
      number(other.p99Ms, 1),
      holds ? "yes" : "no",
    ];
  });
  const columns = ["", "empty, calls/s", "refused", "p99, ms"];
  const others = ["analyzed, calls/s", "refused", "p99, ms", `none refused, p99 ≤ ${MOST} times`];
  return table([...columns, ...others], rows);
}

async function measure(database: Database): Promise<Journeys> {
  await using owned = new AsyncDisposableStack();
  const [server] = await OURS.start(owned, database);
  const load = await startWorker<Journey, Journeys>(owned, "cases/first-minutes-process.ts");
  const requests = STEPS.map((step) => requestOf(step, database.accounts));
  return await load.ask({
    port: server!.ports.http,
    steps: requests.flatMap((it) => (it.protocol === "HTTP/1.1" ? it.texts : [])),
    clients: CLIENTS,
    seconds: SETTINGS.firstSeconds,
  });
}
