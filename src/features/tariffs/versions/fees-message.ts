import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TariffFeesSchema } from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import { isObject } from "../../../domain/faults.ts";

/** The fees of a document, as far as they are of the right type: those of a draft need not be. */
export function feesMessage(document: object): MessageInitShape<typeof TariffFeesSchema> {
  const { currency, base_fee, rate_per_km, tiers } = document as Readonly<Record<string, unknown>>;
  return {
    currency: textOf(currency),
    baseFee: textOf(base_fee),
    ratePerKm: textOf(rate_per_km),
    tiers: (Array.isArray(tiers) ? tiers : []).filter(isObject).map((tier) => ({
      minKg: numberOf(tier.min_kg),
      maxKg: numberOf(tier.max_kg),
      flatFee: textOf(tier.flat_fee),
      ratePerKg: textOf(tier.rate_per_kg),
    })),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
