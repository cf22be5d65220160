import type { Pool, PoolClient } from "pg";

/** How many texts are prepared; every connection may come to keep a plan for each. */
const MAX_NAMES = 100;

/**
 * Has each connection of a pool prepare statements that come with values, and then send only their
 * names: parsing and planning a join takes PostgreSQL longer than running it.
 */
export function prepareStatements(pool: Pool): void {
  const names = new Map<string, string>();
  pool.on("connect", (client) => prepareOn(client, names));
}

function prepareOn(client: PoolClient, names: Map<string, string>): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    const [text, values] = args;
    if (typeof text !== "string" || !Array.isArray(values) || values.length === 0) {
      return query(...args);
    }
    return query({ name: nameOf(text, names), text, values });
  }) as PoolClient["query"];
}

/** One name for each text; texts beyond the bound have none, and are planned every time. */
function nameOf(text: string, names: Map<string, string>): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_NAMES) return known;
  const name = `statement ${names.size + 1}`;
  names.set(text, name);
  return name;
}
