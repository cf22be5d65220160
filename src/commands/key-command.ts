import { Command, InvalidArgumentError, Option } from "commander";
import {
  ListWorkspaceApiKeysRequestSchema,
  RevokeWorkspaceApiKeyRequestSchema,
  RotateWorkspaceApiKeysRequestSchema,
  WorkspaceAdminService,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { Refusal } from "../domain/refusal.ts";
import { listWorkspaceApiKeys } from "../features/workspace-admin/list-workspace-api-keys.ts";
import { revokeWorkspaceApiKey } from "../features/workspace-admin/revoke-workspace-api-key.ts";
import { rotateWorkspaceApiKeys } from "../features/workspace-admin/rotate-workspace-api-keys.ts";
import { commandLineCall } from "./command-line-call.ts";
import { jsonOption, readWholeNumber, workspaceOption } from "./options.ts";
import { readRequest } from "./read-request.ts";
import { CommandRefused, runCommand } from "./run-command.ts";

const { method } = WorkspaceAdminService;

/** How long old keys can go on working after a rotation, in seconds: 7 days. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/** `key rotate --workspace ID [--overlap SECONDS]` and `key revoke --workspace ID --last4 XXXX` */
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
    .requiredOption("--last4 <characters>", "the key's last four characters", readLast4)
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
    .addCommand(rotate)
    .addCommand(revoke);
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

function readLast4(text: string): string {
  if (/^[0-9A-Za-z]{4}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be four letters or digits.");
}
