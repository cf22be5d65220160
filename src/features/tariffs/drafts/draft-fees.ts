import type { NewTariffFees } from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";

/**
 * A document with other fees and everything else as it was. What is empty is left out, so that it is
 * found missing.
 */
export function withFees(document: object, fees: NewTariffFees | undefined): object {
  if (fees === undefined) return document;
  return {
    ...document,
    currency: fees.currency || undefined,
    base_fee: fees.baseFee || undefined,
    rate_per_km: fees.ratePerKm || undefined,
    tiers: fees.tiers.map((tier) => ({
      min_kg: tier.minKg,
      max_kg: tier.maxKg,
      flat_fee: tier.flatFee || undefined,
      rate_per_kg: tier.ratePerKg || undefined,
    })),
  };
}

/** How long tiers may be, in characters, to be shown whole in the audit log. */
const MAX_TIERS_LENGTH = 2_000;

/** The fees of a document for the audit log. */
export function auditedFees(document: object): Record<string, unknown> {
  const { currency, base_fee, rate_per_km, tiers } = document as Readonly<Record<string, unknown>>;
  const isLong = Array.isArray(tiers) && JSON.stringify(tiers).length > MAX_TIERS_LENGTH;
  return { currency, base_fee, rate_per_km, tiers: isLong ? `${tiers.length} tiers` : tiers };
}
