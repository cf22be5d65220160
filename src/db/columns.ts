import { toParameter } from "./parameterized-driver.ts";
import type { Statement } from "./statement-batch.ts";
import { ReferenceKind, types, UnderscoreNamingStrategy, type EntitySchema } from "@mikro-orm/core";

interface Column {
  readonly property: string;
  readonly name: string;
  readonly isTime: boolean;
}

/** An entity's properties, nullable where optional, without the excluded properties. */
export type Row<Entity, Left extends keyof Entity> = {
  readonly [Property in Exclude<keyof Entity & string, Left>]-?: Exclude<Entity[Property], undefined>;
};

const NAMING = new UnderscoreNamingStrategy();

/**
 * Returns the columns of an entity for handwritten SQL, in the order of its properties, without the
 * excluded properties.
 */
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

export function namesOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(", ");
}

/**
 * Returns the insert statement for rows of one workspace. A single row is passed as values, which a
 * distributed database processes in half the time. Several rows are passed as JSON, so that the text
 * does not depend on the number of rows.
 *
 * @param columns without the workspace
 * @param computed SQL expressions for further columns
 */
export function insertionOf(
  table: string,
  columns: readonly Pick<Column, "property" | "name">[],
  { computed = {}, onConflict = "" }: { computed?: Record<string, string>; onConflict?: string } = {},
): (workspace: number, rows: readonly object[]) => Statement {
  const names = columns.map(({ name }) => name);
  const into = `insert into ${table} (${["workspace_id", ...names, ...Object.keys(computed)].join(", ")})`;
  const listed = (expressions: readonly string[]) => ["$1", ...expressions, ...Object.values(computed)].join(", ");
  const one = `${into} values (${listed(names.map((_, i) => `$${i + 2}`))}) ${onConflict}`;
  const many = `${into} select ${listed(names)}
    from json_populate_recordset(null::${table}, $2) ${onConflict}`;
  return (workspace, rows) =>
    rows.length === 1
      ? [one, [workspace, ...rowValues(columns, rows[0]!)]]
      : [many, [workspace, rowsJson(columns, rows)]];
}

/** Returns the values of a row as parameters. Lists are sent as JSON. */
export function rowValues(columns: readonly Pick<Column, "property" | "name">[], row: object): unknown[] {
  return columns.map(({ property }) => {
    const value = valueOf(row, property);
    return Array.isArray(value) ? JSON.stringify(value) : toParameter(value);
  });
}

export function rowsJson(columns: readonly Pick<Column, "property" | "name">[], rows: readonly object[]): string {
  const named = rows.map((row) =>
    Object.fromEntries(columns.map(({ property, name }) => [name, valueOf(row, property)])),
  );
  return JSON.stringify(named);
}

function valueOf(row: object, property: string): unknown {
  return (row as Record<string, unknown>)[property];
}

/**
 * Converts an id from a caller for a lookup. Returns `undefined` if the id is out of range: ids are
 * whole numbers from 1 to 2^53 - 1.
 */
export function readRecordId(value: bigint | undefined): number | undefined {
  const id = Number(value);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}
