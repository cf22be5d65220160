import pg, { type ClientConfig, type Submittable } from "pg";
import { setSession } from "./connection-settings.ts";
import {
  isQueryTimeout,
  isReadOnly,
  isStalePlan,
  QUERY_TIMEOUT,
  UnreplicatedCommitError,
} from "./database-error.ts";
import {
  StatementBatch,
  type DescribedStatements,
  type NamedStatement,
} from "./statement-batch.ts";

/** Maximum number of prepared statements. Each connection can cache a plan for each. */
const MAX_PREPARED = 200;
/** Statements with more values, such as multi-row inserts, have a different text for each number of rows. */
const MAX_VALUES = 40;

/** Matches MikroORM's entity selects. A migration that adds a column would make the prepared statement stale. */
const ALL_COLUMNS = /"\.\*/;

/** Prepared statement names by text, the same on every connection. */
const names = new Map<string, string>();

/** Statements that begin a transaction (the second one from Kysely). */
const BEGIN = new Set<unknown>(["begin", "start transaction read only"]);
const BEGUN = { command: "BEGIN", rowCount: null, rows: [] };
export const SLOW_TIMEOUT_MS = 60_000;
/** Additional client timeout, so that the database's own timeout comes first. */
const SLOW_GRACE_MS = 3_000;

const slow = new Set<string>();

/** Allows a longer timeout for a statement, on every connection. */
export function allowSlow(text: string): void {
  slow.add(text);
}

/**
 * Bounds on the age of cached plans on a connection, in milliseconds. A plan made for nearly empty tables may use any
 * index, and PostgreSQL keeps it until it analyzes the tables. Because tables grow with time, a plan can become as
 * old as its connection was when it was made, at most one minute.
 */
const YOUNGEST_PLANS_MS = 1_000;
const OLDEST_PLANS_MS = 60_000;

/** PostgreSQL function in which a commit waits for standbys. Notices contain it untranslated. */
const WAIT_FOR_STANDBYS = "SyncRepWaitForLSN";

/**
 * pg's client, with nine differences. The settings that statements rely on are set when it connects. Statements can be sent together. One that comes with values, or in
 * a batch, is prepared by name, and then only its name is sent: parsing and planning a join takes PostgreSQL
 * longer than running it. `begin` counts as answered when it is sent, which saves each transaction a round
 * trip. What is sent in one tick goes out in one write. One timer watches for queries that time out. Plans
 * are made anew from time to time, foreign keys' and triggers' too. A connection is closed when `begin` has
 * failed, since the next statement would be a transaction of its own; when a query has timed out, since every
 * later query would wait behind that one; when a migration has made a prepared statement stale, since pg
 * would send it again and again; or when the server takes no writes any more. And a commit whose wait for a
 * synchronous standby was cancelled fails: PostgreSQL only warns of that, and then confirms what a failover
 * would lose.
 */
export class DatabaseClient extends pg.Client {
  readonly #createdMs = performance.now();
  #plansEndMs = this.#createdMs + YOUNGEST_PLANS_MS;
  readonly #described: DescribedStatements = new Map();
  /** Deadline of each query in flight, in the order of sending. */
  readonly #overdueMs: number[] = [];
  #watch: NodeJS.Timeout | undefined;
  #watchEndsMs = Infinity;
  #ofTick: { readonly statement: NamedStatement; resolve(rows: Promise<unknown[]>): void }[] = [];

