import type { Command } from "commander";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { connectPaymentProvider } from "../features/workspace-admin/connect-payment-provider.ts";
import { disconnectPaymentProvider } from "../features/workspace-admin/disconnect-payment-provider.ts";
import type { PaymentProviderName } from "../features/workspaces/payment-connection.entity.ts";
import { callRpc } from "./command-line-call.ts";
import { idOption, providerOption } from "./options.ts";
import { commandGroup, subcommand } from "./subcommand.ts";

const { method } = WorkspaceAdminService;

/** `payment-provider connect|disconnect --workspace ID --provider manual` */
export function paymentProviderCommand(): Command {
  const connect = subcommand<{ workspace: bigint; provider: PaymentProviderName }>(
    "connect",
    "connect a payment provider, so that the workspace can book",
    [idOption("workspace"), providerOption().makeOptionMandatory()],
    async (em, { workspace, provider: paymentProvider }) => {
      const fields = { workspace, paymentProvider };
      await callRpc(em, method.connectPaymentProvider, connectPaymentProvider, fields);
      return {
        json: { workspace: Number(workspace), payment_provider: paymentProvider },
        lines: [`Workspace ${workspace} is paid through ${paymentProvider}.`],
      };
    },
  );
  const disconnect = subcommand<{ workspace: bigint }>(
    "disconnect",
    "disconnect it again, so that the workspace books nothing more",
    [idOption("workspace")],
    async (em, { workspace }) => {
      await callRpc(em, method.disconnectPaymentProvider, disconnectPaymentProvider, { workspace });
      return {
        json: { workspace: Number(workspace), payment_provider: null },
        lines: [`Workspace ${workspace} has no payment provider.`],
      };
    },
  );
  const description = "through whom workspaces are paid";
  return commandGroup("payment-provider", description, connect, disconnect);
}
