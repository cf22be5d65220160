import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A published tariff document. Rows are never changed; the highest version is in force. */
export const TariffVersion = defineEntity({
  name: "TariffVersion",
  tableName: "tariff_version",
  properties: {
    version: p.integer().primary().autoincrement(false),
    /** The document as published; `json` keeps its order of keys, which `jsonb` would not. */
    document: p.json().$type<object>().columnType("json"),
    /**
     * SHA-256 of the document's canonical text, in base64url; equal documents have equal digests.
     */
    digest: p.text(),
    note: p.text().nullable(),
    publishedAt: p.datetime(3),
  },
  checks: [{ name: "tariff_version_counts_from_one", expression: "version >= 1" }],
});

export type TariffVersion = InferEntity<typeof TariffVersion>;
