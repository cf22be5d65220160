import {
  WorkspaceAdminService,
  type RotateWorkspaceApiKeysRequestValid,
  type RotateWorkspaceApiKeysResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { rotateAllKeys } from "../api-keys/api-keys.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { findWorkspace } from "./admin-workspaces.ts";

/**
 * Replaces all keys of a workspace by one of full scope.
 *
 * @returns the new key, and its secret, which no other call shows
 * @throws Refusal WORKSPACE_NOT_FOUND, API_KEY_LIMIT
 */
export async function rotateWorkspaceApiKeys(
  request: RotateWorkspaceApiKeysRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<RotateWorkspaceApiKeysResponse> {
  const method = WorkspaceAdminService.method.rotateWorkspaceApiKeys;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { id } = await findWorkspace(tx, request.workspace);
    return rotateAllKeys(tx, call, id, request);
  });
}
