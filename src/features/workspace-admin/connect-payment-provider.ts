import type { EntityManager } from "../../db/orm.ts";
import {
  PaymentConnection,
  type PaymentProviderName,
} from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * Connects a payment provider to a workspace, replacing the one it has.
 *
 * @returns whether there is such a workspace
 */
export function connectPaymentProvider(
  em: EntityManager,
  workspaceId: number,
  provider: PaymentProviderName,
): Promise<boolean> {
  return em.fork().transactional(async (tx) => {
    if ((await tx.findOne(Workspace, workspaceId)) === null) return false;
    await tx.upsert(PaymentConnection, {
      workspace: workspaceId,
      provider,
      connectedAt: new Date(),
    });
    return true;
  });
}

/**
 * Disconnects the payment provider of a workspace, if it has one.
 *
 * @returns whether there is such a workspace
 */
export function disconnectPaymentProvider(
  em: EntityManager,
  workspaceId: number,
): Promise<boolean> {
  return em.fork().transactional(async (tx) => {
    if ((await tx.findOne(Workspace, workspaceId)) === null) return false;
    await tx.nativeDelete(PaymentConnection, { workspace: workspaceId });
    return true;
  });
}
