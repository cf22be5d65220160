import { Command, Option } from "commander";
import { findLimits } from "../features/workspaces/find-limits.ts";
import { setLimit } from "../features/workspace-admin/set-limit.ts";
import { LIMIT_CLASSES, type LimitClass, type RateLimits } from "../domain/rate-limit.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";
import { jsonOption, readWholeNumber, workspaceOption } from "./options.ts";
import { CommandRefused, runCommand } from "./run-command.ts";

interface SetOptions {
  readonly workspace: number;
  readonly class: LimitClass;
  readonly rate: number;
  readonly burst: number | undefined;
  readonly json: boolean;
}

/**
 * `limits set --workspace ID --class CLASS --rate N [--burst N]` and `limits show --workspace ID`
 */
export function limitsCommand(): Command {
  const set = new Command("set")
    .description("limit how often a workspace may call one class of methods")
    .addOption(workspaceOption())
    .addOption(
      new Option("--class <class>", "quote, read or write")
        .choices([...LIMIT_CLASSES])
        .makeOptionMandatory(),
    )
    .addOption(callsOption("--rate <calls>", "calls a second").makeOptionMandatory())
    .addOption(callsOption("--burst <calls>", "calls at once after a rest; twice the rate"))
    .addOption(jsonOption())
    .action(({ workspace, class: limitClass, rate, burst = rate * 2, json }: SetOptions) =>
      runCommand(json, async (em) => {
        const limit = { rate, burst: Math.min(burst, MAX_CALLS) };
        const limits = await setLimit(em, workspace, limitClass, limit);
        if (limits === undefined) throw new CommandRefused(`There is no workspace ${workspace}.`);
        return { json: { workspace, limits }, lines: asLines(limits) };
      }),
    );
  const show = new Command("show")
    .description("print a workspace's limits")
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(({ workspace, json }: { workspace: number; json: boolean }) =>
      runCommand(json, async (em) => {
        const reading = em.fork();
        if ((await reading.findOne(Workspace, workspace)) === null) {
          throw new CommandRefused(`There is no workspace ${workspace}.`);
        }
        const limits = await findLimits(reading, workspace);
        return { json: { workspace, limits }, lines: asLines(limits) };
      }),
    );
  return new Command("limits")
    .description("how often workspaces may call")
    .addCommand(set)
    .addCommand(show);
}

/** The highest rate and burst of a limit. */
const MAX_CALLS = 1_000_000;

function callsOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => readWholeNumber(text, 1, MAX_CALLS));
}

function asLines(limits: RateLimits): string[] {
  return LIMIT_CLASSES.map(
    (it) => `${it}: ${limits[it].rate} a second, ${limits[it].burst} at once`,
  );
}
