import { Command } from "commander";
import {
  connectPaymentProvider,
  disconnectPaymentProvider,
} from "../features/workspace-admin/connect-payment-provider.ts";
import type { PaymentProviderName } from "../features/workspaces/payment-connection.entity.ts";
import { jsonOption, providerOption, workspaceOption } from "./options.ts";
import { CommandRefused, runCommand } from "./run-command.ts";

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
        if (!(await connectPaymentProvider(em, workspace, provider))) {
          throw new CommandRefused(`There is no workspace ${workspace}.`);
        }
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
        if (!(await disconnectPaymentProvider(em, workspace))) {
          throw new CommandRefused(`There is no workspace ${workspace}.`);
        }
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
