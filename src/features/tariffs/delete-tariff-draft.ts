import { create } from "@bufbuild/protobuf";
import {
  DeleteTariffDraftResponseSchema,
  TariffService,
  type DeleteTariffDraftRequest,
  type DeleteTariffDraftResponse,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { auditedFees } from "./draft-fees.ts";
import { findDraft } from "./find-draft.ts";
import type { TariffDeps } from "./tariff-deps.ts";
import { TariffDraft } from "./tariff-draft.entity.ts";

/**
 * Removes a draft with its zones.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND
 */
export function deleteTariffDraft(
  request: DeleteTariffDraftRequest,
  call: OperatorCall,
  { em }: Pick<TariffDeps, "em">,
): Promise<DeleteTariffDraftResponse> {
  const method = TariffService.method.deleteTariffDraft;
  return withIdempotency(em, method, request, call, async (tx) => {
    const draft = await findDraft(tx, request.draft ?? 0n, "lock");
    await removeDraft(tx, call, draft);
    return create(DeleteTariffDraftResponseSchema);
  });
}

/** Removes a draft whose row is locked, and records it. */
export async function removeDraft(
  tx: EntityManager,
  call: OperatorCall,
  { id, name, fees }: TariffDraft,
): Promise<void> {
  await tx.nativeDelete(TariffDraft, { id });
  await recordChange(tx, call, {
    subject: `tariff_draft/${id}`,
    changes: changesBetween({ name, ...auditedFees(fees) }, {}),
  });
}
