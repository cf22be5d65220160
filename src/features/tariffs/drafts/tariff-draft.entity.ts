import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A tariff in preparation. Its zones are stored in `TariffDraftPiece`. */
export const TariffDraft = defineEntity({
  name: "TariffDraft",
  tableName: "tariff_draft",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    author: p.text(),
    /** The document without its zones. `json` keeps the key order. */
    fees: p.json().$type<object>().columnType("json"),
    zonesBytes: p.bigint("number"),
    /** The version that it was copied from. Null if it started empty. */
    fromVersion: p.integer().nullable(),
    /** Number of changes, part of the etag. */
    revision: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

export type TariffDraft = InferEntity<typeof TariffDraft>;

/** A chunk of a draft's zones, UTF-8 text as uploaded, up to `PIECE_BYTES` long. */
export const TariffDraftPiece = defineEntity({
  name: "TariffDraftPiece",
  tableName: "tariff_draft_piece",
  primaryKeys: ["draft", "begin"],
  properties: {
    draft: () => p.manyToOne(TariffDraft).mapToPk().primary().deleteRule("cascade"),
    /** Offset in bytes. */
    begin: p.bigint("number").primary(),
    data: p.blob(),
  },
});

export type TariffDraftPiece = InferEntity<typeof TariffDraftPiece>;
