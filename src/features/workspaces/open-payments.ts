import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { PaymentConnection } from "./payment-connection.entity.ts";

/** SQL condition for shipments with an unassigned or unverified payment. */
export const UNCOUNTED = "coalesce(payment_details ->> 'uncounted', payment_details ->> 'unseen') is not null";

const FIND_OPEN = `
  select
    exists (select from provider_payment where workspace_id = $1 and due_at is not null) as "isOpen",
    exists (select from shipment where workspace_id = $1 and ${UNCOUNTED}) as "isUncounted"`;

/**
 * Checks that a removed connection has no open payments. Must be called after the removal, so that
 * no checkout can be opened in between.
 *
 * @param removed the previous connection, null if absent
 * @throws Refusal PAYMENTS_OPEN if an accessible account has open payments or refunds, or if there
 *   are unassigned payments
 */
export async function assertNoOpenPayments(
  em: EntityManager,
  removed: Pick<PaymentConnection, "workspace" | "state" | "account"> | null,
): Promise<void> {
  if (removed === null || removed.state === "revoked") return;
  type Found = { readonly isOpen: boolean; readonly isUncounted: boolean };
  const [found] = await runStatement<Found>(em, FIND_OPEN, [removed.workspace]);
  if (found!.isOpen) throw refuse("PAYMENTS_OPEN");
  // Only connections with an account can have unassigned payments.
  if (!found!.isUncounted || removed.account === null) return;
  const text = "There is an unassigned payment. Refund it at the payment provider or accept it first.";
  throw refuse("PAYMENTS_OPEN", text, { subject: "payment_provider" });
}
