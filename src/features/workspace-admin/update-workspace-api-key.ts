import {
  WorkspaceAdminService,
  type UpdateWorkspaceApiKeyRequestValid,
  type UpdateWorkspaceApiKeyResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { updateKey } from "../api-keys/api-keys.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { findWorkspace } from "./admin-workspaces.ts";

/**
 * Changes the name and the scope of a key of a workspace, as far as given.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, API_KEY_NOT_FOUND
 */
export async function updateWorkspaceApiKey(
  request: UpdateWorkspaceApiKeyRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<UpdateWorkspaceApiKeyResponse> {
  const method = WorkspaceAdminService.method.updateWorkspaceApiKey;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { id } = await findWorkspace(tx, request.workspace);
    return updateKey(tx, call, id, request);
  });
}
