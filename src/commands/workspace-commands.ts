import { Option } from "commander";
import { NewRateLimitSchema, WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { LIMIT_CLASSES } from "../domain/rate-limit.ts";
import { findConnection } from "../features/payments/payment-connections.ts";
import { commandGroup, databaseCommand, type CommandResult } from "./command.ts";
import {
  callRpc,
  fieldOption,
  last4Option,
  pick,
  replacedLine,
  rpcCommand,
  signInLines,
  TEST,
  withIds,
  WORKSPACE,
  type OptionValues,
  type ResponseJson,
} from "./rpc-command.ts";

const { method } = WorkspaceAdminService;
const NAME = ["--name <name>", "the workspace's name"] as const;
const KEY_NAME = ["--name <name>", "name of the key, such as the client that uses it"] as const;
const SCOPE = ["--scope <scope>", "its scope"] as const;

type Keys = ResponseJson<typeof method.listWorkspaceApiKeys>["data"];
type Workspace = NonNullable<ResponseJson<typeof method.getWorkspace>["data"]>;

export const workspaceCommand = commandGroup(
  "workspace",
  "teams that book shipments",
  rpcCommand(
    "create",
    "create a workspace with its first live key and test key",
    method.createWorkspace,
    { name: NAME, payment_provider: ["--payment-provider <provider>", "the payment provider"] },
    ({ data, api_key, test_api_key }) => ({
      json: { workspace: pick(data!, "id", "name"), api_key, test_api_key },
      lines: [
        `Workspace ${data!.id}: ${data!.name}`,
        `Live key, shown only once: ${api_key}`,
        `Test key, shown only once: ${test_api_key}`,
      ],
    }),
  ),
  rpcCommand(
    "list",
    "list the workspaces, their payment providers and active keys",
    method.listWorkspaces,
    {},
    async ({ data }, _, em) => {
      const workspaces: object[] = [];
      const lines: string[] = [];
      for (const workspace of data.toSorted((a, b) => a.id - b.id)) {
        const { data: keys } = await callRpc(em, method.listWorkspaceApiKeys, {
          workspace: workspace.id,
        });
        workspaces.push({
          ...pick(workspace, "id", "name", "payment_provider"),
          keys: keys.map((key) => pick(key, "name", "last4", "scope", "ends_at")),
        });
        lines.push(workspaceLine(workspace, keys));
      }
      return { json: { workspaces }, lines: lines.length > 0 ? lines : ["No workspaces yet."] };
    },
  ),
  rpcCommand(
    "rename",
    "rename a workspace",
    method.renameWorkspace,
    { workspace: WORKSPACE, name: NAME },
    ({ data }) => ({
      json: { workspace: pick(data!, "id", "name") },
      lines: [`Workspace ${data!.id}: ${data!.name}`],
    }),
  ),
  rpcCommand(
    "time-zone",
    "set the time zone of a workspace",
    method.updateWorkspaceTimeZone,
    {
      workspace: WORKSPACE,
      time_zone: ["--time-zone <name>", "such as Europe/Berlin, or UTC"],
    },
    ({ data }) => ({
      json: { workspace: data!.id, ...pick(data!, "time_zone") },
      lines: [`The time zone of workspace ${data!.id} is ${data!.time_zone}.`],
    }),
  ),
  rpcCommand(
    "suspend",
    "refuse all calls of a workspace until it is resumed",
    method.suspendWorkspace,
    { workspace: WORKSPACE },
    ({ data }) => ({
      json: { workspace: data!.id, ...pick(data!, "suspended_at") },
      lines: [`Workspace ${data!.id} has been suspended since ${data!.suspended_at}.`],
    }),
  ),
  rpcCommand(
    "resume",
    "accept calls of a suspended workspace again",
    method.resumeWorkspace,
    { workspace: WORKSPACE },
    ({ data }) => ({
      json: { workspace: data!.id, ...pick(data!, "suspended_at") },
      lines: [`Workspace ${data!.id} is not suspended.`],
    }),
  ),
);

function workspaceLine(workspace: Workspace, keys: Keys): string {
  const { id, name, payment_provider: provider, suspended_at: since } = workspace;
  const listed = keys.map(({ last4, scope, ends_at: endsAt }) => {
    const until = endsAt === null ? "" : ` until ${endsAt}`;
    return `...${last4}${scope === "full" ? "" : ` ${scope.replace("_", "-")}`}${until}`;
  });
  const suspended = since === null ? "" : `  suspended since ${since}`;
  return `${id}  ${name}  ${provider ?? "no payment provider"}  ${listed.join(", ") || "no key"}${suspended}`;
}

export const paymentProviderCommand = commandGroup(
  "payment-provider",
  "payment providers of workspaces",
  rpcCommand(
    "connect",
    "connect a payment provider so that the workspace can book",
    method.connectPaymentProvider,
    { workspace: WORKSPACE, payment_provider: ["--provider <provider>", "the payment provider"] },
    ({ data }) => ({
      json: { workspace: data!.id, ...pick(data!, "payment_provider") },
      lines: [`Workspace ${data!.id} uses the payment provider ${data!.payment_provider}.`],
    }),
  ),
  rpcCommand(
    "show",
    "show whether the provider accepts payments and which details are missing",
    method.getWorkspace,
    { workspace: WORKSPACE, test: TEST },
    async ({ data }, _, em) => {
      const workspace = data!.id;
      const connection = await findConnection(em.fork(), workspace);
      const { provider = null, state = "none", account = null, missing = [] } = connection ?? {};
      const live = connection?.live ?? null;
      const details = [state, account && `account ${account}`];
      if (live !== null) details.push(live ? "live mode" : "test mode");
      return {
        json: { workspace, payment_provider: provider, state, account, live, missing },
        lines: [
          provider === null
            ? `Workspace ${workspace} has no payment provider.`
            : `Workspace ${workspace} uses the payment provider ${provider}: ${details.filter(Boolean).join(", ")}.`,
          ...(missing.length === 0 ? [] : [`Missing details: ${missing.join(", ")}`]),
        ],
      };
    },
  ),
  rpcCommand(
    "disconnect",
    "disconnect the provider; the workspace can then no longer book",
    method.disconnectPaymentProvider,
    { workspace: WORKSPACE },
    ({ data }) => ({
      json: { workspace: data!.id, ...pick(data!, "payment_provider") },
      lines: [`Workspace ${data!.id} has no payment provider.`],
    }),
  ),
);

const { field } = NewRateLimitSchema;

export const limitsCommand = commandGroup(
  "limits",
  "rate limits of workspaces",
  databaseCommand<OptionValues>(
    "set",
    "set the rate limit of a workspace for a class of calls",
    [
      fieldOption(method.getWorkspace.input.field.workspace, ...WORKSPACE),
      new Option(...TEST),
      new Option("--class <class>", "quote, read or write").choices(LIMIT_CLASSES).makeOptionMandatory(),
      fieldOption(field.rate, "--rate <calls>", "calls per second"),
      fieldOption(field.burst, "--burst <calls>", "burst after an idle period (default: twice the rate)"),
    ],
    async ({ em }, { workspace, test, class: limitClass, ...limit }) => {
      const fields = { [limitClass as string]: pick(limit, "rate", "burst") };
      const request = { ...(await withIds(em, { workspace, test })), ...fields };
      return limitsResult(await callRpc(em, method.updateWorkspaceLimits, request));
    },
  ),
  rpcCommand(
    "show",
    "print a workspace's limits",
    method.getWorkspace,
    { workspace: WORKSPACE, test: TEST },
    limitsResult,
  ),
);

function limitsResult({ data }: { readonly data: Workspace | null }): CommandResult {
  const { id: workspace, limits } = data!;
  const lines = LIMIT_CLASSES.map((name) => {
    const { rate, burst } = limits![name]!;
    return `${name}: ${rate} per second, burst ${burst}`;
  });
  return { json: { workspace, limits }, lines };
}

export const keyCommand = commandGroup(
  "key",
  "API keys of workspaces",
  rpcCommand(
    "create",
    "create an additional key",
    method.createWorkspaceApiKey,
    { workspace: WORKSPACE, test: TEST, name: KEY_NAME, scope: SCOPE },
    ({ data, api_key }) => ({
      json: { ...keyJson(data!), api_key },
      lines: [`New key, shown only once: ${api_key}`, keyLine(data!)],
    }),
  ),
  rpcCommand(
    "update",
    "change the name or scope of a key",
    method.updateWorkspaceApiKey,
    {
      workspace: WORKSPACE,
      test: TEST,
      last4: last4Option().makeOptionMandatory(),
      name: KEY_NAME,
      scope: SCOPE,
    },
    ({ data }) => ({ json: keyJson(data!), lines: [keyLine(data!)] }),
  ),
  rpcCommand(
    "rotate",
    "create a new key; all other keys expire after the overlap",
    method.rotateWorkspaceApiKeys,
    {
      workspace: WORKSPACE,
      test: TEST,
      overlap_seconds: ["--overlap <seconds>", "time until the other keys expire"],
    },
    ({ api_key }, { overlap_seconds }) => ({
      json: { api_key },
      lines: [`New key, shown only once: ${api_key}`, replacedLine(overlap_seconds, "workspace")],
    }),
  ),
  rpcCommand(
    "revoke",
    "revoke a key immediately",
    method.revokeWorkspaceApiKey,
    { workspace: WORKSPACE, test: TEST, last4: last4Option().makeOptionMandatory() },
    () => ({ json: { revoked: 1 }, lines: ["Revoked 1."] }),
  ),
);

function keyJson(key: Keys[number]) {
  return { key: pick(key, "id", "name", "last4", "scope") };
}

function keyLine({ last4, name, scope }: Keys[number]): string {
  return `Key ...${last4}: ${name ?? "unnamed"}, ${scope}`;
}

export const memberCommand = commandGroup(
  "member",
  "members of workspaces",
  rpcCommand(
    "invite",
    "add a person as a member, or create a new sign-in link for a member",
    method.inviteWorkspaceMember,
    {
      workspace: WORKSPACE,
      email: ["--email <email>", "the person's email"],
      name: ["--name <name>", "the person's name; default: the part before the @"],
      role: ["--role <role>", "the member's role; default: admin for the first member, otherwise viewer"],
    },
    ({ data, sign_in_path }) => ({
      json: { member: pick(data!, "person", "email", "name", "role"), sign_in_path },
      lines: [`Member ${data!.person}: ${data!.name}, ${data!.email}, ${data!.role}`, ...signInLines(sign_in_path)],
    }),
  ),
);
