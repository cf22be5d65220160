import { Command, Option } from "commander";
import {
  GetWorkspaceRequestSchema,
  UpdateWorkspaceLimitsRequestSchema,
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { LIMIT_CLASSES, type LimitClass } from "../domain/rate-limit.ts";
import { getWorkspace } from "../features/workspace-admin/get-workspace.ts";
import { updateWorkspaceLimits } from "../features/workspace-admin/update-workspace-limits.ts";
import { commandLineCall } from "./command-line-call.ts";
import { jsonOption, readWholeNumber, workspaceOption } from "./options.ts";
import { readRequest } from "./read-request.ts";
import { runCommand, type CommandResult } from "./run-command.ts";

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
    .action(({ workspace, class: limitClass, rate, burst, json }: SetOptions) =>
      runCommand(json, async (em) => {
        const request = readRequest(UpdateWorkspaceLimitsRequestSchema, {
          workspace: BigInt(workspace),
          [limitClass]: { rate, burst },
        });
        const call = commandLineCall(WorkspaceAdminService.method.updateWorkspaceLimits);
        const { data } = await updateWorkspaceLimits(request, call, em);
        return asResult(data!);
      }),
    );
  const show = new Command("show")
    .description("print a workspace's limits")
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(({ workspace, json }: { workspace: number; json: boolean }) =>
      runCommand(json, async (em) => {
        const request = readRequest(GetWorkspaceRequestSchema, { workspace: BigInt(workspace) });
        return asResult((await getWorkspace(request, em)).data!);
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

function asResult({ id, limits }: AdminWorkspace): CommandResult {
  const listed = LIMIT_CLASSES.map((it) => {
    const { rate, burst } = limits![it]!;
    return [it, { rate, burst }] as const;
  });
  return {
    json: { workspace: Number(id), limits: Object.fromEntries(listed) },
    lines: listed.map(([it, { rate, burst }]) => `${it}: ${rate} a second, ${burst} at once`),
  };
}
