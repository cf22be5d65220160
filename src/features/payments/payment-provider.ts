import { batchReads } from "../../db/batch-reads.ts";
import type { ObserveGroups } from "../../db/group-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { ShipmentDeps } from "../shipments/change-shipment.ts";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";

/** A payment that a caller claims was made. */
interface PaymentClaim {
  readonly workspaceId: number;
  /** The shipment's reference. */
  readonly shipment: string;
  /** In major units of the currency. */
  readonly amount: number;
  readonly currency: string;
}

/**
 * Confirms payments and refunds. Called outside any transaction, since it may use the network.
 */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /**
   * Resolves when the payment was made.
   *
   * @throws Refusal PAYMENT_MISMATCH when it was not
   */
  confirmPayment(claim: PaymentClaim): Promise<void>;
  /**
   * Resolves when the shipment's payment was refunded.
   *
   * @throws Refusal PAYMENT_MISMATCH when it has not
   */
  confirmRefund(claim: Pick<PaymentClaim, "workspaceId" | "shipment">): Promise<void>;
}

/** Payments that the workspace takes itself, in cash or by transfer; there is nothing to check. */
const manualProvider: PaymentProvider = {
  name: "manual",
  confirmPayment: async () => undefined,
  confirmRefund: async () => undefined,
};

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

/** Builds the look-up; workspaces that are asked for at the same time share a statement. */
export function createFindProvider(em: EntityManager, observeGroups: ObserveGroups): FindProvider {
  return batchReads(async (workspaces) => {
    const asked = workspaces.map((workspace, place) => ({ place, workspace }));
    const rows = await runStatement<{ place: number; provider: PaymentProviderName }>(em, FIND, [
      JSON.stringify(asked),
    ]);
    const names = new Map(rows.map(({ place, provider }) => [place, provider]));
    return workspaces.map((_, place) => PROVIDERS[names.get(place) ?? "manual"]);
  }, observeGroups("provider_reads"));
}

/** What the functions of payments work with. */
export interface PaymentDeps extends Pick<ShipmentDeps, "changeShipment" | "now"> {
  readonly findProvider: FindProvider;
}
