import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A tariff draft. Its zones are stored in `TariffDraftPiece`. */
export const TariffDraft = defineEntity({
  name: "TariffDraft",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    author: p.text(),
    /** The document without its zones. Stored as `json`, which preserves the key order. */
    fees: p.json().$type<object>().columnType("json"),
    zonesBytes: p.bigint("number"),
    /** The version from which the draft was copied. null if it started empty. */
    fromVersion: p.integer().nullable(),
    /** Number of changes, part of the etag. */
    revision: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

export type TariffDraft = InferEntity<typeof TariffDraft>;

/** A chunk of a draft's zones: UTF-8 text as uploaded, up to `PIECE_BYTES` long. */
export const TariffDraftChunk = defineEntity({
  name: "TariffDraftChunk",
  tableName: "tariff_draft_piece",
  primaryKeys: ["draft", "begin"],
  properties: {
    draft: () => p.manyToOne(TariffDraft).mapToPk().primary().deleteRule("cascade"),
    /** Offset of the chunk, in bytes. */
    begin: p.bigint("number").primary(),
    data: p.blob(),
  },
});

export type TariffDraftChunk = InferEntity<typeof TariffDraftChunk>;
