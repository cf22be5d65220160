import { Command } from "commander";
import { jsonOption } from "./options.ts";
import { runCommand } from "./run-command.ts";

/** `migrate` */
export function migrateCommand(): Command {
  return new Command("migrate")
    .description("bring the database's schema up to date")
    .addOption(jsonOption())
    .action(({ json }: { json: boolean }) =>
      runCommand(json, async (_, applied) => ({
        json: { applied },
        lines: applied.length === 0 ? ["Nothing to apply."] : applied,
      })),
    );
}
