import { readConfig } from "../config/config.ts";
import { migrateWhenReachable } from "../db/migrate.ts";
import { createOrm, type EntityManager } from "../db/orm.ts";
import { ENTITIES } from "../server/entities.ts";
import { acquireEmbeddedPostgres, type Lease } from "../embedded-postgres/embedded-postgres.ts";

/**
 * A command that could not be done, for a reason the operator can act on; the message is all there
 * is to say.
 */
export class CommandRefused extends Error {}

/** What a command has done: an object for programs, and lines for people. */
export interface CommandResult {
  readonly json: object;
  readonly lines: readonly string[];
}

/**
 * Runs a command on the database that the environment names, migrated first, and prints its result
 * on standard output: one JSON object, or lines.
 *
 * @param waitMs how long to wait for a database that cannot be reached, in milliseconds
 */
export async function runCommand(
  json: boolean,
  command: (
    em: EntityManager,
    migrated: readonly string[],
    databaseUrl: string,
  ) => Promise<CommandResult>,
  waitMs = 0,
): Promise<void> {
  const config = readConfig(process.env);
  for (const warning of config.warnings) process.stderr.write(`${warning}\n`);
  const lease = config.databaseUrl === undefined ? await acquireForRun(config.dataDir) : undefined;
  const databaseUrl = config.databaseUrl ?? lease!.url;
  const orm = createOrm(databaseUrl, { entities: ENTITIES });
  try {
    const migrated = await migrateWhenReachable(databaseUrl, {
      onWaiting: (reason) => process.stderr.write(`waiting for the database: ${reason}\n`),
      withinMs: waitMs,
    });
    const result = await command(orm.em, migrated, databaseUrl);
    const text = json ? JSON.stringify(result.json) : result.lines.join("\n");
    process.stdout.write(`${text}\n`);
  } finally {
    await orm.close();
    await lease?.release();
  }
}

/** Leases the embedded PostgreSQL; a signal that ends the command releases it first. */
async function acquireForRun(dataDir: string): Promise<Lease> {
  const acquiring = acquireEmbeddedPostgres(dataDir);
  const end = () => {
    void acquiring.then((lease) => lease.release()).finally(() => process.exit(1));
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  return acquiring;
}
