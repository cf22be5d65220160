import { fileURLToPath } from "node:url";
import { Migrator } from "@mikro-orm/migrations";
import type { Options } from "@mikro-orm/postgresql";
import { forDistributed } from "./distributed-migration.ts";
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

/** Which migrations to apply, and to what. */
export interface ApplyOptions {
  /** Whether the database is distributed; default false. */
  readonly distributed?: boolean;
  /** Default those of this release. */
  readonly migrations?: typeof MIGRATIONS;
  /** Called with the name of each when it is applied, also when a later one then fails. */
  readonly onApplied?: ((name: string) => void) | undefined;
}

/**
 * Applies the migrations that a database has not had yet.
 *
 * @returns the names of the migrations applied now, in order
 */
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
