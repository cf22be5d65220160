import { create } from "@bufbuild/protobuf";
import {
  ListTariffDraftsResponseSchema,
  type ListTariffDraftsResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { MAX_TARIFF_DRAFTS } from "../../../domain/limits.ts";
import { draftMessage } from "./tariff-drafts.ts";
import { TariffDraft } from "./tariff-draft.entity.ts";

/** Lists the drafts, the one changed last first; at most `MAX_TARIFF_DRAFTS`, so without pages. */
export async function listTariffDrafts(
  _request: unknown,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<ListTariffDraftsResponse> {
  const orderBy = { updatedAt: "desc", id: "desc" } as const;
  const found = await em.fork().find(TariffDraft, {}, { orderBy, limit: MAX_TARIFF_DRAFTS });
  return create(ListTariffDraftsResponseSchema, { data: found.map(draftMessage) });
}
