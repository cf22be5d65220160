import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  TariffDraftSchema,
  type TariffDraft as TariffDraftMessage,
} from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import type { NewTariffFees } from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { changesBetween, type RecordedChange } from "../../audit/record-change.ts";
import { feesMessage } from "../versions/load-version.ts";
import { draftEtag } from "./find-draft.ts";
import type { TariffDraft } from "./tariff-draft.entity.ts";

/** A draft as callers see it, without its zones. */
export function draftMessage(draft: TariffDraft): TariffDraftMessage {
  return create(TariffDraftSchema, {
    id: BigInt(draft.id),
    name: draft.name,
    author: draft.author,
    fees: feesMessage(draft.fees),
    zonesBytes: BigInt(draft.zonesBytes),
    fromVersion: draft.fromVersion ?? undefined,
    etag: draftEtag(draft),
    createdAt: timestampFromDate(draft.createdAt),
    updatedAt: timestampFromDate(draft.updatedAt),
  });
}

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

/** The removal of a draft for the audit log. */
export function removal({ id, name, fees }: TariffDraft): RecordedChange {
  const changes = changesBetween({ name, ...auditedFees(fees) }, {});
  return { subject: `tariff_draft/${id}`, changes };
}
