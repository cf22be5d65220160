import { create } from "@bufbuild/protobuf";
import {
  TariffReplaySchema,
  type TariffReplay,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { sumToMajor, toMajor } from "../../../domain/pricing/money.ts";
import type { Replay } from "../../../domain/pricing/replay.ts";

/** A replay as callers see it, with amounts in major units. */
export function replayMessage({ comparison, ...counts }: Replay): TariffReplay {
  if (comparison === undefined) return create(TariffReplaySchema, counts);
  const { totalInForceMinor, totalOfDraftMinor, distribution, largest, refused } = comparison;
  // The currency of both, since they are compared.
  const currency = counts.currencyInForce;
  return create(TariffReplaySchema, {
    ...counts,
    totalInForce: sumToMajor(totalInForceMinor, currency),
    totalOfDraft: sumToMajor(totalOfDraftMinor, currency),
    distribution: [...distribution],
    largest: largest.map(({ workspace, reference, inForceMinor, ofDraftMinor }) => ({
      workspace: BigInt(workspace),
      shipment: reference,
      totalInForce: toMajor(inForceMinor, currency),
      totalOfDraft: toMajor(ofDraftMinor, currency),
    })),
    refused: refused.map(({ workspace, reference, inForceMinor, message }) => ({
      workspace: BigInt(workspace),
      shipment: reference,
      totalInForce: toMajor(inForceMinor, currency),
      message,
    })),
  });
}
