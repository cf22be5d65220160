import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** An attempt to sign in at an identity provider that has come to its end, so that it works once. */
export const SpentAttempt = defineEntity({
  name: "SpentAttempt",
  tableName: "spent_attempt",
  properties: {
    /** The SHA-256 of its state. */
    hash: p.text().primary(),
    /** When it would have ended by itself. */
    endsAt: p.datetime(3).index("spent_attempt_by_end"),
  },
  checks: [{ name: "spent_attempt_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type SpentAttempt = InferEntity<typeof SpentAttempt>;
