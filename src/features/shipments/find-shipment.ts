import type { Loaded } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { Shipment } from "./shipment.entity.ts";

/** A shipment with its customer. */
export type FoundShipment = Loaded<Shipment, "customer">;

/**
 * A shipment of the workspace, with its customer.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, the same for an unknown shipment and one of another workspace
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
 * As `findShipment`, with the shipment's row locked until the transaction ends.
 *
 * The lock is a statement before the read: the change it waits for may link another customer, and a
 * join that began before the wait would give the old one. The customer's row is not locked, since
 * many shipments share it.
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
