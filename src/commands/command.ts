import { Command, InvalidArgumentError, Option } from "commander";
import { readConfig } from "../config/config.ts";
import { migrateWhenReachable } from "../db/migrate.ts";
import { createOrm, type EntityManager } from "../db/orm.ts";
import { acquireEmbeddedPostgres, type Lease } from "../embedded-postgres/embedded-postgres.ts";
import { ENTITIES } from "../server/entities.ts";

/** Thrown if a command failed for a reason that the operator can act on. The message is printed unchanged. */
export class CommandRefused extends Error {}

export interface CommandResult {
  /** Machine-readable result. */
  readonly json: object;
  /** Human-readable result. */
  readonly lines: readonly string[];
}

export interface CommandDatabase {
  readonly em: EntityManager;
  readonly url: string;
  readonly migrated: readonly string[];
}

export function commandGroup(name: string, description: string, ...commands: readonly Command[]): Command {
  const group = new Command(name).description(description);
  for (const command of commands) group.addCommand(command);
  return group;
}

/**
 * Creates a command that uses the database and prints its result as lines or, with `--json`, as one JSON object.
 *
 * @param usage name and arguments, such as `publish <file>`
 * @param options options besides `--json`, in the order of the help text
 * @param waitMs maximum wait for an unreachable database, in milliseconds
 */
export function databaseCommand<Options extends object>(
  usage: string,
  description: string,
  options: readonly Option[],
  run: (
    database: CommandDatabase,
    values: Options & { readonly json: boolean },
    argument: string,
  ) => Promise<CommandResult>,
  waitMs = 0,
): Command {
  const [name, argument] = usage.split(" ");
  const command = new Command(name).description(description);
  if (argument !== undefined) command.argument(argument);
  for (const option of [...options, jsonOption()]) command.addOption(option);
  return command.action(async () => {
    const values = command.opts<Options & { json: boolean }>();
    await withDatabase(waitMs, async (database) => {
      printResult(values.json, await run(database, values, command.args[0]!));
    });
  });
}

export function jsonOption(): Option {
  return new Option("--json", "print one JSON object").default(false);
}

export function printResult(json: boolean, result: CommandResult): void {
  process.stdout.write(`${json ? JSON.stringify(result.json) : result.lines.join("\n")}\n`);
}

export function wholeNumber(flags: string, description: string, [min, max]: readonly [number, number]): Option {
  return new Option(flags, description).argParser((text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  });
}

async function withDatabase(waitMs: number, use: (database: CommandDatabase) => Promise<void>): Promise<void> {
  const { databaseUrl, dataDir, warnings } = readConfig(process.env);
  // Prints only warnings about misspelled database variables, because the command would use another database. `serve`
  // prints all warnings.
  const ofDatabase = databaseUrl === undefined ? warnings.filter((it) => / reads DATA/.test(it)) : [];
  for (const warning of ofDatabase) process.stderr.write(`${warning}\n`);
  const lease = databaseUrl === undefined ? await acquireForRun(dataDir) : undefined;
  const url = databaseUrl ?? lease!.url;
  const orm = createOrm(url, { entities: ENTITIES });
  try {
    const migrated = await migrateWhenReachable(url, {
      onWaiting: (reason) => process.stderr.write(`waiting for the database: ${reason}\n`),
      withinMs: waitMs,
    });
    await use({ em: orm.em, url, migrated });
  } finally {
    await orm.close();
    await lease?.release();
  }
}

/** Leases the embedded PostgreSQL. If a signal terminates the command, the lease is released first. */
async function acquireForRun(dataDir: string): Promise<Lease> {
  const acquiring = acquireEmbeddedPostgres(dataDir);
  const end = () => {
    void acquiring.then((lease) => lease.release()).finally(() => process.exit(1));
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  return acquiring;
}
