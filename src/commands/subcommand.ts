import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { Command, type Option } from "commander";
import { readConfig } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import { jsonOption } from "./options.ts";
import { runCommand, type CommandResult } from "./run-command.ts";

/** A command of several, such as `key`. */
export function commandGroup(
  name: string,
  description: string,
  ...commands: readonly Command[]
): Command {
  const group = new Command(name).description(description);
  for (const command of commands) group.addCommand(command);
  return group;
}

/**
 * A command that runs on the database and prints its result, with `--json` as one object.
 *
 * @param options besides `--json`, in the order in which help lists them
 */
export function subcommand<Given extends object>(
  name: string,
  description: string,
  options: readonly Option[],
  run: (em: EntityManager, given: Given) => Promise<CommandResult>,
): Command {
  const command = new Command(name).description(description);
  for (const option of [...options, jsonOption()]) command.addOption(option);
  return command.action((given: Given & { readonly json: boolean }) =>
    runCommand(given.json, (em) => run(em, given)),
  );
}

/** Says how to use a sign-in link: at `PUBLIC_URL`, or else where the service listens on this machine. */
export function signInLines(path: string): string[] {
  const { publicUrl, port } = readConfig(process.env);
  return [
    "The link to sign in by, once, within 15 minutes; shown this once:",
    `${publicUrl ?? `http://127.0.0.1:${port}`}${path}`,
  ];
}

/** In RFC 3339; null for no time. */
export function timeText(time: Timestamp | undefined): string | null {
  return time === undefined ? null : timestampDate(time).toISOString();
}
