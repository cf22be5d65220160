import { Command, CommanderError } from "commander";
import { keyCommand } from "./commands/key-command.ts";
import { limitsCommand } from "./commands/limits-command.ts";
import { migrateCommand } from "./commands/migrate-command.ts";
import { paymentProviderCommand } from "./commands/payment-provider-command.ts";
import { serveCommand } from "./commands/serve-command.ts";
import { tariffCommand } from "./commands/tariff-command.ts";
import { workspaceCommand } from "./commands/workspace-command.ts";

/**
 * The operator's command line: exit code 0 for done, 1 for refused or failed, 2 for wrong usage.
 */
const program = new Command("shipments")
  .description("Runs and operates the shipment booking service.")
  .exitOverride()
  .showHelpAfterError();
for (const command of [
  serveCommand(),
  migrateCommand(),
  tariffCommand(),
  workspaceCommand(),
  paymentProviderCommand(),
  keyCommand(),
  limitsCommand(),
]) {
  program.addCommand(inheritExit(command));
}

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
// What is still open by now (a broken connection's timers) must not keep the command from ending.
process.exit();

function inheritExit(command: Command): Command {
  command.exitOverride().showHelpAfterError();
  for (const child of command.commands) inheritExit(child);
  return command;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  process.stderr.write(`${reasonOf(error)}\n`);
  return 1;
}

/** What an error says; one that gathers others (a host with several addresses) says nothing itself. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("\n");
  return error instanceof Error ? error.message : String(error);
}
