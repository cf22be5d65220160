import {
  MemberService,
  type InviteMemberRequestValid,
  type InviteMemberResponse,
} from "../../../gen/shipments/v1/member_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { invitePerson, memberRoleOf, type InviteDeps } from "./members.ts";

/**
 * Makes a person a member of the workspace, or gives a member a new link to sign in by, and another
 * role if one is given.
 *
 * @returns the member and the link, which no other call shows
 * @throws Refusal MEMBER_LIMIT when the workspace has `MAX_MEMBERS`, MEMBER_LAST_ADMIN
 */
export async function inviteMember(
  request: InviteMemberRequestValid,
  call: Call,
  { em, sendsMails }: InviteDeps,
): Promise<InviteMemberResponse> {
  const { workspaceId } = call.caller;
  const method = MemberService.method.inviteMember;
  return withIdempotency(em, method, request, call, (tx) =>
    invitePerson(tx, call, workspaceId, {
      email: request.email,
      name: request.name,
      role: memberRoleOf(request.role),
      roleOfFirst: "viewer",
      sendsMails,
    }),
  );
}
