import type { EntityManager } from "../../db/orm.ts";
import { addKey } from "../api-keys/add-key.ts";
import {
  PaymentConnection,
  type PaymentProviderName,
} from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** A new workspace and its first API key, which cannot be read again. */
export interface CreatedWorkspace {
  readonly workspace: { readonly id: number; readonly name: string };
  readonly apiKey: string;
}

/** Creates a workspace with its first key and, if one is given, a connected payment provider. */
export function createWorkspace(
  em: EntityManager,
  { name, paymentProvider }: { name: string; paymentProvider?: PaymentProviderName | undefined },
): Promise<CreatedWorkspace> {
  return em.fork().transactional(async (tx) => {
    const now = new Date();
    const workspace = tx.create(Workspace, { name, createdAt: now });
    await tx.flush();
    if (paymentProvider !== undefined) {
      tx.create(PaymentConnection, {
        workspace: workspace.id,
        provider: paymentProvider,
        connectedAt: now,
      });
    }
    const apiKey = await addKey(tx, workspace.id);
    return { workspace: { id: workspace.id, name }, apiKey };
  });
}
