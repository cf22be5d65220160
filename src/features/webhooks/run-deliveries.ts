import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Logger as WorkerLogger, parseCronItems, run, type TaskList } from "graphile-worker";
import pg from "pg";
import type { Logger } from "pino";
import { DELIVER_TASK } from "../events/fan-out.ts";
import { deliver, type DeliverDeps } from "./deliver.ts";
import type { DeliverJob } from "./enqueue-attempt.ts";
import { purgeDeliveries } from "./purge-deliveries.ts";
import { releaseDeadWorkers } from "./release-dead-workers.ts";

/** How many attempts one process makes at the same time; an attempt is mostly waiting. */
const CONCURRENCY = 50;
/** How many connections the job runner holds at most. */
const MAX_CONNECTIONS = 5;
/**
 * How often each idle worker polls for jobs that have come due, in milliseconds. The workers poll
 * at different times, so a job waits for a fraction of this.
 */
const POLL_MS = 5_000;
/** How long attempts in flight may take to finish at shutdown, in milliseconds. */
const GRACE_MS = 3_000;
/** How long to wait before restarting a runner that failed, in milliseconds. */
const RESTART_MS = 1_000;

const PURGE_TASK = "purge_webhook_deliveries";

/** The delivery of webhooks by this process. */
export interface Deliveries {
  /**
   * Takes no more jobs, waits for those in flight, and aborts what has not finished in 3 seconds.
   */
  close(): Promise<void>;
}

/**
 * Runs the jobs that deliver webhooks, along with other replicas, until closed. After an error,
 * such as a lost connection, it logs and restarts.
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

/** Runs jobs until the signal aborts; rejects when the runner fails. */
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
    const watching = releaseDeadWorkers(databaseUrl, await poolId, log, stopRunner);
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
