import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { KEY_SCOPES, type KeyScope } from "../../domain/roles.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * A secret key of a workspace. Only its SHA-256 in base64url is stored, with the last four characters for display.
 * The key is looked up by its hash before the workspace is known, so the hash is unique across workspaces.
 */
export const ApiKey = defineEntity({
  name: "ApiKey",
  properties: {
    hash: p.text().primary(),
    workspace: () => p.manyToOne(Workspace).mapToPk().index("api_key_of_workspace"),
    /** Public id: `key_` and 24 characters. */
    id: p.text().unique("api_key_id_unique"),
    name: p.text().nullable(),
    scope: p.text().$type<KeyScope>().default("full"),
    last4: p.character().length(4),
    createdAt: p.datetime(3),
    /** Expiry. null if the key does not expire. */
    endsAt: p.datetime(3).nullable().index("api_key_by_end"),
    /**
     * Time of the last change to `endsAt`, the name, the scope, or the workspace's limits or
     * suspension, by the database's clock. Replicas poll it.
     */
    changedAt: p.datetime(3).index("api_key_by_change"),
    /** Time of the last call with the key, to within a few seconds. null if unused. */
    lastUsedAt: p.datetime(3).nullable(),
  },
  checks: [
    { name: "api_key_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" },
    {
      name: "api_key_scope",
      expression: `scope in (${KEY_SCOPES.map((it) => `'${it}'`).join(", ")})`,
    },
  ],
});

export type ApiKey = InferEntity<typeof ApiKey>;
