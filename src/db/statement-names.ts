/** Maximum number of prepared statements, because every connection may cache a plan for each of them. */
const MAX_PREPARED = 200;
/**
 * Maximum number of values in a prepared statement. Statements with more values, such as multi-row inserts, have a
 * different text for each number of rows.
 */
const MAX_VALUES = 40;

/** Matches MikroORM's entity selects, which are not prepared: a migration that adds a column would make them stale. */
const ALL_COLUMNS = /"\.\*/;

/** Names by text, the same on every connection. */
const names = new Map<string, string>();

/**
 * Returns the name under which a statement is prepared. `undefined` for texts beyond the limits, which are planned
 * every time.
 */
export function nameOf(text: string, values: readonly unknown[]): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_PREPARED) return known;
  if (values.length > MAX_VALUES || ALL_COLUMNS.test(text)) return undefined;
  const name = `statement ${names.size + 1}`;
  names.set(text, name);
  return name;
}
