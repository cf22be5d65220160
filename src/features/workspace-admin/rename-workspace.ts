import {
  WorkspaceAdminService,
  type RenameWorkspaceRequestValid,
  type RenameWorkspaceResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { assertLive, changeWorkspace } from "./admin-workspaces.ts";

/**
 * Renames a workspace.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, WORKSPACE_IS_TEST
 */
export async function renameWorkspace(
  request: RenameWorkspaceRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<RenameWorkspaceResponse> {
  const method = WorkspaceAdminService.method.renameWorkspace;
  return changeWorkspace(em, method, request, call, async (tx, workspace) => {
    assertLive(workspace);
    workspace.name = request.name;
    await tx.flush();
  });
}
