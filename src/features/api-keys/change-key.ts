import type { ApiKeyScope } from "../../../gen/shipments/v1/api_key_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { AnyCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { evictKeys } from "../credentials/secret-keys.ts";
import { scopeOf } from "./api-key-message.ts";
import { ApiKey } from "./api-key.entity.ts";

/**
 * Changes the name and the scope of a working key, as far as given, and records it; known on every
 * replica within a second. The caller has locked the row of the workspace.
 */
export async function changeKey(
  tx: EntityManager,
  call: AnyCall,
  key: ApiKey,
  request: { readonly name?: string | undefined; readonly scope?: ApiKeyScope | undefined },
): Promise<ApiKey> {
  const { hash, id, workspace, name = null, scope } = key;
  const before = { name, scope };
  const after = { name: request.name ?? name, scope: scopeOf(request.scope) ?? scope };
  const changes = changesBetween(before, after);
  if (changes.length === 0) return key;
  await tx.nativeUpdate(ApiKey, { hash }, after);
  await evictKeys(tx, "api_key", workspace);
  recordChange(tx, call, { subject: `api_key/${id}`, workspaceId: workspace, changes });
  return tx.findOneOrFail(ApiKey, hash, { refresh: true });
}
