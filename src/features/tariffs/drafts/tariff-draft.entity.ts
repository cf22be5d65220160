import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A tariff that is being prepared; its zones are in the rows of `TariffDraftPiece`. */
export const TariffDraft = defineEntity({
  name: "TariffDraft",
  tableName: "tariff_draft",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    author: p.text(),
    /** The document without its zones; `json` keeps its order of keys. */
    fees: p.json().$type<object>().columnType("json"),
    zonesBytes: p.bigint("number"),
    /** The version that it was copied from; null when it began empty. */
    fromVersion: p.integer().nullable(),
    /** Counts the changes; what the etag is made of. */
    revision: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

export type TariffDraft = InferEntity<typeof TariffDraft>;

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
