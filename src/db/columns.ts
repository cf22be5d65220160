import { ReferenceKind, types, UnderscoreNamingStrategy, type EntitySchema } from "@mikro-orm/core";

/** A column of an entity's table. */
interface Column {
  readonly property: string;
  readonly name: string;
  readonly isTime: boolean;
}

/** An entity's properties, with null for what is empty, but for those left out. */
export type Row<Entity, Left extends keyof Entity> = {
  readonly [Property in Exclude<keyof Entity & string, Left>]-?: Exclude<
    Entity[Property],
    undefined
  >;
};

const NAMING = new UnderscoreNamingStrategy();

/** The columns of an entity in the order of its properties, for SQL by hand, but for those left out. */
export function columnsOf(entity: EntitySchema, ...left: readonly string[]): readonly Column[] {
  return Object.values(entity.init().meta.properties)
    .filter(({ name }) => !left.includes(name))
    .map(({ name, kind, ownColumns, type }) => ({
      property: name,
      name: ownColumns?.[0] ?? columnName(name, kind !== ReferenceKind.SCALAR),
      isTime: (type as unknown) === types.datetime,
    }));
}

function columnName(property: string, isReference: boolean): string {
  return isReference ? NAMING.joinColumnName(property) : NAMING.propertyToColumnName(property);
}

/** Columns by name, for a `select` or an `insert`. */
export function namesOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(", ");
}

/**
 * The statement that inserts rows, which may be a part of another. The rows travel as JSON, so that it is
 * the same for any number of them, and the table itself gives the types.
 *
 * @param parameter the parameter, such as `$2`, that holds what `rowsJson` makes of the columns
 */
export function insertSql(table: string, columns: readonly Column[], parameter: string): string {
  const names = namesOf(columns);
  return `insert into ${table} (${names})
    select ${names} from json_populate_recordset(null::${table}, ${parameter})`;
}

/** Rows in JSON, by the names of the columns. */
export function rowsJson(columns: readonly Column[], rows: readonly object[]): string {
  const named = rows.map((row) =>
    Object.fromEntries(
      columns.map(({ property, name }) => [name, (row as Record<string, unknown>)[property]]),
    ),
  );
  return JSON.stringify(named);
}

/**
 * An id as a caller sent it, for a look-up; undefined when no record can have it: ids are whole
 * numbers from 1 to 2^53 - 1.
 */
export function readRecordId(value: bigint | undefined): number | undefined {
  const id = Number(value);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

/** Inverts a table of what callers see for what is stored. */
export function inverseOf<Stored extends string, Sent extends number>(
  sentOf: Readonly<Record<Stored, Sent>>,
): (sent: Sent | undefined) => Stored | undefined {
  const entries = Object.entries(sentOf) as [Stored, Sent][];
  const storedOf = new Map(entries.map(([stored, sent]) => [sent, stored]));
  return (sent) => (sent === undefined ? undefined : storedOf.get(sent));
}
