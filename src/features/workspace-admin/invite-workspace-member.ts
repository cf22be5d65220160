import {
  WorkspaceAdminService,
  type InviteWorkspaceMemberRequestValid,
  type InviteWorkspaceMemberResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { OperatorCall } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { invitePerson, memberRoleOf, type InviteDeps } from "../people/members.ts";
import { assertLive, findWorkspace } from "./admin-workspaces.ts";

/**
 * Makes a person a member of a workspace, or gives a member a new link to sign in by, and another role
 * if one is given. The first member is an admin unless told otherwise, since somebody has to invite the
 * others.
 *
 * @returns the member and the link, which no other call shows
 * @throws Refusal WORKSPACE_NOT_FOUND, WORKSPACE_IS_TEST, MEMBER_LIMIT, MEMBER_LAST_ADMIN
 */
export async function inviteWorkspaceMember(
  request: InviteWorkspaceMemberRequestValid,
  call: OperatorCall,
  { em, sendsMails }: InviteDeps,
): Promise<InviteWorkspaceMemberResponse> {
  const method = WorkspaceAdminService.method.inviteWorkspaceMember;
  return withIdempotency(em, method, request, call, async (tx) => {
    const workspace = await findWorkspace(tx, request.workspace);
    assertLive(workspace);
    return invitePerson(tx, call, workspace.id, {
      email: request.email,
      name: request.name,
      role: memberRoleOf(request.role),
      roleOfFirst: "admin",
      sendsMails,
    });
  });
}
