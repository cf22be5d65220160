import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { PaymentConnection } from "./payment-connection.entity.ts";

/** Of shipments with money that does not count, or that may have been paid unseen. */
export const UNCOUNTED =
  "coalesce(payment_details ->> 'uncounted', payment_details ->> 'unseen') is not null";

const FIND_OPEN = `
  select
    exists (select from provider_payment where workspace_id = $1 and due_at is not null) as "isOpen",
    exists (select from shipment where workspace_id = $1 and ${UNCOUNTED}) as "isUncounted"`;

/**
 * To be called once a connection was removed or replaced, so that no checkout can be opened between the two.
 *
 * @param removed as it was; null when there was none
 * @throws Refusal PAYMENTS_OPEN while payments or refunds are not settled at an account that is open to us, or
 * money was taken that does not count
 */
export async function assertNoneOpen(
  em: EntityManager,
  removed: Pick<PaymentConnection, "workspace" | "state" | "account"> | null,
): Promise<void> {
  if (removed === null || removed.state === "revoked") return;
  type Found = { readonly isOpen: boolean; readonly isUncounted: boolean };
  const [found] = await runStatement<Found>(em, FIND_OPEN, [removed.workspace]);
  if (found!.isOpen) throw refuse("PAYMENTS_OPEN");
  // Money that does not count is at an account.
  if (!found!.isUncounted || removed.account === null) return;
  const text =
    "Money was taken that does not count; refund it at the payment provider, or accept it, first.";
  throw refuse("PAYMENTS_OPEN", text, { subject: "payment_provider" });
}
