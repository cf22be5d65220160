import type { EntityManager } from "../../db/orm.ts";
import { leftOf, refundingOf } from "./apply-found.ts";
import { type FoundPayment, ProviderRefused } from "./payment-provider.ts";
import { countRefundAttempt, type LeasedPayment, notePayment } from "./provider-payments.ts";
import type { LookAtPayment } from "./settle-payments.ts";

/**
 * Asks a provider for a refund of what has not gone back yet; what it refuses is kept with the payment.
 *
 * @param attempt the attempt that counts now
 * @throws ProviderUnanswered; ProviderRefused when the account is not open to us any more; LeaseLost
 */
export async function refundAtProvider(
  em: EntityManager,
  { leased, worker, online, access }: LookAtPayment,
  found: FoundPayment,
  attempt: number,
): Promise<LeasedPayment> {
  const { workspace, shipment } = leased;
  const { currency } = found;
  const amountMinor = leftOf(found) - refundingOf(found);
  const key = `${workspace}-${shipment}-${attempt}-refund`;
  try {
    const wanted = { payment: found.payment!, amountMinor, currency, attempt };
    await online.refund(access, wanted, key);
    return leased;
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error.kind === "revoked") throw error;
    if (error.kind === "failed") {
      await countRefundAttempt(em, leased, worker);
      return leased;
    }
    const refundRefusal = `The refund was refused: ${error.message}`;
    return notePayment(em, { ...leased, refundAttempt: attempt }, worker, { refundRefusal });
  }
}
