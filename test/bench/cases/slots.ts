import { measureAll } from "../contest.ts";
import { spreads, table } from "../figures.ts";
import { startWorker } from "../processes.ts";

/** What one round of listing slots took, in milliseconds of processor time. */
export interface SlotTimes {
  readonly slots: number;
  /** Of the first call, which works out the dates. */
  readonly firstMs: number;
  readonly listMs: number;
  /** With the JSON of the answer. */
  readonly jsonMs: number;
}

const SLOT_MINUTES = [60, 30, 10];

/** Pickup slots of 14 days of twelve hours, with a lead time, two cut-offs and a fee. */
export async function slots(): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const worker = await startWorker<{ slotMinutes: number }, SlotTimes>(
    owned,
    "cases/slots-process.ts",
  );
  const rounds = await measureAll(SLOT_MINUTES, (slotMinutes) => worker.ask({ slotMinutes }));
  const rows = SLOT_MINUTES.map((minutes, i) => [
    String(minutes),
    ...spreads(rounds[i]!, { slots: 0, firstMs: 1, listMs: 2, jsonMs: 2 }),
  ]);
  return table(["slots of, min", "slots", "first, ms", "list, ms", "with JSON, ms"], rows);
}
