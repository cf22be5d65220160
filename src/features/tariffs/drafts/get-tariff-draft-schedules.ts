import { create } from "@bufbuild/protobuf";
import {
  GetTariffDraftSchedulesResponseSchema,
  type GetTariffDraftSchedulesRequestValid,
  type GetTariffDraftSchedulesResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { schedulesMessage } from "../versions/schedules-message.ts";
import { draftEtag, findDraft } from "./tariff-drafts.ts";

/**
 * Gives the schedules of a draft.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND
 */
export async function getTariffDraftSchedules(
  request: GetTariffDraftSchedulesRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<GetTariffDraftSchedulesResponse> {
  const draft = await findDraft(em.fork(), request.draft);
  const data = schedulesMessage(draft.fees);
  return create(GetTariffDraftSchedulesResponseSchema, { data, etag: draftEtag(draft) });
}
