import {
  WorkspaceAdminService,
  type UpdateWorkspaceTimeZoneRequestValid,
  type UpdateWorkspaceTimeZoneResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { parseTimeZone } from "../workspaces/workspace.entity.ts";
import { assertLive, changeWorkspace } from "./admin-workspaces.ts";

/**
 * Sets the time zone of a workspace.
 *
 * @throws Refusal FIELD_INVALID, WORKSPACE_NOT_FOUND, WORKSPACE_IS_TEST
 */
export async function updateWorkspaceTimeZone(
  request: UpdateWorkspaceTimeZoneRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<UpdateWorkspaceTimeZoneResponse> {
  const method = WorkspaceAdminService.method.updateWorkspaceTimeZone;
  const timeZone = parseTimeZone(request.timeZone);
  return changeWorkspace(em, method, request, call, async (tx, workspace) => {
    assertLive(workspace);
    workspace.timeZone = timeZone;
    await tx.flush();
  });
}
