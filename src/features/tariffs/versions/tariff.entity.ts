import { defineEntity, p, type InferEntity, type Opt } from "@mikro-orm/core";

/**
 * A published tariff document. Of the versions whose time has come, and that were not called off
 * before, the highest is in force. Only `calledOffAt` is ever changed.
 */
export const TariffVersion = defineEntity({
  name: "TariffVersion",
  tableName: "tariff_version",
  properties: {
    version: p.integer().primary().autoincrement(false),
    /** The document as published; `json` keeps its order of keys, which `jsonb` would not. */
    document: p.json().$type<object>().columnType("json"),
    /** SHA-256 of the document's canonical text, in base64url; equal documents have equal digests. */
    digest: p.text(),
    note: p.text().nullable(),
    publishedAt: p.datetime(3),
    /** When it takes, or took, effect; by the database's clock. */
    effectiveAt: p.datetime(3).defaultRaw("now()"),
    calledOffAt: p.datetime(3).nullable(),
    /** Who published it; null for versions from before names were kept. */
    author: p.text().nullable(),
    /** The version that was in force when it was published; null for the first. */
    replaces: p.integer().nullable(),
    /** The earlier version that it repeats, when it was published by rolling back. */
    repeats: p.integer().nullable(),
    /** Whether quotes that were made before it takes effect keep their price. */
    honoursQuotes: p.boolean().default(true),
    /** The document without its zones, for what needs only the fees. */
    fees: p.json<object>().generated("(document::jsonb - 'zones') stored"),
    zoneCount: p
      .integer()
      .$type<Opt<number>>()
      .generated("(coalesce(json_array_length(document -> 'zones' -> 'features'), 0)) stored"),
  },
  checks: [{ name: "tariff_version_counts_from_one", expression: "version >= 1" }],
});

export type TariffVersion = InferEntity<typeof TariffVersion>;
