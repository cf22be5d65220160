import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Operator } from "./operator.entity.ts";

/** A secret key of an operator, stored like workspace keys. */
export const OperatorKey = defineEntity({
  name: "OperatorKey",
  properties: {
    hash: p.text().primary(),
    operator: () => p.manyToOne(Operator).mapToPk().index("operator_key_of_operator"),
    /** Public id: `key_` and 24 characters. */
    id: p.text().unique("operator_key_id_unique"),
    name: p.text().nullable(),
    last4: p.character().length(4),
    createdAt: p.datetime(3),
    /** Expiry. null if absent. */
    endsAt: p.datetime(3).nullable().index("operator_key_by_end"),
    /** Time of the last change to `endsAt` or the operator, by the database's clock. Replicas poll it. */
    changedAt: p.datetime(3).index("operator_key_by_change"),
    /** Time of the last call with the key, to within a few seconds. null if unused. */
    lastUsedAt: p.datetime(3).nullable(),
  },
  checks: [{ name: "operator_key_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type OperatorKey = InferEntity<typeof OperatorKey>;
