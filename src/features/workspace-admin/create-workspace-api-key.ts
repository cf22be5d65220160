import {
  WorkspaceAdminService,
  type CreateWorkspaceApiKeyRequestValid,
  type CreateWorkspaceApiKeyResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { createWorkspaceKey } from "../api-keys/api-keys.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { findWorkspace } from "./admin-workspaces.ts";

/**
 * Creates a key of a workspace, within the same bounds as if the workspace did it itself.
 *
 * @returns the key, and its secret, which no other call shows
 * @throws Refusal WORKSPACE_NOT_FOUND, API_KEY_LIMIT
 */
export async function createWorkspaceApiKey(
  request: CreateWorkspaceApiKeyRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<CreateWorkspaceApiKeyResponse> {
  const method = WorkspaceAdminService.method.createWorkspaceApiKey;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { id } = await findWorkspace(tx, request.workspace);
    return createWorkspaceKey(tx, call, id, request);
  });
}
