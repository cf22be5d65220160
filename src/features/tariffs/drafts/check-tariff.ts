import { create } from "@bufbuild/protobuf";
import {
  CheckTariffResponseSchema,
  type CheckTariffRequestValid,
  type CheckTariffResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { loadVersionInForce } from "../versions/load-version.ts";
import { checkStoredDraft, type DraftDeps } from "./check-stored-draft.ts";
import { draftEtag, draftNotFoundError, findDraft } from "./tariff-drafts.ts";

/**
 * Finds everything that is wrong with a draft.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND, UNAVAILABLE when too much work on tariffs waits
 */
export async function checkTariff(
  request: CheckTariffRequestValid,
  _call: unknown,
  deps: DraftDeps,
): Promise<CheckTariffResponse> {
  const em = deps.em.fork();
  const draft = await findDraft(em, request.draft);
  const checked = await checkStoredDraft(deps, draft);
  if (checked === undefined) throw draftNotFoundError();
  const inForce = await loadVersionInForce(em);
  const { faults, zones, tiers, revision, digest } = checked;
  return create(CheckTariffResponseSchema, {
    faults: [...faults],
    zones,
    tiers,
    sameAsInForce: digest !== undefined && digest === inForce?.digest,
    etag: draftEtag({ id: draft.id, revision }),
  });
}
