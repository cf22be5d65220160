import type { EntityManager } from "../../db/orm.ts";
import { ApiKey, isWorking } from "../api-keys/api-key.entity.ts";
import {
  PaymentConnection,
  type PaymentProviderName,
} from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** A workspace as the operator sees it. */
export interface ListedWorkspace {
  readonly id: number;
  readonly name: string;
  readonly paymentProvider: PaymentProviderName | null;
  /** The keys that work, oldest first. */
  readonly keys: readonly { readonly last4: string; readonly endsAt: Date | null }[];
}

/** Lists every workspace, oldest first. */
export async function listWorkspaces(em: EntityManager): Promise<ListedWorkspace[]> {
  const reading = em.fork();
  const workspaces = await reading.findAll(Workspace, { orderBy: { id: "asc" } });
  const connections = await reading.findAll(PaymentConnection);
  const keys = await reading.find(ApiKey, isWorking(), { orderBy: { createdAt: "asc" } });
  const providerOf = new Map(connections.map((it) => [it.workspace, it.provider]));
  const keysOf = Map.groupBy(keys, (key) => key.workspace);
  return workspaces.map(({ id, name }) => ({
    id,
    name,
    paymentProvider: providerOf.get(id) ?? null,
    keys: (keysOf.get(id) ?? []).map(({ last4, endsAt }) => ({ last4, endsAt: endsAt ?? null })),
  }));
}
