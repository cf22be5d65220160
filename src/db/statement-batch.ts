import pg from "pg";

/** SQL with `$1`, `$2`, ... for its values. */
export type Statement = readonly [sql: string, values: readonly unknown[]];

/** A statement with an optional prepared name. */
export type NamedStatement = readonly [...Statement, name?: string];

/** A sent statement with the promise of its rows. */
interface Sent {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** Prepared name. `undefined` to plan it every time. */
  readonly name: string | undefined;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Statements sent to PostgreSQL together, in one round trip of its extended protocol. A single Sync
 * ends them, so PostgreSQL flushes once instead of once per statement, which is half the cost of a
 * small statement. After a failed statement, the rest is not executed. A prepared statement is
 * described once, because PostgreSQL refuses to run it if its columns change.
 *
 * Submitted to a client as a query, like pg's cursors. See "Pipelining" in the frontend/backend
 * protocol chapter of PostgreSQL's manual.
 */
export class StatementBatch implements pg.Submittable {
  /** Set by pg to detect the end, for its timeouts. */
  callback: (error?: Error | null) => void;
  readonly answers: readonly Promise<unknown[]>[];
  readonly #statements: Sent[] = [];
  readonly #types: pg.CustomTypesConfig;
  readonly #described: DescribedStatements;
  /** Number of completed statements. */
  #answered = 0;
  /** Row reader and rows of the statement in progress. */
  #reader: RowReader | undefined;
  #rows: unknown[] = [];

  constructor(
    statements: readonly NamedStatement[],
    nameOf: (statement: NamedStatement) => string | undefined,
    described: DescribedStatements,
    types: pg.CustomTypesConfig,
    ended: (error?: Error | null) => void,
  ) {
    this.#types = types;
    this.#described = described;
    this.callback = ended;
    this.answers = statements.map((statement) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
      const [sql, values] = statement;
      this.#statements.push({ sql, values, name: nameOf(statement), resolve, reject });
      return promise;
    });
  }

  get failedFirst(): boolean {
    return this.#answered === 0;
  }

  submit(connection: pg.Connection): null {
    const to = connection as unknown as ParsingConnection;
    const parsed = new Set<string>();
    for (const { sql, values, name = "" } of this.#statements) {
      const isPrepared = this.#described.has(name);
      if (name === "" || (!isPrepared && !parsed.has(name))) {
        parsed.add(name);
        // It may have been parsed in a failed batch. Closing an unknown name is not an error.
        if (name !== "") to.close({ type: "S", name });
        to.parse({ name, text: sql });
      }
      to.bind({ statement: name, values: values.map(toText) });
      if (!isPrepared) to.describe({ type: "P", name: "" });
      to.execute({ portal: "" });
    }
    to.sync();
    return null;
  }

  handleRowDescription({ fields }: { fields: unknown[] }): void {
    this.#reader = this.#newReader();
    this.#reader.addFields(fields);
  }

  handleDataRow({ fields }: { fields: unknown[] }): void {
    this.#reader ??= this.#described.get(this.#statements[this.#answered]!.name!)!;
    this.#rows.push(this.#reader.parseRow(fields));
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const { sql, name, resolve, reject } = this.#statements[this.#answered]!;
    // PostgreSQL turns the commit of a failed transaction into a rollback without an error.
    if (sql === "commit" && text !== "COMMIT") reject(new Error(`commit was answered by ${text}`));
    if (name !== undefined && !this.#described.has(name)) this.#described.set(name, this.#reader);
    resolve(this.#rows);
    this.#reader = undefined;
    this.#rows = [];
    this.#answered += 1;
  }

  /** Error of the statement in progress, or of the connection. */
  handleError(error: Error): void {
    for (const { reject } of this.#statements.slice(this.#answered)) reject(error);
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  #newReader(): RowReader {
    return new (pg.Result as unknown as new (rowMode: string, types: unknown) => RowReader)(
      "",
      this.#types,
    );
  }
}

/**
 * Row readers of the statements that a connection has prepared in batches, by name. `undefined` for
 * statements without rows.
 */
export type DescribedStatements = Map<string, RowReader | undefined>;

/** Members that pg's types lack. */
interface RowReader {
  addFields(fields: unknown[]): void;
  parseRow(fields: unknown[]): unknown;
}
interface ParsingConnection {
  close(message: { readonly type: "S"; readonly name: string }): void;
  parse(message: { readonly name: string; readonly text: string }): void;
  bind(message: { readonly statement: string; readonly values: readonly unknown[] }): void;
  describe(message: { readonly type: "P"; readonly name: string }): void;
  execute(message: { readonly portal: string }): void;
  sync(): void;
}

/** Formats a value for PostgreSQL. The items of a list are in braces. */
function toText(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return `{${value.map(quoted).join(",")}}`;
  return String(value as string | number | boolean);
}

function quoted(item: string | number): string {
  return `"${String(item).replace(/["\\]/g, "\\$&")}"`;
}
