import { readConfig } from "../config.ts";
import { migrate } from "../db/migrate.ts";
import { createOrm, type EntityManager } from "../db/orm.ts";
import { holdDatabase } from "../hold-database.ts";

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
 */
export async function runCommand(
  json: boolean,
  command: (em: EntityManager, migrated: readonly string[]) => Promise<CommandResult>,
): Promise<void> {
  const database = await holdDatabase(readConfig(process.env));
  const orm = createOrm(database.url);
  try {
    const migrated = await migrate(database.url);
    const result = await command(orm.em, migrated);
    const text = json ? JSON.stringify(result.json) : result.lines.join("\n");
    process.stdout.write(`${text}\n`);
  } finally {
    await orm.close();
    await database.release();
  }
}
