import { Command, InvalidArgumentError, Option } from "commander";
import { revokeKey } from "../features/api-keys/revoke-key.ts";
import { MAX_OVERLAP_SECONDS, rotateKey } from "../features/api-keys/rotate-key.ts";
import { jsonOption, readWholeNumber, workspaceOption } from "./options.ts";
import { CommandRefused, runCommand } from "./run-command.ts";

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
        const apiKey = await rotateKey(em, workspace, overlap);
        if (apiKey === undefined) throw new CommandRefused(`There is no workspace ${workspace}.`);
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
        const revoked = await revokeKey(em, workspace, last4);
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

function readLast4(text: string): string {
  if (/^[0-9A-Za-z]{4}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be four letters or digits.");
}
