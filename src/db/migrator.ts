import { fileURLToPath } from "node:url";
import { Migrator } from "@mikro-orm/migrations";
import type { Options } from "@mikro-orm/postgresql";
import { MIGRATIONS } from "./migration-list.ts";
import { createOrm } from "./orm.ts";

const SETTINGS = {
  tableName: "applied_migration",
  snapshotName: "schema-snapshot",
  // Only a developer's new migration writes it, never a server that migrates.
  snapshotOnMigrate: false,
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

/**
 * Applies the migrations that a database has not had yet.
 *
 * @param last the name of the last one to apply; default all
 * @returns the names of the migrations applied now, in order
 */
export async function applyMigrations(databaseUrl: string, last?: string): Promise<string[]> {
  const migrationsList = await Promise.all(
    Object.entries(MIGRATIONS).map(async ([name, load]) => ({ name, class: await load() })),
  );
  const orm = createOrm(databaseUrl, {
    entities: [],
    unlimited: true,
    migrator: { extensions: [Migrator], migrations: { ...SETTINGS, migrationsList } },
  });
  try {
    const applied = await orm.migrator.up(last === undefined ? {} : { to: last });
    return applied.map((migration) => migration.name);
  } finally {
    await orm.close();
  }
}
