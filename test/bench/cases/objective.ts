import { measureAll, measureRound, startSide, type Bench, type Round } from "../contest.ts";
import { restore } from "../database.ts";
import { number, spreads, table } from "../figures.ts";
import type { Load, Outcome } from "../load/load.ts";
import { OBJECTIVE } from "../objective.ts";
import { create, quoteJson } from "../operations.ts";
import { startWorker } from "../processes.ts";
import { SETTINGS } from "../settings.ts";
import { OURS } from "../sides.ts";

/** Number of clients. High enough that one is always free when a request is due. */
const CLIENTS = 128;
/** Minimum share of due requests that a valid round must have sent. */
const MIN_SENT_SHARE = 0.99;

/** Measures quotes and bookings together at the stated rates, and reports whether the objective is met. */
export async function objective(bench: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const second = await startWorker<Load, Outcome>(owned, "load/load-process.ts");
  const product = await startSide(owned, bench, OURS);
  // Has no `from`, because the writes may only be reverted after both loads have ended.
  const booking = { name: create.name, call: create.call };
  const measure = async () => {
    const rounds = await Promise.all([
      measureRound(bench, product, quoteJson, loadOf("quote")),
      measureRound({ ...bench, generator: second }, { ...product }, booking, loadOf("create")),
    ]);
    product.next += rounds[1].issued;
    await restore(product.database, create.from!);
    return rounds;
  };
  const [rounds] = await measureAll([product], measure);
  const rows = (["quote", "create"] as const).map((name, i) =>
    rowOf(
      name,
      rounds!.map((it) => it[i]!),
    ),
  );
  return table(
    ["offered together", "answers/s", "median, ms", "p99, ms", "p99.9, ms", "objective, p99", "holds"],
    rows,
  );
}

function loadOf(name: keyof typeof OBJECTIVE) {
  return { clients: CLIENTS, requestsPerSecond: OBJECTIVE[name].requestsPerSecond };
}

function rowOf(name: keyof typeof OBJECTIVE, rounds: readonly Round[]): string[] {
  const { requestsPerSecond, p99Ms } = OBJECTIVE[name];
  const due = requestsPerSecond * SETTINGS.seconds;
  const kept = rounds.filter((it) => it.issued >= due * MIN_SENT_SHARE && it.p99Ms <= p99Ms);
  return [
    `${number(requestsPerSecond, 0)} a second: ${name}`,
    ...spreads(rounds, { requestsPerSecond: 0, medianMs: 2, p99Ms: 2, p999Ms: 2 }),
    `${p99Ms} ms`,
    `in ${kept.length} of ${rounds.length} rounds`,
  ];
}
