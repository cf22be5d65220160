import { LockMode, type Loaded } from "@mikro-orm/postgresql";
import type { EntityManager } from "../db/orm.ts";
import { refuse } from "../domain/refusal.ts";
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
  return found ?? refuseMissing();
}

/**
 * As `findShipment`, and nobody else changes the shipment until the transaction ends.
 *
 * The customer is read once the shipment is locked, not joined to it: a change that was waited for
 * may have linked another one, and the row that was joined before the wait would fit no more. Nor
 * is the customer's row locked, which many bookings may share.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND
 */
export async function lockShipment(
  tx: EntityManager,
  workspaceId: number,
  reference: string,
): Promise<FoundShipment> {
  const found = await tx.findOne(
    Shipment,
    { workspace: workspaceId, reference },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (found === null) return refuseMissing();
  await tx.populate(found, ["customer"]);
  return found as FoundShipment;
}

function refuseMissing(): never {
  throw refuse("SHIPMENT_NOT_FOUND", "There is no such shipment.");
}
