import {
  WorkspaceAdminService,
  type ResumeWorkspaceRequestValid,
  type ResumeWorkspaceResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { assertLive, changeWorkspace, evictKeysOfBoth } from "./admin-workspaces.ts";

/**
 * Takes the calls of a suspended workspace again, in every process within a second. A workspace that
 * is not suspended stays as it is.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, WORKSPACE_IS_TEST
 */
export async function resumeWorkspace(
  request: ResumeWorkspaceRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<ResumeWorkspaceResponse> {
  const method = WorkspaceAdminService.method.resumeWorkspace;
  return changeWorkspace(em, method, request, call, async (tx, workspace) => {
    assertLive(workspace);
    if (!workspace.suspendedAt) return;
    workspace.suspendedAt = null;
    await tx.flush();
    await evictKeysOfBoth(tx, workspace);
  });
}
