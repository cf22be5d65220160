import type { EntityManager } from "../../db/orm.ts";
import {
  PaymentConnection,
  type PaymentProviderName,
} from "../workspaces/payment-connection.entity.ts";
import { manualProvider } from "./manual-provider.ts";
import type { PaymentProvider } from "./payment-provider.ts";

/** Every provider that a workspace can connect. */
const PROVIDERS: Readonly<Record<PaymentProviderName, PaymentProvider>> = {
  manual: manualProvider,
};

/**
 * The provider a workspace has connected. A workspace that disconnected since it booked still gets
 * its payments recorded, as manual ones: a payment is never turned away.
 */
export async function findProvider(em: EntityManager, workspace: number): Promise<PaymentProvider> {
  const connection = await em.findOne(PaymentConnection, { workspace });
  return PROVIDERS[connection?.provider ?? "manual"];
}
