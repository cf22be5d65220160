import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Operator } from "./operator.entity.ts";

/** A secret key of an operator; stored as those of workspaces are. */
export const OperatorKey = defineEntity({
  name: "OperatorKey",
  tableName: "operator_key",
  properties: {
    hash: p.text().primary(),
    operator: () => p.manyToOne(Operator).mapToPk().index("operator_key_of_operator"),
    /** `key_` and 24 characters, by which it is named. */
    id: p.text().unique("operator_key_id_unique"),
    /** What it is for. */
    name: p.text().nullable(),
    last4: p.character().length(4),
    createdAt: p.datetime(3),
    /** When it stops working; null for no end. */
    endsAt: p.datetime(3).nullable().index("operator_key_by_end"),
    /** When `endsAt` or the operator last changed, by the database's clock; replicas poll it. */
    changedAt: p.datetime(3).index("operator_key_by_change"),
    /** When a call last came with it, to within some seconds; null when none has. */
    lastUsedAt: p.datetime(3).nullable(),
  },
  checks: [{ name: "operator_key_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type OperatorKey = InferEntity<typeof OperatorKey>;
