import pg, { type ClientConfig, type QueryConfig } from "pg";
import { isReadOnly, isStalePlan, UnreplicatedCommitError } from "./database-error.ts";
import { StatementBatch, type BatchConnection, type NamedStatement } from "./statement-batch.ts";
import { nameOf } from "./statement-names.ts";

export const SLOW_TIMEOUT_MS = 60_000;
/** Difference between the client's and the database's timeout, in milliseconds. The database's timeout comes first. */
const SLOW_GRACE_MS = 3_000;

const slow = new Set<string>();

/** Allows a longer timeout for a statement, on every connection. */
export function allowSlow(text: string): void {
  slow.add(text);
}

/**
 * First and maximum interval between discards of a connection's cached plans, in milliseconds. The interval grows with
 * the age of the connection. A plan made for nearly empty tables may use any index, and PostgreSQL keeps it until it
 * analyzes the tables.
 */
const YOUNGEST_PLANS_MS = 1_000;
const OLDEST_PLANS_MS = 60_000;

/** PostgreSQL function in which a commit waits for standbys. Notices contain its name in every language. */
const WAIT_FOR_STANDBYS = "SyncRepWaitForLSN";

/**
 * pg's client, with these differences:
 * - Statements with values are prepared, because parsing and planning a join takes PostgreSQL longer than running it.
 * - Statements of one tick can be sent together (`send`).
 * - Cached plans are discarded regularly, including those of foreign keys and triggers.
 * - The connection is closed after an error that would affect later statements (`#closeIfBroken`). pg itself closes
 *   it when a query times out.
 * - A commit fails if its wait for a synchronous standby was cancelled. PostgreSQL only sends a warning and confirms
 *   the commit, although a failover would lose it.
 */
export class DatabaseClient extends pg.Client implements BatchConnection {
  readonly readers: BatchConnection["readers"] = new Map();
  unreplicated: UnreplicatedCommitError | undefined;
  readonly #createdMs = performance.now();
  #plansEndMs = this.#createdMs + YOUNGEST_PLANS_MS;
  #queued: { readonly statement: NamedStatement; resolve(rows: Promise<unknown[]>): void }[] = [];

  constructor(config?: string | ClientConfig) {
    super(config);
    // Without a listener, a connection that the server closes early would terminate the process. The interrupted or
    // next query reports the error.
    this.on("error", () => undefined);
    this.on("notice", ({ routine }) => {
      if (routine !== WAIT_FOR_STANDBYS) return;
      // Closing is not enough, because the commit's confirmation may have arrived together with the notice.
      this.unreplicated = new UnreplicatedCommitError();
      this.close(this.unreplicated);
    });
    // Assigned, because a method would have to repeat the many signatures that pg declares.
    const query = super.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((...args: unknown[]) => {
      if (performance.now() >= this.#plansEndMs) this.#discardPlans(query);
      const statement = configOf(args);
      if (statement === undefined) return query(...args);
      return this.#checked(query(statement) as Promise<unknown>, isBegin(statement.text));
    }) as typeof this.query;
  }

  /**
   * Sends statements together and returns the rows of each. After a failed statement, the remaining
   * ones are not executed and are rejected with the same error.
   */
  sendTogether(statements: readonly NamedStatement[]): readonly Promise<unknown[]>[] {
    const batch = new StatementBatch(statements, this, (error) => {
      if (error) this.#closeIfBroken(error, batch.failedFirst && isBegin(statements[0]![0]));
    });
    this.query(batch);
    return batch.results;
  }

  /** Sends a statement together with the tick's other statements and returns its rows. */
  send<Row>(sql: string, values: readonly unknown[] = [], name?: string): Promise<Row[]> {
    if (this.#queued.length === 0) process.nextTick(() => this.#sendQueued());
    const rows = new Promise<unknown[]>((resolve) => {
      this.#queued.push({ statement: [sql, values, name], resolve });
    });
    return rows as Promise<Row[]>;
  }

  #sendQueued(): void {
    const batch = this.#queued;
    this.#queued = [];
    const results = this.sendTogether(batch.map(({ statement }) => statement));
    batch.forEach(({ resolve }, i) => resolve(results[i]!));
  }

  /** Closes the connection at once, which rejects the queries in flight. */
  protected close(error?: Error): void {
    this.connection.stream.destroy(error);
  }

  async #checked<T>(result: Promise<T>, begins: boolean): Promise<T> {
    try {
      const value = await result;
      if (this.unreplicated !== undefined) throw this.unreplicated;
      return value;
    } catch (error) {
      this.#closeIfBroken(error, begins);
      throw error;
    }
  }

  /**
   * Closes the connection after an error that would affect later statements: a failed `begin`, because Kysely never
   * releases the connection, a stale prepared statement, because pg would send it again and again, or a
   * server that has become read-only.
   */
  #closeIfBroken(error: unknown, begins: boolean): void {
    if (begins || isStalePlan(error) || isReadOnly(error)) this.close();
  }

  /** Not awaited. If it fails, the next statement reports the error. */
  #discardPlans(query: (text: string) => unknown): void {
    const nowMs = performance.now();
    this.#plansEndMs = nowMs + Math.min(nowMs - this.#createdMs, OLDEST_PLANS_MS);
    (query("discard plans") as Promise<unknown>).catch(() => undefined);
  }
}

/** A query with its own client timeout, which pg's types lack. */
interface TimedQuery extends QueryConfig<unknown[]> {
  readonly query_timeout?: number;
}

/** Adds name and timeout to a query. `undefined` for a `Submittable`, and for a query with a callback. */
function configOf([query, values, callback]: unknown[]): TimedQuery | undefined {
  if (typeof values === "function" || callback !== undefined) return undefined;
  const config = (typeof query === "string" ? { text: query, values } : query) as TimedQuery;
  if ("submit" in config) return undefined;
  const name = config.values?.length ? nameOf(config.text, config.values) : undefined;
  const timeout = slow.has(config.text) ? { query_timeout: SLOW_TIMEOUT_MS + SLOW_GRACE_MS } : {};
  return { name, ...timeout, ...config };
}

function isBegin(text: string): boolean {
  return /^(begin|start transaction)\b/.test(text);
}
