import type { EntityManager } from "../../db/orm.ts";
import { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { PROVIDERS, type PaymentProvider } from "./payment-provider.ts";

/**
 * The provider a workspace has connected. One that has disconnected since it booked still gets its
 * payments recorded, as taken by itself: a payment is never turned away.
 */
export async function findProvider(em: EntityManager, workspace: number): Promise<PaymentProvider> {
  const connection = await em.findOne(PaymentConnection, { workspace });
  return PROVIDERS[connection?.provider ?? "manual"];
}
