import type { SqlMigration } from "./migration-list.ts";

const CREATED = /^create table "(\w+)"/;
const INDEX = /^create (?:unique )?index (?="\w+" on "(\w+)")/;
const DROPPED_INDEX = /^drop index (?=")/;
const CONSTRAINT = /^alter table "(\w+)" add constraint ("\w+") (?:check|foreign key)\b/;
/** Matches the tables that a statement locks: the altered table and those of its foreign keys. */
const LOCKED = /(?:^alter table|^drop table(?: if exists)?| references) "(\w+)"/g;

/**
 * Splits a schema change into migrations that can run while the service is serving. A transaction locks
 * at most one existing table. Indexes of existing tables are built outside a transaction. Constraints
 * are added `not valid` and validated outside a transaction.
 *
 * @param statements statements as MikroORM generates them, in order
 */
export function splitMigration(statements: readonly string[]): SqlMigration[] {
  const trimmed = statements.map((sql) => sql.trim().replace(/;$/, "")).filter((sql) => sql !== "");
  const created = new Set(trimmed.flatMap((sql) => CREATED.exec(sql)?.[1] ?? []));
  const parts: { readonly locked: Set<string>; readonly statements: string[] }[] = [];
  const alone: string[] = [];
  for (const sql of trimmed) {
    const indexed = INDEX.exec(sql)?.[1];
    if (DROPPED_INDEX.test(sql)) {
      alone.push(sql.replace(DROPPED_INDEX, "$&if exists "));
    } else if (indexed !== undefined && !created.has(indexed)) {
      alone.push(sql.replace(INDEX, "$&if not exists "));
    } else {
      const [, table = "", constraint] = CONSTRAINT.exec(sql) ?? [];
      const isValidatedLater = constraint !== undefined && !created.has(table);
      if (isValidatedLater) alone.push(`alter table "${table}" validate constraint ${constraint}`);
      const locked = [...sql.matchAll(LOCKED)].map((match) => match[1]!);
      addTo(
        parts,
        isValidatedLater ? `${sql} not valid` : sql,
        locked.filter((name) => !created.has(name)),
      );
    }
  }
  return [
    ...parts.map((part) => ({ statements: part.statements })),
    ...(alone.length > 0 ? [{ isTransactional: false, statements: alone }] : []),
  ];
}

/** Adds a statement to the last part, or to a new part if the last one would lock two existing tables. */
function addTo(
  parts: { readonly locked: Set<string>; readonly statements: string[] }[],
  sql: string,
  tables: readonly string[],
): void {
  const last = parts.at(-1);
  if (last === undefined || last.locked.union(new Set(tables)).size > 1) {
    parts.push({ locked: new Set(tables), statements: [sql] });
    return;
  }
  last.statements.push(sql);
  for (const table of tables) last.locked.add(table);
}
