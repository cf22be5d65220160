import {
  isRaw,
  raw,
  type AnyEntity,
  type Dictionary,
  type EntityData,
  type QueryResult,
  type Transaction,
} from "@mikro-orm/core";
import { NativeQueryBuilder, PostgreSqlConnection, PostgreSqlDriver } from "@mikro-orm/postgresql";

type Query = Parameters<PostgreSqlConnection["execute"]>[0];
type Params = readonly unknown[] | Dictionary<unknown>;

/** Returns a Kysely statement with `$1`, `$2`, ... for its values. */
export function toStatement(sql: string, parameters: readonly unknown[]) {
  const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] } as const;
  return { sql, parameters, query, queryId: { queryId: "" } };
}

/**
 * MikroORM's connection, but with values sent as parameters. MikroORM would escape values and write
 * them into the text. Parameters keep callers' text out of statements and let PostgreSQL prepare them.
 */
class ParameterizedConnection extends PostgreSqlConnection {
  override async execute<T extends QueryResult | EntityData<AnyEntity> | EntityData<AnyEntity>[]>(
    query: Query,
    params: Params = [],
    method: "all" | "get" | "run" = "all",
    ctx?: Transaction,
  ): Promise<T> {
    await this.ensureConnection();
    const statement = this.bind(query, params);
    const run = async () => {
      const client = (ctx ?? this.getClient()) as ReturnType<typeof this.getClient>;
      return this.transformRawResult<T>(await client.executeQuery(statement), method);
    };
    return this.executeQuery(statement.sql, run, { params: statement.parameters });
  }

  /** Numbers MikroORM's placeholders and collects their values. */
  bind(query: Query, params: Params): ReturnType<typeof toStatement> {
    const plain = query instanceof NativeQueryBuilder ? query.toRaw() : query;
    const fragment =
      typeof plain === "string" && !Array.isArray(params) ? raw(plain, params as Dictionary<unknown>) : plain;
    const values: unknown[] = [];
    const quote = (name: string) => this.platform.quoteIdentifier(name);
    const text = isRaw(fragment)
      ? bindText(fragment.sql, fragment.params, values, quote)
      : bindText(fragment, params as readonly unknown[], values, quote);
    return toStatement(text, values);
  }
}

/** MikroORM's placeholders: `?` is a value, `??` an identifier, `\?` a question mark. */
const PLACEHOLDER = /\\\?|\?\??/g;

function bindText(sql: string, params: readonly unknown[], values: unknown[], quote: (name: string) => string): string {
  let next = 0;
  return sql.replace(PLACEHOLDER, (placeholder) => {
    if (placeholder === "\\?") return "?";
    if (next === params.length) return placeholder;
    const param = params[next++];
    return placeholder === "??" ? quote(param as string) : bindValue(param, values, quote);
  });
}

/** Returns the SQL for a value: the items of a list, the text of an SQL fragment, or `$n`. */
function bindValue(value: unknown, values: unknown[], quote: (name: string) => string): string {
  if (isRaw(value)) return bindText(value.sql, value.params, values, quote);
  if (Array.isArray(value)) {
    return value.map((item) => bindValue(item, values, quote)).join(", ");
  }
  values.push(toParameter(value));
  return `$${values.length}`;
}

/** Converts a value for pg. Objects are sent as JSON, even if they have a key such as `constructor`. */
export function toParameter(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  const isJson = typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
  return isJson ? JSON.stringify(value) : value;
}

export class ParameterizedDriver extends PostgreSqlDriver {
  protected override readonly connection = new ParameterizedConnection(this.config);
}
