import { Command, Option } from "commander";
import {
  CreateWorkspaceApiKeyRequestSchema,
  ListWorkspaceApiKeysRequestSchema,
  RevokeWorkspaceApiKeyRequestSchema,
  RotateWorkspaceApiKeysRequestSchema,
  UpdateWorkspaceApiKeyRequestSchema,
  WorkspaceAdminService,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyScope, type ApiKey } from "../../gen/shipments/v1/api_key_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { Refusal } from "../domain/refusal.ts";
import { KEY_SCOPES, type KeyScope } from "../domain/roles.ts";
import { createWorkspaceApiKey } from "../features/workspace-admin/create-workspace-api-key.ts";
import { listWorkspaceApiKeys } from "../features/workspace-admin/list-workspace-api-keys.ts";
import { revokeWorkspaceApiKey } from "../features/workspace-admin/revoke-workspace-api-key.ts";
import { rotateWorkspaceApiKeys } from "../features/workspace-admin/rotate-workspace-api-keys.ts";
import { updateWorkspaceApiKey } from "../features/workspace-admin/update-workspace-api-key.ts";
import { commandLineCall } from "./command-line-call.ts";
import {
  jsonOption,
  keyEndingIn,
  last4Option,
  readWholeNumber,
  workspaceOption,
} from "./options.ts";
import { readRequest } from "./read-request.ts";
import { CommandRefused, runCommand } from "./run-command.ts";

const { method } = WorkspaceAdminService;

/** How long old keys can go on working after a rotation, in seconds: 7 days. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/**
 * `key create --workspace ID --name NAME [--scope SCOPE]`,
 * `key update --workspace ID --last4 XXXX [--name NAME] [--scope SCOPE]`,
 * `key rotate --workspace ID [--overlap SECONDS]` and `key revoke --workspace ID --last4 XXXX`
 */
export function keyCommand(): Command {
  const rotate = new Command("rotate")
    .description("make a new key; the others end after the overlap")
    .addOption(workspaceOption())
    .addOption(
      new Option("--overlap <seconds>", "how long the other keys go on working")
        .argParser((text) => readWholeNumber(text, 0, MAX_OVERLAP_SECONDS))
        .default(0),
    )
    .addOption(jsonOption())
    .action(({ workspace, overlap, json }: { workspace: number; overlap: number; json: boolean }) =>
      runCommand(json, async (em) => {
        const { apiKey } = await rotateWorkspaceApiKeys(
          readRequest(RotateWorkspaceApiKeysRequestSchema, {
            workspace: BigInt(workspace),
            overlapSeconds: overlap,
          }),
          commandLineCall(method.rotateWorkspaceApiKeys),
          em,
        );
        return {
          json: { api_key: apiKey },
          lines: [
            `The new key, shown this once: ${apiKey}`,
            overlap === 0
              ? "Every other key of the workspace has stopped. With --overlap SECONDS they would go on for a while."
              : `The other keys of the workspace stop in ${overlap} seconds.`,
          ],
        };
      }),
    );
  const revoke = new Command("revoke")
    .description("end a key now")
    .addOption(workspaceOption())
    .addOption(last4Option().makeOptionMandatory())
    .addOption(jsonOption())
    .action(({ workspace, last4, json }: { workspace: number; last4: string; json: boolean }) =>
      runCommand(json, async (em) => {
        const revoked = await revokeKeys(em, workspace, last4);
        if (revoked === 0) {
          throw new CommandRefused(
            `Workspace ${workspace} has no working key that ends in ${last4}.`,
          );
        }
        return { json: { revoked }, lines: [`Revoked ${revoked}.`] };
      }),
    );
  return new Command("key")
    .description("the secret keys of workspaces")
    .addCommand(createCommand())
    .addCommand(updateCommand())
    .addCommand(rotate)
    .addCommand(revoke);
}

