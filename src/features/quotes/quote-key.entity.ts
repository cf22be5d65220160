import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A key that seals the quotes of all workspaces. See `createQuoteKeys`. */
export const QuoteKey = defineEntity({
  name: "QuoteKey",
  properties: {
    /** Sequential number, which is part of every quote id. */
    id: p.integer().primary().autoincrement(false),
    /** Key in base64url. Encrypted if SECRETS_KEYS is set (`SecretSeal`). */
    secret: p.text(),
    /** Creation time, by the database's clock. */
    createdAt: p.datetime(3),
  },
});

export type QuoteKey = InferEntity<typeof QuoteKey>;