  constructor(config?: string | ClientConfig) {
    super(config);
    const limits = (this as unknown as WithParameters).connectionParameters;
    const limitMs = Number(limits.query_timeout);
    // pg would set a timer for each query.
    limits.query_timeout = false;
    this.connection.on("readyForQuery", () => this.#overdueMs.shift());
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    const query = (...args: unknown[]) => {
      if (limitMs)
        this.#endLate(slow.has(textOf(args)) ? SLOW_TIMEOUT_MS + SLOW_GRACE_MS : limitMs);
      return send(...args);
    };
    this.query = ((...args: unknown[]) => {
      this.#holdWrites();
      if (performance.now() >= this.#plansEndMs) this.#discardPlans(query);
      const isBegin = BEGIN.has(args[0]);
      const answer = query(...prepared(args));
      if (!(answer instanceof Promise)) return answer;
      answer.catch((error: unknown) => {
        if (isBegin || makesUseless(error)) this.discard();
      });
      return isBegin ? Promise.resolve(BEGUN) : answer;
    }) as typeof this.query;
    // The server can close the connection before its owner adds a listener. The interrupted or next
    // query also reports the loss.
    this.on("error", () => undefined);
    this.on("notice", ({ routine }) => {
      if (routine !== WAIT_FOR_STANDBYS) return;
      this.connection.emit("error", new UnreplicatedCommitError());
      this.discard();
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.Client> | void {
    const connected = this.open();
    if (callback === undefined) return connected;
    connected.then((client) => callback(null, client), callback);
  }

  /** Connects, and sets what statements rely on. */
  protected async open(): Promise<pg.Client> {
    await super.connect();
    try {
      await setSession(this);
    } catch (error) {
      this.discard();
      throw error;
    }
    return this;
  }

  /**
   * Sends statements together and returns the rows of each. After a failed statement, the remaining
   * ones are not executed and are rejected with the same error.
   */
  sendTogether(statements: readonly NamedStatement[]): readonly Promise<unknown[]>[] {
    const types = { getTypeParser: this.getTypeParser.bind(this) };
    const batch = new StatementBatch(statements, nameOfBatched, this.#described, types, (error) => {
      const isBegin = BEGIN.has(statements[0]![0]) && batch.failedFirst;
      if (error && (isBegin || makesUseless(error))) this.discard();
    });
    (this.query as (batch: Submittable) => unknown)(batch);
    return batch.answers;
  }

  /** Sends a statement with the others of the tick and returns its rows. */
  send<Row>(sql: string, values: readonly unknown[] = [], name?: string): Promise<Row[]> {
    if (this.#ofTick.length === 0) process.nextTick(() => this.#sendOfTick());
    const rows = new Promise<unknown[]>((resolve) => {
      this.#ofTick.push({ statement: [sql, values, name], resolve });
    });
    return rows as Promise<Row[]>;
  }

  #sendOfTick(): void {
    const batch = this.#ofTick;
    this.#ofTick = [];
    const answers = this.sendTogether(batch.map(({ statement }) => statement));
    batch.forEach(({ resolve }, i) => resolve(answers[i]!));
  }

  protected discard(): void {
    this.connection.stream.destroy();
  }

  /** Registers a query with the timeout timer of the connection. */
  #endLate(limitMs: number): void {
    const endsMs = performance.now() + limitMs;
    this.#overdueMs.push(endsMs);
    if (endsMs < this.#watchEndsMs) this.#watchUntil(endsMs);
  }

  #watchUntil(endsMs: number): void {
    clearTimeout(this.#watch);
    this.#watchEndsMs = endsMs;
    this.#watch = setTimeout(() => this.#endOverdue(), endsMs - performance.now()).unref();
  }

  #endOverdue(): void {
    this.#watchEndsMs = Infinity;
    if (this.#overdueMs.length === 0 || this.connection.stream.destroyed) return;
    const endsMs = Math.min(...this.#overdueMs);
    if (endsMs > performance.now()) return this.#watchUntil(endsMs);
    this.connection.emit("error", new Error(QUERY_TIMEOUT));
    this.discard();
  }

  /** Not awaited. If it fails, so does the next statement. */
  #discardPlans(query: (text: string) => unknown): void {
    const nowMs = performance.now();
    this.#plansEndMs = nowMs + Math.min(nowMs - this.#createdMs, OLDEST_PLANS_MS);
    (query("discard plans") as Promise<unknown>).catch(() => undefined);
  }

  /** Until the end of the tick. */
  #holdWrites(): void {
    const { stream } = this.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
}

type ConnectCallback = (error: Error | null, client?: pg.Client) => void;

/** Members that pg's types lack. */
interface WithParameters {
  readonly connectionParameters: { query_timeout: number | false };
}

function makesUseless(error: unknown): boolean {
  return isQueryTimeout(error) || isStalePlan(error) || isReadOnly(error);
}

/** Batches use separate names, because batches and pg each track their prepared statements. */
function nameOfBatched([sql, values, given]: NamedStatement): string | undefined {
  const name = given ?? nameOf(sql, values);
  return name && `${name} in a batch`;
}

/** Adds a name to a statement with values, given as text and values or as pg's query object. */
function prepared(args: unknown[]): unknown[] {
  const [first, second] = args;
  if (typeof first === "string") {
    return hasValues(second)
      ? [{ name: nameOf(first, second), text: first, values: second }]
      : args;
  }
  const { text, values } = (first ?? {}) as { text?: unknown; values?: unknown };
  if (typeof text !== "string" || !hasValues(values)) return args;
  return [{ ...(first as object), name: nameOf(text, values) }, ...args.slice(1)];
}

function hasValues(values: unknown): values is unknown[] {
  return Array.isArray(values) && values.length > 0;
}

function textOf([first]: unknown[]): string {
  return typeof first === "string" ? first : ((first as { text?: string }).text ?? "");
}

/** Returns the name of a text. Texts beyond the limits have no name and are planned every time. */
function nameOf(text: string, values: readonly unknown[]): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_PREPARED) return known;
  if (values.length > MAX_VALUES || ALL_COLUMNS.test(text)) return undefined;
  const name = `statement ${names.size + 1}`;
  names.set(text, name);
  return name;
}
