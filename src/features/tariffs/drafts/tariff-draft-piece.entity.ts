import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { TariffDraft } from "./tariff-draft.entity.ts";

/** A piece of up to `PIECE_BYTES` of the zones of a draft, as it was uploaded: part of a text in UTF-8. */
export const TariffDraftPiece = defineEntity({
  name: "TariffDraftPiece",
  tableName: "tariff_draft_piece",
  primaryKeys: ["draft", "begin"],
  properties: {
    draft: () => p.manyToOne(TariffDraft).mapToPk().primary().deleteRule("cascade"),
    /** How many bytes come before it. */
    begin: p.bigint("number").primary(),
    data: p.blob(),
  },
});

export type TariffDraftPiece = InferEntity<typeof TariffDraftPiece>;
