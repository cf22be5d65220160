import type { Loaded } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { Shipment } from "./shipment.entity.ts";

/** A shipment with its customer. */
export type FoundShipment = Loaded<Shipment, "customer">;

/**
 * A shipment of the workspace, with its customer.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, alike for an unknown shipment and one of another workspace
 */
export async function findShipment(
  em: EntityManager,
  workspaceId: number,
  reference: string,
): Promise<FoundShipment> {
  const found = await em.findOne(
    Shipment,
    { workspace: workspaceId, reference },
    { populate: ["customer"] },
  );
  if (found === null) throw refuse("SHIPMENT_NOT_FOUND", "There is no such shipment.");
  return found;
}

/**
 * As `findShipment`, and nobody else changes the shipment until the transaction ends.
 *
 * Locked first and read then: a change that was waited for may have linked another customer, and
 * the one that was joined before the wait would fit the shipment no more. Nor is the customer's row
 * locked, which many bookings may share.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND
 */
export async function lockShipment(
  tx: EntityManager,
  workspaceId: number,
  reference: string,
): Promise<FoundShipment> {
  await tx.execute("select from shipment where workspace_id = ? and reference = ? for update", [
    workspaceId,
    reference,
  ]);
  return findShipment(tx, workspaceId, reference);
}
