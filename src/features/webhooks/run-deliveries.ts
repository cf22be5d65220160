import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Logger as WorkerLogger, parseCronItems, run, type TaskList } from "graphile-worker";
import pg from "pg";
import type { Logger } from "pino";
import { DELIVER_TASK } from "../events/fan-out.ts";
import { deliver, type DeliverDeps } from "./deliver.ts";
import type { DeliverJob } from "./enqueue.ts";
import { purgeDeliveries } from "./purge-deliveries.ts";
import { watchOverWorkers } from "./watch-over-workers.ts";

/** Attempts that one process makes at the same time; nearly all of an attempt is waiting. */
const CONCURRENCY = 50;
/** How many connections the jobs' engine holds at most. */
const MAX_CONNECTIONS = 5;
/**
 * How often each idle place looks for jobs that have come due, in milliseconds. They do not look all
 * at once, so that a job waits for a small part of it.
 */
const POLL_MS = 5_000;
/** How long attempts under way may take to finish once the process is to end, in milliseconds. */
const GRACE_MS = 3_000;
/** How long to wait before starting anew when the engine broke down, in milliseconds. */
const RESTART_MS = 1_000;

const PURGE_TASK = "purge_webhook_deliveries";

/** The process's share in the delivery of webhooks. */
export interface Deliveries {
  /** Takes on no more jobs, and lets go of those that do not finish in a few seconds. */
  close(): Promise<void>;
}

/**
 * Works on the jobs that deliver webhooks until closed, next to any other process that does. A
 * broken connection only interrupts it.
 */
export function runDeliveries(databaseUrl: string, log: Logger, deps: DeliverDeps): Deliveries {
  const stopping = new AbortController();
  const taskList: TaskList = {
    [DELIVER_TASK]: (payload) => deliver(payload as DeliverJob, deps),
    [PURGE_TASK]: () => purgeDeliveries(deps.em, deps.now()),
  };

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await workOnce(databaseUrl, log, taskList, stopping.signal);
      } catch (error) {
        log.warn({ err: error }, "delivery of webhooks was interrupted");
        await sleep(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  const ended = work();
  return {
    async close() {
      stopping.abort();
      await ended;
    },
  };
}

/** Works until told to stop; rejects when the engine breaks down. */
async function workOnce(
  databaseUrl: string,
  log: Logger,
  taskList: TaskList,
  stop: AbortSignal,
): Promise<void> {
  const pgPool = new pg.Pool({
    connectionString: databaseUrl,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: 5_000,
    application_name: "shipments deliveries",
  });
  const broken = (error: Error) => log.warn({ err: error }, "a connection of deliveries broke");
  pgPool.on("error", broken);
  pgPool.on("connect", (client) => void client.on("error", broken));
  const events = new EventEmitter();
  const poolId = new Promise<string>((resolve) => {
    events.once("pool:create", ({ workerPool }: { workerPool: { id: string } }) =>
      resolve(workerPool.id),
    );
  });
  try {
    const runner = await run({
      pgPool,
      events,
      taskList,
      concurrency: CONCURRENCY,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: GRACE_MS,
      logger: new WorkerLogger(() => (level, message) => {
        if (level === "error" || level === "warning") log.warn({ message }, "deliveries");
        else log.debug({ message }, "deliveries");
      }),
      parsedCronItems: parseCronItems([
        { task: PURGE_TASK, match: "17 3 * * *", identifier: PURGE_TASK },
      ]),
    });
    const stopRunner = () => void runner.stop().catch(() => undefined);
    const watching = watchOverWorkers(databaseUrl, await poolId, log, stopRunner);
    stop.addEventListener("abort", stopRunner);
    if (stop.aborted) stopRunner();
    try {
      await runner.promise;
    } finally {
      stop.removeEventListener("abort", stopRunner);
      await watching.close();
    }
  } finally {
    await pgPool.end();
  }
}
