import type { EntityManager } from "../../db/orm.ts";
import {
  PaymentConnection,
  type PaymentProviderName,
} from "../workspaces/payment-connection.entity.ts";
import { manualProvider } from "./manual-provider.ts";
import type { PaymentProvider } from "./payment-provider.ts";

/** The providers that a workspace can connect. */
const PROVIDERS: Readonly<Record<PaymentProviderName, PaymentProvider>> = {
  manual: manualProvider,
};

/**
 * The provider that a workspace has connected. Without one it is `manual`, because the payments of
 * a workspace that has disconnected since it booked must still be recorded.
 */
export async function findProvider(em: EntityManager, workspace: number): Promise<PaymentProvider> {
  const connection = await em.findOne(PaymentConnection, { workspace });
  return PROVIDERS[connection?.provider ?? "manual"];
}
