import type { CustomerFigures } from "../../../gen/shipments/v1/customer_pb.js";
import type { EntityManager } from "../../db/orm.ts";

export type { CustomerFigures };

/**
 * Sums up what is booked for customers of a workspace, as reports do.
 *
 * @param em also that of a transaction
 * @returns the figures of each of these customers, by id
 */
export type LoadCustomerFigures = (
  em: EntityManager,
  workspace: number,
  customers: readonly number[],
) => Promise<ReadonlyMap<number, CustomerFigures>>;

/** What functions about customers need. */
export interface CustomerDeps {
  readonly em: EntityManager;
  readonly loadCustomerFigures: LoadCustomerFigures;
}
