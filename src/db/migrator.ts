import { fileURLToPath } from "node:url";
import { Migration, Migrator } from "@mikro-orm/migrations";
import type { Options } from "@mikro-orm/postgresql";
import { forDistributed } from "./citus/distributed-migration.ts";
import { MIGRATIONS, type SqlMigration } from "./migration-list.ts";
import { createOrm } from "./orm.ts";

const SETTINGS = {
  tableName: "applied_migration",
  snapshotName: "schema-snapshot",
  // Snapshots are written only when a developer creates a migration.
  snapshotOnMigrate: false,
  // Migrations run in separate transactions, so that each releases its locks before the next one starts.
  allOrNothing: false,
} satisfies Options["migrations"];

/** ORM settings for developers: compare entities with the snapshot and write migrations. */
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
  /** Called with the name of each applied migration, even if a later one fails. */
  readonly onApplied?: ((name: string) => void) | undefined;
}

export async function applyMigrations(
  databaseUrl: string,
  { distributed = false, migrations = MIGRATIONS, onApplied }: ApplyOptions = {},
): Promise<string[]> {
  const migrationsList = await Promise.all(
    Object.entries(migrations).map(async ([name, load]) => {
      const migration = await load();
      return { name, class: classOf(distributed ? forDistributed(migration) : migration) };
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

function classOf({ statements, isTransactional = true }: SqlMigration) {
  return class extends Migration {
    override isTransactional(): boolean {
      return isTransactional;
    }

    override up(): void {
      for (const sql of statements) this.addSql(sql);
    }
  };
}
