import pg from "pg";

/** SQL with `$1`, `$2`, ... for its values. */
export type Statement = readonly [sql: string, values: readonly unknown[]];

/** A statement that may say what it is prepared by. */
export type NamedStatement = readonly [...Statement, name?: string];

/** A statement of a batch, and who waits for its rows. */
interface Sent {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** The name it is prepared by; undefined to plan it anew. */
  readonly name: string | undefined;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Statements that go to PostgreSQL together, in one exchange of its extended protocol: a single Sync ends
 * them all, so that PostgreSQL answers once instead of once for each, which is half of what a small
 * statement costs. Of those behind one that fails, none is run. A prepared statement is described once: its
 * columns do not change, since PostgreSQL refuses to run it when they would.
 *
 * Submitted to a client as a query of its own, as pg's cursors are. See "Pipelining" in the chapter on
 * the frontend/backend protocol of PostgreSQL's manual.
 */
export class StatementBatch implements pg.Submittable {
  /** Set by pg to learn of the end, for its timeouts. */
  callback: (error?: Error | null) => void;
  readonly answers: readonly Promise<unknown[]>[];
  readonly #statements: Sent[] = [];
  readonly #types: pg.CustomTypesConfig;
  readonly #described: DescribedStatements;
  /** How many statements have been answered. */
  #answered = 0;
  /** Of the statement that is answered next: how its rows are read, and those that have come. */
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
        // It may have been parsed in a batch that failed. To close what there is not is no error.
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
    // In a transaction that has failed PostgreSQL rolls back, and does not call that an error.
    if (sql === "commit" && text !== "COMMIT") reject(new Error(`commit was answered by ${text}`));
    if (name !== undefined && !this.#described.has(name)) this.#described.set(name, this.#reader);
    resolve(this.#rows);
    this.#reader = undefined;
    this.#rows = [];
    this.#answered += 1;
  }

  /** Of the statement that was to be answered next, or of the connection. */
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
 * What a connection has prepared in batches, and what PostgreSQL said of it: by name, how rows of the
 * statement are read; undefined where there are none.
 */
export type DescribedStatements = Map<string, RowReader | undefined>;

/** What pg's types leave out. */
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

/** A value as PostgreSQL reads it: of a list, its items in braces. */
function toText(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return `{${value.map(quoted).join(",")}}`;
  return String(value as string | number | boolean);
}

function quoted(item: string | number): string {
  return `"${String(item).replace(/["\\]/g, "\\$&")}"`;
}
