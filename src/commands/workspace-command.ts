import { Command, InvalidArgumentError } from "commander";
import { createWorkspace } from "../features/workspace-admin/create-workspace.ts";
import {
  listWorkspaces,
  type ListedWorkspace,
} from "../features/workspace-admin/list-workspaces.ts";
import type { PaymentProviderName } from "../features/workspaces/payment-connection.entity.ts";
import { jsonOption, providerOption } from "./options.ts";
import { runCommand } from "./run-command.ts";

/** How long the name of a workspace may be, in characters. */
const MAX_NAME_LENGTH = 200;

/** `workspace create --name NAME [--payment-provider manual]` and `workspace list` */
export function workspaceCommand(): Command {
  const create = new Command("create")
    .description("make a workspace and its first API key")
    .requiredOption("--name <name>", "the workspace's name", readName)
    .addOption(providerOption("--payment-provider <provider>"))
    .addOption(jsonOption())
    .action((options: { name: string; paymentProvider?: PaymentProviderName; json: boolean }) =>
      runCommand(options.json, async (em) => {
        const { workspace, apiKey } = await createWorkspace(em, options);
        return {
          json: { workspace, api_key: apiKey },
          lines: [
            `Workspace ${workspace.id}: ${workspace.name}`,
            `Its key, shown this once: ${apiKey}`,
          ],
        };
      }),
    );
  const list = new Command("list")
    .description("list the workspaces, their payment providers and working keys")
    .addOption(jsonOption())
    .action(({ json }: { json: boolean }) =>
      runCommand(json, async (em) => {
        const workspaces = await listWorkspaces(em);
        const lines = workspaces.length === 0 ? ["No workspaces yet."] : workspaces.map(asLine);
        return { json: { workspaces: workspaces.map(asJson) }, lines };
      }),
    );
  return new Command("workspace")
    .description("the teams that book")
    .addCommand(create)
    .addCommand(list);
}

function readName(text: string): string {
  const name = text.trim();
  if (name !== "" && name.length <= MAX_NAME_LENGTH) return name;
  throw new InvalidArgumentError(`It must have 1 to ${MAX_NAME_LENGTH} characters.`);
}

function asJson({ id, name, paymentProvider, keys }: ListedWorkspace) {
  return {
    id,
    name,
    payment_provider: paymentProvider,
    keys: keys.map(({ last4, endsAt }) => ({ last4, ends_at: endsAt })),
  };
}

function asLine({ id, name, paymentProvider, keys }: ListedWorkspace): string {
  const listed = keys.map(({ last4, endsAt }) =>
    endsAt === null ? `...${last4}` : `...${last4} until ${endsAt.toISOString()}`,
  );
  const provider = paymentProvider ?? "no payment provider";
  return `${id}  ${name}  ${provider}  ${listed.join(", ") || "no key"}`;
}
