import type { Command } from "commander";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { findConnection } from "../features/payments/payment-connections.ts";
import type { PaymentProviderName } from "../features/workspaces/payment-connection.entity.ts";
import { callRpc } from "./command-line-call.ts";
import { namedWorkspace, type WorkspaceOptions } from "./key-command.ts";
import { idOption, providerOption, testOption } from "./options.ts";
import { commandGroup, subcommand } from "./subcommand.ts";

const { method } = WorkspaceAdminService;

/** `payment-provider connect|show|disconnect --workspace ID --provider manual`, and `show --test` */
export function paymentProviderCommand(): Command {
  const connect = subcommand<{ workspace: bigint; provider: PaymentProviderName }>(
    "connect",
    "connect a payment provider, so that the workspace can book",
    [idOption("workspace"), providerOption().makeOptionMandatory()],
    async (em, { workspace, provider: paymentProvider }) => {
      const fields = { workspace, paymentProvider };
      await callRpc(em, method.connectPaymentProvider, fields);
      return {
        json: { workspace: Number(workspace), payment_provider: paymentProvider },
        lines: [`Workspace ${workspace} is paid through ${paymentProvider}.`],
      };
    },
  );
  const show = subcommand<WorkspaceOptions>(
    "show",
    "show whether the provider takes payments, and what it still has to know",
    [idOption("workspace"), testOption()],
    async (em, named) => {
      const workspace = await namedWorkspace(em, named);
      await callRpc(em, method.getWorkspace, { workspace });
      const connection = await findConnection(em.fork(), Number(workspace));
      const { provider = null, state = "none", account = null, missing = [] } = connection ?? {};
      const live = connection?.live ?? null;
      const words = [state, ...(account ? [`account ${account}`] : []), ...modeWords(live)];
      return {
        json: {
          workspace: Number(workspace),
          payment_provider: provider,
          state,
          account,
          live,
          missing,
        },
        lines: [
          provider === null
            ? `Workspace ${workspace} has no payment provider.`
            : `Workspace ${workspace} is paid through ${provider}: ${words.join(", ")}.`,
          ...(missing.length === 0 ? [] : [`It still has to know: ${missing.join(", ")}`]),
        ],
      };
    },
  );
  const disconnect = subcommand<{ workspace: bigint }>(
    "disconnect",
    "disconnect it again, so that the workspace books nothing more",
    [idOption("workspace")],
    async (em, { workspace }) => {
      await callRpc(em, method.disconnectPaymentProvider, { workspace });
      return {
        json: { workspace: Number(workspace), payment_provider: null },
        lines: [`Workspace ${workspace} has no payment provider.`],
      };
    },
  );
  const description = "through whom workspaces are paid";
  return commandGroup("payment-provider", description, connect, show, disconnect);
}

/** In which mode of the provider an account is connected; null where that makes no difference. */
function modeWords(live: boolean | null): string[] {
  return live === null ? [] : [live ? "live mode" : "test mode"];
}
