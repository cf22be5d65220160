import { defineEntity, p, type InferEntity, type Opt } from "@mikro-orm/core";

/**
 * A published tariff document. The version in force is the highest effective one that was not cancelled. Only
 * `calledOffAt` can change.
 */
export const TariffVersion = defineEntity({
  name: "TariffVersion",
  tableName: "tariff_version",
  properties: {
    version: p.integer().primary().autoincrement(false),
    /** The published document. `json` keeps the key order, `jsonb` does not. */
    document: p.json().$type<object>().columnType("json"),
    /** SHA-256 of the document's canonical text, in base64url. Equal documents have equal digests. */
    digest: p.text(),
    note: p.text().nullable(),
    publishedAt: p.datetime(3),
    /** Effective time by the database's clock. */
    effectiveAt: p.datetime(3).defaultRaw("now()"),
    calledOffAt: p.datetime(3).nullable(),
    /** Publisher. Null for versions published before names were stored. */
    author: p.text().nullable(),
    /** The version in force at the time of publishing. Null for the first. */
    replaces: p.integer().nullable(),
    /** The earlier version that a rollback repeats, or null. */
    repeats: p.integer().nullable(),
    /** Whether quotes from before its effective time keep their price. */
    honoursQuotes: p.boolean().default(true),
    /** The document without its zones, for queries that need only the fees. */
    fees: p.json<object>().generated("(document::jsonb - 'zones') stored"),
    zoneCount: p
      .integer()
      .$type<Opt<number>>()
      .generated("(coalesce(json_array_length(document -> 'zones' -> 'features'), 0)) stored"),
  },
  checks: [{ name: "tariff_version_counts_from_one", expression: "version >= 1" }],
});

export type TariffVersion = InferEntity<typeof TariffVersion>;
