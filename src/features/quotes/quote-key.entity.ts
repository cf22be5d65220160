import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A key that seals the ids of quotes, of all workspaces; see `createQuoteKeys`. */
export const QuoteKey = defineEntity({
  name: "QuoteKey",
  tableName: "quote_key",
  properties: {
    /** Counts up; part of every id. */
    id: p.integer().primary().autoincrement(false),
    /** The base64url of its bytes, sealed if there are keys for that (`SecretSeal`). */
    secret: p.text(),
    /** By the database's clock. */
    createdAt: p.datetime(3),
  },
});

export type QuoteKey = InferEntity<typeof QuoteKey>;
