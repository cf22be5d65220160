import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  CreateWorkspaceRequestSchema,
  RenameWorkspaceRequestSchema,
  ResumeWorkspaceRequestSchema,
  SuspendWorkspaceRequestSchema,
  WorkspaceAdminService,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { createWorkspace } from "../features/workspace-admin/create-workspace.ts";
import { renameWorkspace } from "../features/workspace-admin/rename-workspace.ts";
import { resumeWorkspace } from "../features/workspace-admin/resume-workspace.ts";
import { suspendWorkspace } from "../features/workspace-admin/suspend-workspace.ts";
import type { PaymentProviderName } from "../features/workspaces/payment-connection.entity.ts";
import { commandLineCall } from "./command-line-call.ts";
import { listAllWorkspaces, type ListedWorkspace } from "./list-all-workspaces.ts";
import { jsonOption, providerOption, workspaceOption } from "./options.ts";
import { readRequest } from "./read-request.ts";
import { runCommand } from "./run-command.ts";

const { method } = WorkspaceAdminService;

/** How long the name of a workspace may be, in characters. */
const MAX_NAME_LENGTH = 200;

/** The options that name one workspace. */
interface WorkspaceOptions {
  readonly workspace: number;
  readonly json: boolean;
}

/**
 * `workspace create --name NAME [--payment-provider manual]`, `workspace list`,
 * `workspace rename --workspace ID --name NAME` and `workspace suspend|resume --workspace ID`
 */
export function workspaceCommand(): Command {
  return new Command("workspace")
    .description("the teams that book")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(renameCommand())
    .addCommand(suspendCommand())
    .addCommand(resumeCommand());
}

function createCommand(): Command {
  return new Command("create")
    .description("make a workspace and its first API key")
    .addOption(nameOption())
    .addOption(providerOption("--payment-provider <provider>"))
    .addOption(jsonOption())
    .action((options: { name: string; paymentProvider?: PaymentProviderName; json: boolean }) =>
      runCommand(options.json, async (em) => {
        const { name, paymentProvider } = options;
        const request = readRequest(CreateWorkspaceRequestSchema, { name, paymentProvider });
        const call = commandLineCall(method.createWorkspace);
        const { data, apiKey } = await createWorkspace(request, call, em);
        const workspace = { id: Number(data!.id), name: data!.name };
        return {
          json: { workspace, api_key: apiKey },
          lines: [
            `Workspace ${workspace.id}: ${workspace.name}`,
            `Its key, shown this once: ${apiKey}`,
          ],
        };
      }),
    );
}

function listCommand(): Command {
  return new Command("list")
    .description("list the workspaces, their payment providers and working keys")
    .addOption(jsonOption())
    .action(({ json }: { json: boolean }) =>
      runCommand(json, async (em) => {
        const workspaces = await listAllWorkspaces(em);
        const lines = workspaces.length === 0 ? ["No workspaces yet."] : workspaces.map(asLine);
        return { json: { workspaces: workspaces.map(asJson) }, lines };
      }),
    );
}

function renameCommand(): Command {
  return new Command("rename")
    .description("give a workspace another name")
    .addOption(workspaceOption())
    .addOption(nameOption())
    .addOption(jsonOption())
    .action(({ workspace, name, json }: WorkspaceOptions & { readonly name: string }) =>
      runCommand(json, async (em) => {
        const fields = { workspace: BigInt(workspace), name };
        const request = readRequest(RenameWorkspaceRequestSchema, fields);
        await renameWorkspace(request, commandLineCall(method.renameWorkspace), em);
        return {
          json: { workspace: { id: workspace, name: request.name } },
          lines: [`Workspace ${workspace}: ${request.name}`],
        };
      }),
    );
}

function suspendCommand(): Command {
  return new Command("suspend")
    .description("refuse all calls of a workspace until it is resumed")
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(({ workspace, json }: WorkspaceOptions) =>
      runCommand(json, async (em) => {
        const request = readRequest(SuspendWorkspaceRequestSchema, {
          workspace: BigInt(workspace),
        });
        const call = commandLineCall(method.suspendWorkspace);
        const { data } = await suspendWorkspace(request, call, em);
        const suspendedAt = timestampDate(data!.suspendedAt!).toISOString();
        return {
          json: { workspace, suspended_at: suspendedAt },
          lines: [`Workspace ${workspace} has been suspended since ${suspendedAt}.`],
        };
      }),
    );
}

function resumeCommand(): Command {
  return new Command("resume")
    .description("take the calls of a suspended workspace again")
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(({ workspace, json }: WorkspaceOptions) =>
      runCommand(json, async (em) => {
        const request = readRequest(ResumeWorkspaceRequestSchema, { workspace: BigInt(workspace) });
        await resumeWorkspace(request, commandLineCall(method.resumeWorkspace), em);
        return {
          json: { workspace, suspended_at: null },
          lines: [`Workspace ${workspace} is not suspended.`],
        };
      }),
    );
}

function nameOption(): Option {
  return new Option("--name <name>", "the workspace's name")
    .argParser(readName)
    .makeOptionMandatory();
}

function readName(text: string): string {
  const name = text.trim();
  if (name !== "" && name.length <= MAX_NAME_LENGTH) return name;
  throw new InvalidArgumentError(`It must have 1 to ${MAX_NAME_LENGTH} characters.`);
}

function asJson({ workspace: { id, name, paymentProvider }, keys }: ListedWorkspace) {
  return {
    id: Number(id),
    name,
    payment_provider: paymentProvider ?? null,
    keys: keys.map(({ name: of, last4, isReadOnly, endsAt }) => ({
      name: of,
      last4,
      scope: isReadOnly ? "read_only" : "full",
      ends_at: endsAt,
    })),
  };
}

function asLine({ workspace, keys }: ListedWorkspace): string {
  const { id, name, suspendedAt, paymentProvider = "no payment provider" } = workspace;
  const listed = keys.map(({ last4, isReadOnly, endsAt }) =>
    [
      `...${last4}`,
      ...(isReadOnly ? ["read-only"] : []),
      ...(endsAt === null ? [] : [`until ${endsAt.toISOString()}`]),
    ].join(" "),
  );
  const suspended =
    suspendedAt === undefined
      ? ""
      : `  suspended since ${timestampDate(suspendedAt).toISOString()}`;
  return `${id}  ${name}  ${paymentProvider}  ${listed.join(", ") || "no key"}${suspended}`;
}
