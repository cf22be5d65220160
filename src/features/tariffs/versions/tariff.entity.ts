import { defineEntity, p, type InferEntity, type Opt } from "@mikro-orm/core";

/**
 * A published tariff document. The version in force is the highest version that has taken effect and was not cancelled.
 * Only `calledOffAt` can change.
 */
export const TariffVersion = defineEntity({
  name: "TariffVersion",
  properties: {
    version: p.integer().primary().autoincrement(false),
    /** The published document. Stored as `json`, because `jsonb` does not preserve the key order. */
    document: p.json().$type<object>().columnType("json"),
    /** SHA-256 of the document's canonical text in base64url, by which documents are compared. */
    digest: p.text(),
    note: p.text().nullable(),
    publishedAt: p.datetime(3),
    /** Time at which the version takes effect, by the database's clock. */
    effectiveAt: p.datetime(3).defaultRaw("now()"),
    calledOffAt: p.datetime(3).nullable(),
    /** Publisher. null for versions from before publishers were stored. */
    author: p.text().nullable(),
    /** The version in force at the time of publishing. null for the first version. */
    replaces: p.integer().nullable(),
    /** The earlier version that a rollback repeats, otherwise null. */
    repeats: p.integer().nullable(),
    /** Whether quotes from before the effective time keep their price. */
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
