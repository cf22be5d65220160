import type { Command, Option } from "commander";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { LIMIT_CLASSES, type LimitClass } from "../domain/rate-limit.ts";
import { callRpc } from "./command-line-call.ts";
import { namedWorkspace, type WorkspaceOptions } from "./key-command.ts";
import { idOption, required, testOption, wholeNumber } from "./options.ts";
import type { CommandResult } from "./run-command.ts";
import { commandGroup, subcommand } from "./subcommand.ts";

const { method } = WorkspaceAdminService;

interface SetOptions extends WorkspaceOptions {
  readonly class: LimitClass;
  readonly rate: number;
  readonly burst?: number;
}

/**
 * `limits set --workspace ID [--test] --class CLASS --rate N [--burst N]` and `limits show --workspace ID [--test]`
 */
export function limitsCommand(): Command {
  const set = subcommand<SetOptions>(
    "set",
    "limit how often a workspace may call one class of methods",
    [
      idOption("workspace"),
      testOption(),
      required("--class <class>", "quote, read or write").choices([...LIMIT_CLASSES]),
      callsOption("--rate <calls>", "calls a second").makeOptionMandatory(),
      callsOption("--burst <calls>", "calls at once after a rest; twice the rate"),
    ],
    async (em, { class: limitClass, rate, burst, ...named }) => {
      const workspace = await namedWorkspace(em, named);
      const fields = { workspace, [limitClass]: { rate, burst } };
      const { updateWorkspaceLimits: update } = method;
      return asResult((await callRpc(em, update, fields)).data!);
    },
  );
  const show = subcommand<WorkspaceOptions>(
    "show",
    "print a workspace's limits",
    [idOption("workspace"), testOption()],
    async (em, named) => {
      const workspace = await namedWorkspace(em, named);
      const { data } = await callRpc(em, method.getWorkspace, { workspace });
      return asResult(data!);
    },
  );
  return commandGroup("limits", "how often workspaces may call", set, show);
}

/** The highest rate and burst of a limit. */
const MAX_CALLS = 1_000_000;

function callsOption(flags: string, description: string): Option {
  return wholeNumber(flags, description, [1, MAX_CALLS]);
}

function asResult({ id, limits }: AdminWorkspace): CommandResult {
  const listed = LIMIT_CLASSES.map((limitClass) => {
    const { rate, burst } = limits![limitClass]!;
    return [limitClass, { rate, burst }] as const;
  });
  return {
    json: { workspace: Number(id), limits: Object.fromEntries(listed) },
    lines: listed.map(([name, { rate, burst }]) => `${name}: ${rate} a second, ${burst} at once`),
  };
}
