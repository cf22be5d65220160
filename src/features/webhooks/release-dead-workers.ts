import pg from "pg";
import type { Logger } from "pino";

/** The lease of this process's worker, and the regular check for dead ones. */
export interface WorkerLease {
  /** Ends the lease and its connection. */
  close(): Promise<void>;
}

/** How often to look for dead workers, in milliseconds. */
const CHECK_MS = 5_000;

/** The key of a worker's advisory lock. */
const WORKER_LOCK = "hashtextextended('shipments worker ' || $1, 0)";

/** Other workers that hold jobs; a new worker may hold jobs before it holds its lock. */
const WORKERS_WITH_JOBS = `
  select distinct locked_by as worker from (
    select locked_by, locked_at from graphile_worker._private_jobs
    union all
    select locked_by, locked_at from graphile_worker._private_job_queues
  ) as held
  where locked_by <> $1 and locked_at < now() - interval '5 seconds'`;

/**
 * Releases the jobs of workers that have died; the job runner alone would wait four hours for them.
 * A worker is alive while it holds an advisory lock on a connection of its own, so this also takes
 * that lock for this process's worker.
 *
 * @param worker the id of this process's worker
 * @param onLost called when the connection breaks: other replicas then count this worker as dead
 */
export function releaseDeadWorkers(
  databaseUrl: string,
  worker: string,
  log: Logger,
  onLost: () => void,
): WorkerLease {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    application_name: "shipments worker",
  });
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function giveUp(error: unknown): void {
    if (closed) return;
    log.warn({ err: error }, "a worker lost its connection");
    onLost();
  }

  async function check(): Promise<void> {
    const { rows } = await client.query<{ worker: string }>(WORKERS_WITH_JOBS, [worker]);
    for (const other of rows) await releaseIfDead(other.worker);
    if (!closed) timer = setTimeout(() => void check().catch(giveUp), CHECK_MS);
  }

  async function releaseIfDead(other: string): Promise<void> {
    const tried = await client.query(`select pg_try_advisory_lock(${WORKER_LOCK}) as dead`, [
      other,
    ]);
    if (tried.rows[0].dead !== true) return;
    log.info({ worker: other }, "releasing the jobs of a worker that died");
    await client.query("select graphile_worker.force_unlock_workers(array[$1])", [other]);
    await client.query(`select pg_advisory_unlock(${WORKER_LOCK})`, [other]);
  }

  async function start(): Promise<void> {
    await client.connect();
    await client.query(`select pg_advisory_lock(${WORKER_LOCK})`, [worker]);
    await check();
  }

  client.on("error", giveUp);
  const started = start().catch(giveUp);
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await started;
      clearTimeout(timer);
      await client.end().catch(() => undefined);
    },
  };
}
