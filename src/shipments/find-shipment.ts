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
  lock?: "lock",
): Promise<FoundShipment> {
  const found = await em.findOne(
    Shipment,
    { workspace: workspaceId, reference },
    { populate: ["customer"], ...(lock === undefined ? {} : LOCK_SHIPMENT) },
  );
  if (found === null) throw refuse("SHIPMENT_NOT_FOUND", "There is no such shipment.");
  return found;
}

/** Locks the shipment's row and not its customer's, which many bookings may share. */
const LOCK_SHIPMENT = { lockMode: LockMode.PESSIMISTIC_WRITE, lockTableAliases: ["s0"] };
