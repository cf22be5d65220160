import { Command } from "commander";
import {
  ConnectPaymentProviderRequestSchema,
  DisconnectPaymentProviderRequestSchema,
  WorkspaceAdminService,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { connectPaymentProvider } from "../features/workspace-admin/connect-payment-provider.ts";
import { disconnectPaymentProvider } from "../features/workspace-admin/disconnect-payment-provider.ts";
import type { PaymentProviderName } from "../features/workspaces/payment-connection.entity.ts";
import { commandLineCall } from "./command-line-call.ts";
import { jsonOption, providerOption, workspaceOption } from "./options.ts";
import { readRequest } from "./read-request.ts";
import { runCommand } from "./run-command.ts";

const { method } = WorkspaceAdminService;

interface Options {
  readonly workspace: number;
  readonly provider: PaymentProviderName;
  readonly json: boolean;
}

/** `payment-provider connect|disconnect --workspace ID --provider manual` */
export function paymentProviderCommand(): Command {
  const connect = new Command("connect")
    .description("connect a payment provider, so that the workspace can book")
    .addOption(workspaceOption())
    .addOption(providerOption().makeOptionMandatory())
    .addOption(jsonOption())
    .action(({ workspace, provider, json }: Options) =>
      runCommand(json, async (em) => {
        const request = readRequest(ConnectPaymentProviderRequestSchema, {
          workspace: BigInt(workspace),
          paymentProvider: provider,
        });
        await connectPaymentProvider(request, commandLineCall(method.connectPaymentProvider), em);
        return {
          json: { workspace, payment_provider: provider },
          lines: [`Workspace ${workspace} is paid through ${provider}.`],
        };
      }),
    );
  const disconnect = new Command("disconnect")
    .description("disconnect it again, so that the workspace books nothing more")
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(({ workspace, json }: Omit<Options, "provider">) =>
      runCommand(json, async (em) => {
        const request = readRequest(DisconnectPaymentProviderRequestSchema, {
          workspace: BigInt(workspace),
        });
        const call = commandLineCall(method.disconnectPaymentProvider);
        await disconnectPaymentProvider(request, call, em);
        return {
          json: { workspace, payment_provider: null },
          lines: [`Workspace ${workspace} has no payment provider.`],
        };
      }),
    );
  return new Command("payment-provider")
    .description("through whom workspaces are paid")
    .addCommand(connect)
    .addCommand(disconnect);
}
