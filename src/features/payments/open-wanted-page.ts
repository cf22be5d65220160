import type { EntityManager } from "../../db/orm.ts";
import { type FoundPayment, ProviderRefused } from "./payment-provider.ts";
import { type LeasedPayment, notePayment } from "./provider-payments.ts";
import type { LookAtPayment } from "./settle-payments.ts";

/** What came of opening a page: it as it was leased then, or why the provider refused. */
export interface OpenedPage {
  readonly leased: LeasedPayment;
  readonly refused?: ProviderRefused;
}

/**
 * Opens a page that is wanted. The answer to an earlier call may have been lost: it is repeated as it was.
 *
 * @throws ProviderUnanswered; ProviderRefused when the account is not open to us any more; LeaseLost
 */
export async function openWantedPage(
  em: EntityManager,
  { leased, worker, online, access }: LookAtPayment,
): Promise<OpenedPage> {
  if (leased.state !== "wanted") return { leased };
  const { workspace, shipment, version, amountMinor, currency } = leased;
  const { successUrl, cancelUrl } = leased;
  const expiresAt = new Date(leased.expiresAtMs);
  const wanted = { workspace, shipment, amountMinor, currency, successUrl, cancelUrl, expiresAt };
  try {
    const key = `${workspace}-${shipment}-${version}-checkout`;
    const { checkout } = await online.openCheckout(access, wanted, key);
    return { leased: await notePayment(em, leased, worker, { checkout, state: "open" }) };
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error.kind === "revoked") throw error;
    return { leased, refused: error };
  }
}

/** A page that the provider refused to open, as if it had been read there. */
export function refusedPage({ message }: ProviderRefused, currency: string): FoundPayment {
  return {
    openedAt: null,
    page: null,
    status: "failed",
    error: message,
    reference: null,
    payment: null,
    amountMinor: 0,
    currency,
    refunds: [],
    dispute: null,
    lostMinor: 0,
  };
}
