import { sql } from "@mikro-orm/postgresql";
import {
  WorkspaceAdminService,
  type SuspendWorkspaceRequestValid,
  type SuspendWorkspaceResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { assertLive, changeWorkspace, evictKeysOfBoth } from "./admin-workspaces.ts";

/**
 * Refuses all calls of a workspace, in every process within a second. A workspace that is suspended
 * stays as it is.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, WORKSPACE_IS_TEST
 */
export async function suspendWorkspace(
  request: SuspendWorkspaceRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<SuspendWorkspaceResponse> {
  const method = WorkspaceAdminService.method.suspendWorkspace;
  return changeWorkspace(em, method, request, call, async (tx, workspace) => {
    assertLive(workspace);
    if (workspace.suspendedAt) return;
    await tx.nativeUpdate(Workspace, workspace.id, { suspendedAt: sql`now()` });
    await tx.refresh(workspace);
    await evictKeysOfBoth(tx, workspace);
  });
}
