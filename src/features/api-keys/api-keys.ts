import type { ApiKeyScope } from "../../../gen/shipments/v1/api_key_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { AnyCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { scopeOf } from "./api-key-message.ts";
import { addKey, type AddedKey } from "./add-key.ts";
import { assertRoomForKey } from "./assert-room-for-key.ts";
import { findWorkingKeys } from "./working-keys.ts";

/**
 * Makes one more key of a workspace, whose row the caller has locked, and records it.
 *
 * @throws Refusal API_KEY_LIMIT
 */
export async function makeKey(
  tx: EntityManager,
  call: AnyCall,
  workspaceId: number,
  request: { readonly name: string; readonly scope?: ApiKeyScope | undefined },
): Promise<AddedKey> {
  assertRoomForKey(await findWorkingKeys(tx, workspaceId));
  const { name } = request;
  const scope = scopeOf(request.scope) ?? "full";
  const added = await addKey(tx, workspaceId, { name, scope });
  const { id, last4 } = added.key;
  const changes = changesBetween({}, { name, scope, last4 });
  recordChange(tx, call, { subject: `api_key/${id}`, workspaceId, changes });
  return added;
}
