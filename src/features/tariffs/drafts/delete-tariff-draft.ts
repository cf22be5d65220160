import {
  TariffService,
  type DeleteTariffDraftRequest,
  type DeleteTariffDraftResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { recordChange } from "../../audit/record-change.ts";
import { withIdempotency } from "../../idempotency/with-idempotency.ts";
import { removal, findDraft } from "./tariff-drafts.ts";
import { TariffDraft } from "./tariff-draft.entity.ts";

/**
 * Removes a draft with its zones.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND
 */
export function deleteTariffDraft(
  request: DeleteTariffDraftRequest,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<DeleteTariffDraftResponse> {
  const method = TariffService.method.deleteTariffDraft;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    const draft = await findDraft(tx, request.draft ?? 0n, "lock");
    await tx.nativeDelete(TariffDraft, { id: draft.id });
    recordChange(tx, call, removal(draft));
    return {};
  });
}
