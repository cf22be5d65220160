import {
  WorkspaceAdminService,
  type RevokeWorkspaceApiKeyRequestValid,
  type RevokeWorkspaceApiKeyResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { revokeKey } from "../api-keys/api-keys.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { findWorkspace } from "./admin-workspaces.ts";

/**
 * Revokes a key of a workspace at once, even if it is the last.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, API_KEY_NOT_FOUND
 */
export async function revokeWorkspaceApiKey(
  request: RevokeWorkspaceApiKeyRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<RevokeWorkspaceApiKeyResponse> {
  const method = WorkspaceAdminService.method.revokeWorkspaceApiKey;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { id } = await findWorkspace(tx, request.workspace);
    await revokeKey(tx, call, id, request.key);
    return {};
  });
}
