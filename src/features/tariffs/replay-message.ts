import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  TariffReplaySchema,
  type PriceChangeSchema,
  type TariffReplay,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { sumToMajor, toMajor } from "../../domain/pricing/money.ts";
import type { PriceChange, Replay } from "../../domain/pricing/replay.ts";

/** A replay as callers see it, with amounts in major units. */
export function replayMessage({ comparison, ...counts }: Replay): TariffReplay {
  if (comparison === undefined) return create(TariffReplaySchema, counts);
  const { totalInForceMinor, totalOfDraftMinor, distribution, largest, refused } = comparison;
  // The currency of both, since they are compared.
  const currency = counts.currencyInForce;
  const inMajor = (change: PriceChange) => priceChange(change, currency);
  return create(TariffReplaySchema, {
    ...counts,
    totalInForce: sumToMajor(totalInForceMinor, currency),
    totalOfDraft: sumToMajor(totalOfDraftMinor, currency),
    distribution: [...distribution],
    largest: largest.map(inMajor),
    refused: refused.map(inMajor),
  });
}

function priceChange(
  { workspace, reference, inForceMinor, ofDraftMinor, message }: PriceChange,
  currency: string,
): MessageInitShape<typeof PriceChangeSchema> {
  return {
    workspace: BigInt(workspace),
    shipment: reference,
    totalInForce: inForceMinor === undefined ? undefined : toMajor(inForceMinor, currency),
    totalOfDraft: ofDraftMinor === undefined ? undefined : toMajor(ofDraftMinor, currency),
    message,
  };
}
