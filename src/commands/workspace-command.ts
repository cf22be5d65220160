import { InvalidArgumentError, type Command, type Option } from "commander";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyScope, type ApiKey } from "../../gen/shipments/v1/api_key_pb.js";
import { hasAtMost } from "../domain/clip.ts";
import { MAX_PAGE_SIZE } from "../domain/limits.ts";
import type { PaymentProviderName } from "../features/workspaces/payment-connection.entity.ts";
import { callRpc, listAll } from "./command-line-call.ts";
import { listKeys } from "./key-command.ts";
import { idOption, providerOption, required } from "./options.ts";
import { commandGroup, subcommand, timeText } from "./subcommand.ts";

const { method } = WorkspaceAdminService;

/** How long the name of a workspace may be, in characters. */
const MAX_NAME_LENGTH = 200;

interface WorkspaceOptions {
  readonly workspace: bigint;
}

/** `workspace create`, `list`, `rename`, `time-zone`, `suspend` and `resume` */
export function workspaceCommand(): Command {
  return commandGroup(
    "workspace",
    "the teams that book",
    createCommand(),
    listCommand(),
    renameCommand(),
    timeZoneCommand(),
    suspendCommand(),
    resumeCommand(),
  );
}

/** `workspace create --name NAME [--payment-provider manual]` */
function createCommand(): Command {
  return subcommand<{ name: string; paymentProvider?: PaymentProviderName }>(
    "create",
    "make a workspace and its first API keys, one for tests",
    [nameOption(), providerOption("--payment-provider <provider>")],
    async (em, { name, paymentProvider }) => {
      const fields = { name, paymentProvider };
      const created = await callRpc(em, method.createWorkspace, fields);
      const { data, apiKey, testApiKey } = created;
      const workspace = { id: Number(data!.id), name: data!.name };
      return {
        json: { workspace, api_key: apiKey, test_api_key: testApiKey },
        lines: [
          `Workspace ${workspace.id}: ${workspace.name}`,
          `Its key, shown this once: ${apiKey}`,
          `Its key for tests, shown this once: ${testApiKey}`,
        ],
      };
    },
  );
}

/** `workspace list`, the oldest first */
function listCommand(): Command {
  return subcommand(
    "list",
    "list the workspaces, their payment providers and working keys",
    [],
    async (em) => {
      const workspaces = await listAll((pageToken) => {
        const page = { pageSize: MAX_PAGE_SIZE, pageToken };
        return callRpc(em, method.listWorkspaces, page);
      });
      const listed: (readonly [AdminWorkspace, ApiKey[]])[] = [];
      for (const workspace of workspaces.toSorted((a, b) => Number(a.id - b.id))) {
        listed.push([workspace, await listKeys(em, workspace.id)]);
      }
      return {
        json: { workspaces: listed.map((one) => asJson(...one)) },
        lines: listed.length === 0 ? ["No workspaces yet."] : listed.map((one) => asLine(...one)),
      };
    },
  );
}

/** `workspace rename --workspace ID --name NAME` */
function renameCommand(): Command {
  return subcommand<WorkspaceOptions & { name: string }>(
    "rename",
    "give a workspace another name",
    [idOption("workspace"), nameOption()],
    async (em, { workspace, name: given }) => {
      const fields = { workspace, name: given };
      const { data } = await callRpc(em, method.renameWorkspace, fields);
      const { id, name } = data!;
      return {
        json: { workspace: { id: Number(id), name } },
        lines: [`Workspace ${id}: ${name}`],
      };
    },
  );
}

/** `workspace time-zone --workspace ID --time-zone NAME` */
function timeZoneCommand(): Command {
  return subcommand<WorkspaceOptions & { timeZone: string }>(
    "time-zone",
    "set the time zone whose days a workspace's reports are by",
    [idOption("workspace"), required("--time-zone <name>", "such as Europe/Berlin, or UTC")],
    async (em, fields) => {
      const { updateWorkspaceTimeZone: update } = method;
      const { data } = await callRpc(em, update, fields);
      const { id, timeZone } = data!;
      return {
        json: { workspace: Number(id), time_zone: timeZone },
        lines: [`The time zone of workspace ${id} is ${timeZone}.`],
      };
    },
  );
}

/** `workspace suspend --workspace ID` */
function suspendCommand(): Command {
  return subcommand<WorkspaceOptions>(
    "suspend",
    "refuse all calls of a workspace until it is resumed",
    [idOption("workspace")],
    async (em, { workspace }) => {
      const { data } = await callRpc(em, method.suspendWorkspace, { workspace });
      const suspendedAt = timeText(data!.suspendedAt);
      return {
        json: { workspace: Number(workspace), suspended_at: suspendedAt },
        lines: [`Workspace ${workspace} has been suspended since ${suspendedAt}.`],
      };
    },
  );
}

/** `workspace resume --workspace ID` */
function resumeCommand(): Command {
  return subcommand<WorkspaceOptions>(
    "resume",
    "take the calls of a suspended workspace again",
    [idOption("workspace")],
    async (em, { workspace }) => {
      await callRpc(em, method.resumeWorkspace, { workspace });
      return {
        json: { workspace: Number(workspace), suspended_at: null },
        lines: [`Workspace ${workspace} is not suspended.`],
      };
    },
  );
}

function nameOption(): Option {
  return required("--name <name>", "the workspace's name").argParser(parseName);
}

function parseName(text: string): string {
  const name = text.trim();
  const isName = name !== "" && hasAtMost(name, MAX_NAME_LENGTH) && !/[\n\r]/.test(name);
  if (isName) return name;
  throw new InvalidArgumentError(`It must be one line of 1 to ${MAX_NAME_LENGTH} characters.`);
}

function asJson({ id, name, paymentProvider }: AdminWorkspace, keys: readonly ApiKey[]) {
  return {
    id: Number(id),
    name,
    payment_provider: paymentProvider ?? null,
    keys: keys.map(({ name: of = null, last4, scope, endsAt }) => ({
      name: of,
      last4,
      scope: ApiKeyScope[scope].toLowerCase(),
      ends_at: timeText(endsAt),
    })),
  };
}

function asLine(workspace: AdminWorkspace, workingKeys: readonly ApiKey[]): string {
  const { id, name, payment_provider: provider, keys } = asJson(workspace, workingKeys);
  const listed = keys.map(({ last4, scope, ends_at: endsAt }) =>
    [
      `...${last4}`,
      ...(scope === "read_only" ? ["read-only"] : []),
      ...(endsAt === null ? [] : [`until ${endsAt}`]),
    ].join(" "),
  );
  const since = timeText(workspace.suspendedAt);
  const suspended = since === null ? "" : `  suspended since ${since}`;
  return `${id}  ${name}  ${provider ?? "no payment provider"}  ${listed.join(", ") || "no key"}${suspended}`;
}
