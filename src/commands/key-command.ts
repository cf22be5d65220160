import type { Command, Option } from "commander";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyScope, type ApiKey } from "../../gen/shipments/v1/api_key_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { Refusal } from "../domain/refusal.ts";
import { KEY_SCOPES, type KeyScope } from "../domain/roles.ts";
import { assertLive, findWorkspace } from "../features/workspace-admin/admin-workspaces.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";
import { callRpc } from "./command-line-call.ts";
import {
  idOption,
  keyEndingIn,
  last4Option,
  option,
  overlapOption,
  required,
  testOption,
  valueNamed,
} from "./options.ts";
import { CommandRefused } from "./run-command.ts";
import { commandGroup, subcommand } from "./subcommand.ts";

const { method } = WorkspaceAdminService;

/** `key create`, `update`, `rotate` and `revoke` */
export function keyCommand(): Command {
  return commandGroup(
    "key",
    "the secret keys of workspaces",
    createCommand(),
    updateCommand(),
    rotateCommand(),
    revokeCommand(),
  );
}

/** Which workspace a command is about. */
export interface WorkspaceOptions {
  readonly workspace: bigint;
  readonly test?: true;
}

interface KeyOptions extends WorkspaceOptions {
  readonly last4: string;
}

/** `key create --workspace ID [--test] --name NAME [--scope SCOPE]` */
function createCommand(): Command {
  return subcommand<WorkspaceOptions & { name: string; scope?: KeyScope }>(
    "create",
    "make one more key, beside the others",
    [
      idOption("workspace"),
      testOption(),
      required("--name <name>", "the program that it is for"),
      scopeOption(),
    ],
    async (em, { name, scope, ...named }) => {
      const workspace = await namedWorkspace(em, named);
      const fields = { workspace, name, scope: valueNamed(ApiKeyScope, scope) };
      const created = await callRpc(em, method.createWorkspaceApiKey, fields);
      const { data, apiKey } = created;
      return {
        json: { key: asJson(data!), api_key: apiKey },
        lines: [`The new key, shown this once: ${apiKey}`, asLine(data!)],
      };
    },
  );
}

/** `key update --workspace ID [--test] --last4 XXXX [--name NAME] [--scope SCOPE]` */
function updateCommand(): Command {
  return subcommand<KeyOptions & { name?: string; scope?: KeyScope }>(
    "update",
    "give a key another name or scope",
    [
      idOption("workspace"),
      testOption(),
      last4Option().makeOptionMandatory(),
      option("--name <name>", "the program that it is for"),
      scopeOption(),
    ],
    async (em, { last4, name, scope, ...named }) => {
      const workspace = await namedWorkspace(em, named);
      const keys = await listKeys(em, workspace);
      const { id: key } = keyEndingIn(keys, last4, `Workspace ${workspace}`);
      const fields = { workspace, key, name, scope: valueNamed(ApiKeyScope, scope) };
      const { data } = await callRpc(em, method.updateWorkspaceApiKey, fields);
      return { json: { key: asJson(data!) }, lines: [asLine(data!)] };
    },
  );
}

/** `key rotate --workspace ID [--test] [--overlap SECONDS]` */
function rotateCommand(): Command {
  return subcommand<WorkspaceOptions & { overlap: number }>(
    "rotate",
    "make a new key; the others end after the overlap",
    [idOption("workspace"), testOption(), overlapOption("how long the other keys go on working")],
    async (em, { overlap: overlapSeconds, ...named }) => {
      const workspace = await namedWorkspace(em, named);
      const fields = { workspace, overlapSeconds };
      const { rotateWorkspaceApiKeys: rotate } = method;
      const { apiKey } = await callRpc(em, rotate, fields);
      return {
        json: { api_key: apiKey },
        lines: [
          `The new key, shown this once: ${apiKey}`,
          overlapSeconds === 0
            ? "Every other key of the workspace has stopped. With --overlap SECONDS they would go on for a while."
            : `The other keys of the workspace stop in ${overlapSeconds} seconds.`,
        ],
      };
    },
  );
}

/** `key revoke --workspace ID [--test] --last4 XXXX` */
function revokeCommand(): Command {
  return subcommand<KeyOptions>(
    "revoke",
    "end a key now",
    [idOption("workspace"), testOption(), last4Option().makeOptionMandatory()],
    async (em, { last4, ...named }) => {
      const workspace = await namedWorkspace(em, named);
      const keys = await listKeys(em, workspace).catch((error: unknown) => {
        if (error instanceof Refusal && error.reason === "WORKSPACE_NOT_FOUND") return [];
        throw error;
      });
      const matching = keys.filter((key) => key.last4 === last4);
      for (const { id: key } of matching) {
        const { revokeWorkspaceApiKey: revoke } = method;
        await callRpc(em, revoke, { workspace, key });
      }
      const revoked = matching.length;
      if (revoked === 0) {
        throw new CommandRefused(
          `Workspace ${workspace} has no working key that ends in ${last4}.`,
        );
      }
      return { json: { revoked }, lines: [`Revoked ${revoked}.`] };
    },
  );
}

/**
 * The id of the workspace that options name, or of its test twin.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, WORKSPACE_IS_TEST
 */
export async function namedWorkspace(
  em: EntityManager,
  { workspace, test }: WorkspaceOptions,
): Promise<bigint> {
  if (test === undefined) return workspace;
  const fork = em.fork();
  const live = await findWorkspace(fork, workspace);
  assertLive(live);
  const { id } = await fork.findOneOrFail(Workspace, { twinOf: live.id });
  return BigInt(id);
}

/** The keys of a workspace that work, the oldest first. */
export async function listKeys(em: EntityManager, workspace: bigint): Promise<ApiKey[]> {
  const rpc = method.listWorkspaceApiKeys;
  return (await callRpc(em, rpc, { workspace })).data;
}

function scopeOption(): Option {
  return option("--scope <scope>", "what it may be used for").choices(KEY_SCOPES);
}

function asJson({ id, name, last4, scope }: ApiKey) {
  return { id, name: name ?? null, last4, scope: ApiKeyScope[scope].toLowerCase() };
}

function asLine(key: ApiKey): string {
  const { name, last4, scope } = asJson(key);
  return `Key ...${last4}: ${name ?? "unnamed"}, ${scope}`;
}
