import { create } from "@bufbuild/protobuf";
import {
  CheckTariffResponseSchema,
  type CheckTariffRequestValid,
  type CheckTariffResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { checkStoredDraft } from "./check-stored-draft.ts";
import { draftEtag } from "./draft-etag.ts";
import { findDraft } from "./find-draft.ts";
import { readInForce } from "../versions/read-in-force.ts";
import type { TariffDeps } from "../versions/tariff-deps.ts";
import { draftNotFoundError } from "../versions/tariff-refusals.ts";

/**
 * Finds everything that is wrong with a draft.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND, UNAVAILABLE when too much work on tariffs waits
 */
export async function checkTariff(
  request: CheckTariffRequestValid,
  deps: TariffDeps,
): Promise<CheckTariffResponse> {
  const em = deps.em.fork();
  const draft = await findDraft(em, request.draft);
  const checked = await checkStoredDraft(deps, draft);
  if (checked === undefined) throw draftNotFoundError();
  const inForce = await readInForce(em);
  const { faults, zones, tiers, revision, digest } = checked;
  return create(CheckTariffResponseSchema, {
    faults: [...faults],
    zones,
    tiers,
    sameAsInForce: digest !== undefined && digest === inForce?.digest,
    etag: draftEtag({ id: draft.id, revision }),
  });
}
