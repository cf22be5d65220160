import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import manifest from "../../package.json" with { type: "json" };
import type { EntityManager } from "../db/orm.ts";
import { createReplicaHeartbeat } from "../features/reports/replica-heartbeat.ts";
import { writeUsage, type UsageCounter } from "../features/reports/usage-counter.ts";

/** Writes down, regularly, what this process counts and that it is there. */
export interface Reporting {
  /** Goes on until the signal aborts. */
  start(signal: AbortSignal): void;
  /** After the signal: writes the last counts, and that the process ends. Never rejects. */
  end(): Promise<void>;
}

/** How often a process says that it is there, in milliseconds. */
const BEAT_MS = 5_000;
/** How often counts of calls are written, in milliseconds; a process that is killed loses the rest. */
const WRITE_MS = 10_000;

/** Builds what writes. */
export function createReporting(options: {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly usage: UsageCounter;
}): Reporting {
  const { em, log, usage } = options;
  const heartbeat = createReplicaHeartbeat(em, manifest.version);
  let running: Promise<unknown> | undefined;

  async function repeat(
    everyMs: number,
    work: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      // While the database is away, which is logged elsewhere, counts stay in memory.
      await work().catch((error: unknown) => log.debug({ err: error }, "report not written"));
      await sleep(everyMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  return {
    start(signal) {
      running = Promise.all([
        repeat(BEAT_MS, heartbeat.beat, signal),
        repeat(WRITE_MS, () => writeUsage(em, usage), signal),
      ]);
    },
    async end() {
      if (running === undefined) return;
      await running;
      const ended = await Promise.allSettled([writeUsage(em, usage), heartbeat.end()]);
      for (const each of ended) {
        if (each.status === "rejected") log.warn({ err: each.reason }, "last report not written");
      }
    },
  };
}