interface CreateOptions {
  readonly workspace: number;
  readonly name: string;
  readonly scope?: KeyScope;
  readonly json: boolean;
}

function createCommand(): Command {
  return new Command("create")
    .description("make one more key, beside the others")
    .addOption(workspaceOption())
    .requiredOption("--name <name>", "the program that it is for")
    .addOption(scopeOption())
    .addOption(jsonOption())
    .action(({ workspace, name, scope, json }: CreateOptions) =>
      runCommand(json, async (em) => {
        const fields = { workspace: BigInt(workspace), name, scope: sentScope(scope) };
        const request = readRequest(CreateWorkspaceApiKeyRequestSchema, fields);
        const call = commandLineCall(method.createWorkspaceApiKey);
        const { data, apiKey } = await createWorkspaceApiKey(request, call, em);
        return {
          json: { key: asJson(data!), api_key: apiKey },
          lines: [`The new key, shown this once: ${apiKey}`, ...described(data!)],
        };
      }),
    );
}

interface UpdateOptions {
  readonly workspace: number;
  readonly last4: string;
  readonly name?: string;
  readonly scope?: KeyScope;
  readonly json: boolean;
}

function updateCommand(): Command {
  return new Command("update")
    .description("give a key another name or scope")
    .addOption(workspaceOption())
    .addOption(last4Option().makeOptionMandatory())
    .option("--name <name>", "the program that it is for")
    .addOption(scopeOption())
    .addOption(jsonOption())
    .action(({ workspace: id, last4, name, scope, json }: UpdateOptions) =>
      runCommand(json, async (em) => {
        const workspace = BigInt(id);
        const listing = readRequest(ListWorkspaceApiKeysRequestSchema, { workspace });
        const { data: keys } = await listWorkspaceApiKeys(listing, em);
        const { id: key } = keyEndingIn(keys, last4, `Workspace ${id}`);
        const fields = { workspace, key, name, scope: sentScope(scope) };
        const request = readRequest(UpdateWorkspaceApiKeyRequestSchema, fields);
        const call = commandLineCall(method.updateWorkspaceApiKey);
        const { data } = await updateWorkspaceApiKey(request, call, em);
        return { json: { key: asJson(data!) }, lines: described(data!) };
      }),
    );
}

function scopeOption(): Option {
  return new Option("--scope <scope>", "what it may be used for").choices(KEY_SCOPES);
}

const SCOPES: Readonly<Record<KeyScope, ApiKeyScope>> = {
  read_only: ApiKeyScope.READ_ONLY,
  full: ApiKeyScope.FULL,
};

function sentScope(scope: KeyScope | undefined): ApiKeyScope | undefined {
  return scope && SCOPES[scope];
}

function asJson({ id, name, last4, scope }: ApiKey) {
  return { id, name: name ?? null, last4, scope: ApiKeyScope[scope].toLowerCase() };
}

function described(key: ApiKey): string[] {
  const { name, last4, scope } = asJson(key);
  return [`Key ...${last4}: ${name ?? "unnamed"}, ${scope}`];
}

/**
 * Revokes the working keys of a workspace that end in these characters.
 *
 * @returns how many; 0 also when there is no such workspace
 */
async function revokeKeys(em: EntityManager, id: number, last4: string): Promise<number> {
  const workspace = BigInt(id);
  const listing = readRequest(ListWorkspaceApiKeysRequestSchema, { workspace });
  const { data } = await listWorkspaceApiKeys(listing, em).catch((error: unknown) => {
    if (error instanceof Refusal && error.reason === "WORKSPACE_NOT_FOUND") return { data: [] };
    throw error;
  });
  const matching = data.filter((key) => key.last4 === last4);
  for (const { id: key } of matching) {
    const request = readRequest(RevokeWorkspaceApiKeyRequestSchema, { workspace, key });
    await revokeWorkspaceApiKey(request, commandLineCall(method.revokeWorkspaceApiKey), em);
  }
  return matching.length;
}
