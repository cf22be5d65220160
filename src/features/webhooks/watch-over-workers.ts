import pg from "pg";
import type { Logger } from "pino";

/** Looks after jobs whose process has died. */
export interface Watch {
  close(): Promise<void>;
}

/** How often to look, in milliseconds. */
const LOOK_MS = 5_000;

/** The name of a worker's lock among PostgreSQL's advisory locks. */
const LOCK_OF = "hashtextextended('shipments worker ' || $1, 0)";

/** Workers that hold jobs; one that has just begun may not hold its own lock yet. */
const HOLDERS = `
  select distinct locked_by as worker from (
    select locked_by, locked_at from graphile_worker._private_jobs
    union all
    select locked_by, locked_at from graphile_worker._private_job_queues
  ) as held
  where locked_by <> $1 and locked_at < now() - interval '5 seconds'`;

/**
 * Shows, by an advisory lock on a connection of its own, that this process's worker lives, and
 * frees the jobs of workers that do not: the engine by itself would wait four hours for them.
 * `lost` is called when the connection breaks, since others then take this worker for dead.
 */
export function watchOverWorkers(
  databaseUrl: string,
  worker: string,
  log: Logger,
  lost: () => void,
): Watch {
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
    lost();
  }

  async function look(): Promise<void> {
    const { rows } = await client.query<{ worker: string }>(HOLDERS, [worker]);
    for (const other of rows) await freeIfDead(other.worker);
    if (!closed) timer = setTimeout(() => void look().catch(giveUp), LOOK_MS);
  }

  async function freeIfDead(other: string): Promise<void> {
    const tried = await client.query(`select pg_try_advisory_lock(${LOCK_OF}) as dead`, [other]);
    if (tried.rows[0].dead !== true) return;
    log.info({ worker: other }, "freeing the jobs of a worker that died");
    await client.query("select graphile_worker.force_unlock_workers(array[$1])", [other]);
    await client.query(`select pg_advisory_unlock(${LOCK_OF})`, [other]);
  }

  async function begin(): Promise<void> {
    await client.connect();
    await client.query(`select pg_advisory_lock(${LOCK_OF})`, [worker]);
    await look();
  }

  client.on("error", giveUp);
  const begun = begin().catch(giveUp);
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await begun;
      clearTimeout(timer);
      await client.end().catch(() => undefined);
    },
  };
}
