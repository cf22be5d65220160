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

/** How many statements are prepared; every connection may come to keep a plan for each. */
const MAX_PREPARED = 200;
/** Statements with more values, such as inserts of many rows, have a text for each number of rows. */
const MAX_VALUES = 40;

/** As MikroORM selects entities. A column that a migration adds would make the statement stale. */
const ALL_COLUMNS = /"\.\*/;

/** Names of prepared statements by their text; the same on every connection. */
const names = new Map<string, string>();

/** How transactions begin, one that only reads as Kysely has it, and the answer to it. */
const BEGIN = new Set<unknown>(["begin", "start transaction read only"]);
const BEGUN = { command: "BEGIN", rowCount: null, rows: [] };
export const SLOW_TIMEOUT_MS = 60_000;
/** How much longer its answer is waited for, so that the database is the one that ends it. */
const SLOW_GRACE_MS = 3_000;

const slow = new Set<string>();

/** Lets the answer to a statement be waited for longer than usual, on every connection. */
export function allowSlow(text: string): void {
  slow.add(text);
}

/**
 * Bounds on how long a connection keeps the plans of its prepared statements, in milliseconds. A plan that
 * was made of nearly empty tables may take any index, and PostgreSQL keeps it until it next analyzes them.
 * Tables grow with time, so a plan may become as old as its connection was, and a minute at most.
 */
const YOUNGEST_PLANS_MS = 1_000;
const OLDEST_PLANS_MS = 60_000;

/** The function of PostgreSQL in which a commit waits for standbys; notices name it untranslated. */
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
  /** When each query in flight will have timed out, in the order they were sent. */
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
    // A server may end the connection before whoever asked for it listens. Its loss is also reported by the
    // query that it interrupts, or by the next one.
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
   * Sends statements together, and gives the rows of each. Of those behind one that fails none is run,
   * and all are rejected as it is.
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

  /** Sends a statement together with the others of the tick, and gives its rows. */
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

  /** Watches a query that is about to be sent, by the one timer of the connection. */
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

  /** Nobody waits for it, and when it fails the next statement fails as well. */
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

/** What pg's types leave out. */
interface WithParameters {
  readonly connectionParameters: { query_timeout: number | false };
}

function makesUseless(error: unknown): boolean {
  return isQueryTimeout(error) || isStalePlan(error) || isReadOnly(error);
}

/** Of its own, since a batch and pg each keep count of what they have prepared. */
function nameOfBatched([sql, values, given]: NamedStatement): string | undefined {
  const name = given ?? nameOf(sql, values);
  return name && `${name} in a batch`;
}

/** Names a statement that comes with values, given as text and values or as pg's own object. */
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

/** One name for each text. Texts beyond the bounds have none, and are planned every time. */
function nameOf(text: string, values: readonly unknown[]): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_PREPARED) return known;
  if (values.length > MAX_VALUES || ALL_COLUMNS.test(text)) return undefined;
  const name = `statement ${names.size + 1}`;
  names.set(text, name);
  return name;
}
