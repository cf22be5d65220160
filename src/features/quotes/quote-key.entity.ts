import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A key that seals quote ids of all workspaces. See `createQuoteKeys`. */
export const QuoteKey = defineEntity({
  name: "QuoteKey",
  tableName: "quote_key",
  properties: {
    /** Sequential number, part of each quote id. */
    id: p.integer().primary().autoincrement(false),
    /** The key in base64url, sealed if a key for that is configured (`SecretSeal`). */
    secret: p.text(),
    /** By the database's clock. */
    createdAt: p.datetime(3),
  },
});

export type QuoteKey = InferEntity<typeof QuoteKey>;
