import { Command, CommanderError } from "commander";
import { Refusal, type Violation } from "../domain/refusal.ts";
import manifest from "../../package.json" with { type: "json" };
import { typedCommand } from "./typed-command.ts";

/** Commands by name. Only the requested command is loaded, because loading takes most of the startup time. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./serve.ts")).serveCommand,
  migrate: async () => (await import("./migrate-command.ts")).migrateCommand,
  distribute: async () => (await import("./distribute-command.ts")).distributeCommand,
  tariff: async () => (await import("./tariff-command.ts")).tariffCommand,
  workspace: async () => (await import("./workspace-commands.ts")).workspaceCommand,
  "payment-provider": async () => (await import("./workspace-commands.ts")).paymentProviderCommand,
  key: async () => (await import("./workspace-commands.ts")).keyCommand,
  member: async () => (await import("./workspace-commands.ts")).memberCommand,
  limits: async () => (await import("./workspace-commands.ts")).limitsCommand,
  operator: async () => (await import("./operator-commands.ts")).operatorCommand,
  audit: async () => (await import("./operator-commands.ts")).auditCommand,
  mcp: async () => (await import("./mcp-command.ts")).mcpCommand,
};

/** Runs the command line and exits with its exit code. */
export async function runProgram(argv: readonly string[]): Promise<never> {
  // Open handles, such as the timers of a broken connection, would keep the process running.
  process.exit(await runCommandLine(argv));
}

/**
 * Runs the command line.
 *
 * @param argv process arguments, starting with Node's path
 * @returns the exit code: 0 for success, 1 if refused or failed, 2 for a usage error
 */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const program = new Command(typedCommand(argv[1]!, process.env))
    .description("Runs and operates the shipment booking service.")
    .version(manifest.version, "-V, --version", "print the version")
    // Without positional options, the program would treat the `--version N` of `tariff roll-back` as its own option.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError();
  const name = argv[2] ?? "";
  const named = Object.hasOwn(COMMANDS, name) ? [COMMANDS[name]!] : Object.values(COMMANDS);
  for (const load of named) program.addCommand(inheritExit(await load()));
  try {
    await program.parseAsync(argv);
    return 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}

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

/** Returns the message of an error. An AggregateError, for a host with several addresses, has no message. */
function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.violations.map(lineOf).join("\n");
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("\n");
  return error instanceof Error ? error.message : String(error);
}

function lineOf({ reason, subject, text }: Violation): string {
  return reason === "TARIFF_FAULTY" ? text.replace(`${subject} `, `${subject}: `) : text;
}

// Runs directly if the sources are executed, as in `npm run dev` and tests.
if (import.meta.main) await runProgram(process.argv);
