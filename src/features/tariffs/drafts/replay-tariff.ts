import { create } from "@bufbuild/protobuf";
import {
  ReplayTariffResponseSchema,
  type ReplayTariffRequestValid,
  type ReplayTariffResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { routeOf } from "../../../domain/pricing/route-of.ts";
import { readRecordId } from "../../../db/record-id.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { TOO_LARGE } from "./check-stored-draft.ts";
import { draftEtag } from "./draft-etag.ts";
import { quoteMessage } from "../versions/quote-message.ts";
import { replayMessage } from "./replay-message.ts";
import { TaskTooLargeError, type TariffTasks } from "../tasks/run-tariff-task.ts";
import {
  draftNotFoundError,
  faultyTariffError,
  noTariffInForceError,
} from "../versions/tariff-refusals.ts";

/** How many shipments are replayed unless the request says. */
const DEFAULT_SHIPMENTS = 1_000;

/**
 * Prices the latest shipments of all workspaces, and the given routes, by the tariff in force and by
 * a draft.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND, TARIFF_FAULTY with every fault of the draft under its path,
 *   TARIFF_VERSION_NOT_FOUND while no tariff is in force, UNAVAILABLE when too much work on tariffs
 *   waits
 */
export async function replayTariff(
  request: ReplayTariffRequestValid,
  _call: OperatorCall,
  { tasks }: { readonly tasks: TariffTasks },
): Promise<ReplayTariffResponse> {
  const draft = readRecordId(request.draft);
  if (draft === undefined) throw draftNotFoundError();
  const { shipments = DEFAULT_SHIPMENTS } = request;
  const routes = request.routes.map(routeOf);
  const replayed = await tasks
    .run("replay", { draft, shipments, routes })
    .catch((error: unknown) => {
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
        inForce: replayed.version,
        shipments: replayMessage(replayed.shipments),
        routes: replayed.routes.map(({ inForce, ofDraft }) => ({
          inForce: quoteMessage(inForce),
          draft: quoteMessage(ofDraft),
        })),
      });
  }
}
