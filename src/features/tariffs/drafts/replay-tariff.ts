import { create } from "@bufbuild/protobuf";
import {
  ReplayTariffResponseSchema,
  TariffReplaySchema,
  type ReplayTariffRequestValid,
  type ReplayTariffResponse,
  type TariffReplay,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { sumToMajor, toMajor } from "../../../domain/pricing/money.ts";
import type { Replay } from "../../../domain/pricing/replay.ts";
import { routeOf } from "../../../domain/pricing/pricing.ts";
import { readRecordId } from "../../../db/columns.ts";
import { QuoteFailureTypeSchema } from "../../../../gen/shipments/v1/quote_pb.js";
import { compileEnumNumber } from "../../../json/records.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { loadVersionInForce, noTariffInForceError } from "../versions/load-version.ts";
import { quoteMessage } from "../versions/quote-message.ts";
import { windowsOf } from "../versions/window-message.ts";
import { TaskTooLargeError } from "../tasks/run-tariff-task.ts";
import { TOO_LARGE, faultyTariffError, type DraftDeps } from "./check-stored-draft.ts";
import { draftEtag, draftNotFoundError } from "./tariff-drafts.ts";

const failureTypeOf = compileEnumNumber(QuoteFailureTypeSchema);

const DEFAULT_SHIPMENTS = 1_000;

/**
 * Prices the latest shipments of all workspaces, and the given routes, with the tariff in force and with a draft.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND, TARIFF_FAULTY with every error in the draft and its path,
 *   TARIFF_VERSION_NOT_FOUND if no tariff is in force, UNAVAILABLE if too many tariff tasks are waiting
 */
export async function replayTariff(
  request: ReplayTariffRequestValid,
  _call: OperatorCall,
  { em, tasks, now }: DraftDeps,
): Promise<ReplayTariffResponse> {
  const draft = readRecordId(request.draft);
  if (draft === undefined) throw draftNotFoundError();
  const { shipments = DEFAULT_SHIPMENTS } = request;
  const inForce = (await loadVersionInForce(em.fork()))?.version;
  const atMs = now().getTime();
  const routes = request.routes.map((route) => ({
    route: routeOf(route),
    windows: windowsOf(route),
    atMs,
  }));
  const replayed = await tasks.run("replay", { draft, inForce, shipments, routes }).catch((error: unknown) => {
    throw error instanceof TaskTooLargeError ? faultyTariffError([TOO_LARGE]) : error;
  });
  switch (replayed.outcome) {
    case "no_such_draft":
      throw draftNotFoundError();
    case "faulty":
      throw faultyTariffError(replayed.faults);
    case "no_tariff_in_force":
      throw noTariffInForceError();
    case "replayed":
      return create(ReplayTariffResponseSchema, {
        etag: draftEtag({ id: draft, revision: replayed.revision }),
        inForce,
        shipments: replayMessage(replayed.shipments),
        routes: replayed.routes.map((quotes) => ({
          inForce: quoteMessage(quotes.inForce),
          draft: quoteMessage(quotes.ofDraft),
        })),
      });
  }
}

/** Returns a replay as an API message, with amounts in major units. */
function replayMessage({ comparison, ...counts }: Replay): TariffReplay {
  if (comparison === undefined) return create(TariffReplaySchema, counts);
  const { totalInForceMinor, totalOfDraftMinor, distribution, largest, refused } = comparison;
  // A comparison exists only if both tariffs have the same currency.
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
    refused: refused.map(({ workspace, reference, inForceMinor, message, failure }) => ({
      workspace: BigInt(workspace),
      shipment: reference,
      totalInForce: toMajor(inForceMinor, currency),
      message,
      failureType: failureTypeOf(failure),
    })),
  });
}
