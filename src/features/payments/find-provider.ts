import { batchReads } from "../../db/batch-reads.ts";
import type { ObserveGroups } from "../../db/group-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { manualProvider } from "./manual-provider.ts";
import type { PaymentProvider } from "./payment-provider.ts";

/** Every provider that a workspace can connect. */
const PROVIDERS: Readonly<Record<PaymentProviderName, PaymentProvider>> = {
  manual: manualProvider,
};

/**
 * Finds the provider that a workspace has connected. A workspace that disconnected since it booked
 * still gets its payments recorded, as manual ones: a payment is never turned away.
 */
export type FindProvider = (workspace: number) => Promise<PaymentProvider>;

const FIND = `
  select asked.place, connection.provider
  from json_to_recordset($1) as asked (place int, workspace bigint)
  cross join lateral (
    select provider from payment_connection where workspace_id = asked.workspace limit 1
  ) as connection`;

interface Connection {
  readonly place: number;
  readonly provider: PaymentProviderName;
}

/** Builds the look-up; workspaces that are asked for at the same time share a statement. */
export function createFindProvider(em: EntityManager, observeGroups: ObserveGroups): FindProvider {
  return batchReads(async (workspaces) => {
    const asked = workspaces.map((workspace, place) => ({ place, workspace }));
    const rows = await runStatement<Connection>(em, FIND, [JSON.stringify(asked)]);
    const names = new Map(rows.map(({ place, provider }) => [place, provider]));
    return workspaces.map((_, place) => PROVIDERS[names.get(place) ?? "manual"]);
  }, observeGroups("provider_reads"));
}
