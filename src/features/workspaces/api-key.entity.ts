import { defineEntity, p, sql, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "./workspace.entity.ts";

/**
 * A secret key of a workspace, of which only the SHA-256 is kept, and the last four characters for
 * people. It is found by its hash before a workspace is known, so the hash is unique across
 * workspaces.
 */
export const ApiKey = defineEntity({
  name: "ApiKey",
  tableName: "api_key",
  properties: {
    hash: p.text().primary(),
    workspace: () => p.manyToOne(Workspace).mapToPk().index("api_key_of_workspace"),
    last4: p.character().length(4),
    createdAt: p.datetime(3),
    /** When it stops working; null while there is no end in sight. */
    endsAt: p.datetime(3).nullable().index("api_key_by_end"),
    /** When `endsAt` last changed, by the database's clock: replicas look for recent changes. */
    changedAt: p.datetime(3).index("api_key_by_change"),
  },
  checks: [{ name: "api_key_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type ApiKey = InferEntity<typeof ApiKey>;

/**
 * The condition that a key works now, by the database's clock, which is the same for every replica.
 */
export function isWorking() {
  return { $or: [{ endsAt: null }, { endsAt: { $gt: sql`now()` } }] };
}
