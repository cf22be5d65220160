import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  TariffDraftSchema,
  type TariffDraft as TariffDraftMessage,
} from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import { draftEtag } from "./draft-etag.ts";
import { feesMessage } from "../versions/fees-message.ts";
import type { TariffDraft } from "./tariff-draft.entity.ts";

/** A draft as callers see it, without its zones. */
export function draftMessage(draft: TariffDraft): TariffDraftMessage {
  return create(TariffDraftSchema, {
    id: BigInt(draft.id),
    name: draft.name,
    author: draft.author,
    fees: feesMessage(draft.fees),
    zonesBytes: BigInt(draft.zonesBytes),
    fromVersion: draft.fromVersion ?? undefined,
    etag: draftEtag(draft),
    createdAt: timestampFromDate(draft.createdAt),
    updatedAt: timestampFromDate(draft.updatedAt),
  });
}
