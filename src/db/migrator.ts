import { fileURLToPath } from "node:url";
import { Migrator, type Migration } from "@mikro-orm/migrations";
import type { Constructor, Options } from "@mikro-orm/postgresql";
import { distributeTableSql, SET_SEQUENTIAL } from "./distributed.ts";
import { MIGRATIONS } from "./migration-list.ts";
import { createOrm } from "./orm.ts";

const SETTINGS = {
  tableName: "applied_migration",
  snapshotName: "schema-snapshot",
  // Only a developer's new migration writes it, never a server that migrates.
  snapshotOnMigrate: false,
  // A transaction for each, so that none keeps the locks of those before it.
  allOrNothing: false,
} satisfies Options["migrations"];

/** Settings of an ORM for developers, which compares entities with the snapshot and writes migrations. */
export const MIGRATION_FILES = {
  extensions: [Migrator],
  migrations: {
    ...SETTINGS,
    path: fileURLToPath(new URL("migrations", import.meta.url)),
    fileName: (timestamp: string, name?: string) => `${timestamp}-${name ?? "change"}`,
  },
} satisfies Options;

export interface ApplyOptions {
  readonly distributed?: boolean;
  readonly migrations?: typeof MIGRATIONS;
  /** Called with the name of each when it is applied, also when a later one then fails. */
  readonly onApplied?: ((name: string) => void) | undefined;
}

/** Applies the migrations that a database has not had yet, and gives their names. */
export async function applyMigrations(
  databaseUrl: string,
  { distributed = false, migrations = MIGRATIONS, onApplied }: ApplyOptions = {},
): Promise<string[]> {
  const migrationsList = await Promise.all(
    Object.entries(migrations).map(async ([name, load]) => {
      const migration = await load();
      return { name, class: distributed ? forDistributed(migration) : migration };
    }),
  );
  const orm = createOrm(databaseUrl, {
    entities: [],
    unlimited: true,
    migrator: { extensions: [Migrator], migrations: { ...SETTINGS, migrationsList } },
  });
  try {
    orm.migrator.on("migrated", ({ name }) => onApplied?.(name));
    const applied = await orm.migrator.up();
    return applied.map((migration) => migration.name);
  } finally {
    await orm.close();
  }
}

function forDistributed(migration: Constructor<Whole>): Constructor<Whole> {
  return class extends migration {
    override getQueries(): Query[] {
      return [SET_SEQUENTIAL, ...super.getQueries().flatMap(toDistributed)];
    }
  };
}

/** A migration that says what it does; the class itself leaves that open. */
interface Whole extends Migration {
  up(): void | Promise<void>;
}

type Query = ReturnType<Migration["getQueries"]>[number];

/**
 * What a statement of a migration becomes: a new table of workspaces' data is distributed before
 * anything refers to it. Ids are never updated, so that foreign keys lose `on update cascade`, which
 * Citus does not take.
 */
function toDistributed(sql: Query): Query[] {
  if (typeof sql !== "string") return [sql];
  const created = /^\s*create table (?:if not exists )?"?(\w+)"?/i.exec(sql)?.[1];
  const distribute = created === undefined ? undefined : distributeTableSql(created);
  const statement = sql.replace(/ on update cascade/gi, "");
  return distribute === undefined ? [statement] : [statement, distribute];
}
