import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Payment } from "./payment.entity.ts";

/** The payment of a shipment that has none. */
export type NewPayment = Pick<Payment, "provider" | "amountMinor" | "currency" | "paidAt">;

const INSERT = `
  insert into payment (workspace_id, shipment_reference, provider, amount_minor, currency, paid_at)
  values ($1, $2, $3, $4, $5, $6)`;

/**
 * Inserts the payment of a shipment that the transaction has locked. By a statement, since it takes
 * MikroORM's unit of work longer than all the rest of recording it.
 */
export async function insertPayment(
  tx: EntityManager,
  workspace: number,
  reference: string,
  { provider, amountMinor, currency, paidAt }: NewPayment,
): Promise<void> {
  await runStatement(tx, INSERT, [workspace, reference, provider, amountMinor, currency, paidAt]);
}
