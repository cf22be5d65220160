import { create } from "@bufbuild/protobuf";
import {
  GetTariffDraftResponseSchema,
  type GetTariffDraftRequestValid,
  type GetTariffDraftResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { draftMessage, findDraft } from "./tariff-drafts.ts";

/**
 * Gives a draft without its zones.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND
 */
export async function getTariffDraft(
  request: GetTariffDraftRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<GetTariffDraftResponse> {
  const draft = await findDraft(em.fork(), request.draft);
  return create(GetTariffDraftResponseSchema, { data: draftMessage(draft) });
}
