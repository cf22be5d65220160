import {
  TariffService,
  type UpdateTariffDraftRequestValid,
  type UpdateTariffDraftResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { changesBetween, recordChange } from "../../audit/record-change.ts";
import { withIdempotency } from "../../idempotency/with-idempotency.ts";
import { withSchedules } from "../versions/schedules-message.ts";
import type { DraftDeps } from "./check-stored-draft.ts";
import {
  auditedFees,
  draftMessage,
  withFees,
  assertDraftEtag,
  findDraft,
} from "./tariff-drafts.ts";

/**
 * Changes the name, the fees and the schedules of a draft that are given. When nothing differs, nothing is written
 * and the etag stays.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND, ETAG_STALE
 */
export function updateTariffDraft(
  request: UpdateTariffDraftRequestValid,
  call: OperatorCall,
  { em, now }: DraftDeps,
): Promise<UpdateTariffDraftResponse> {
  const method = TariffService.method.updateTariffDraft;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    const draft = await findDraft(tx, request.draft, "lock");
    assertDraftEtag(draft, request.etag);
    const before = { name: draft.name, ...auditedFees(draft.fees) };
    const fees = withSchedules(withFees(draft.fees, request.fees), request.schedules);
    const name = request.name ?? draft.name;
    if (name !== draft.name || JSON.stringify(fees) !== JSON.stringify(draft.fees)) {
      Object.assign(draft, { name, fees, updatedAt: now(), revision: draft.revision + 1 });
      await tx.flush();
      recordChange(tx, call, {
        subject: `tariff_draft/${draft.id}`,
        changes: changesBetween(before, { name, ...auditedFees(fees) }),
      });
    }
    return { data: draftMessage(draft) };
  });
}
