import { Command } from "commander";
import { jsonOption } from "./options.ts";
import { runCommand } from "./run-command.ts";

/**
 * How long the database is waited for, in milliseconds: it may start at the same time, and who starts
 * containers puts off each other try for longer.
 */
const WAIT_MS = 60_000;

/** `migrate` */
export function migrateCommand(): Command {
  return new Command("migrate")
    .description("bring the database's schema up to date")
    .addOption(jsonOption())
    .action(({ json }: { json: boolean }) =>
      runCommand(
        json,
        async (_, applied) => ({
          json: { applied },
          lines: applied.length === 0 ? ["Nothing to apply."] : applied,
        }),
        WAIT_MS,
      ),
    );
}
