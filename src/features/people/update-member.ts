import {
  MemberService,
  type UpdateMemberRequestValid,
  type UpdateMemberResponse,
} from "../../../gen/shipments/v1/member_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { findMemberForUpdate, flushMembership, memberMessage, memberRoleOf } from "./members.ts";

/**
 * Gives a member another role; it counts within a second.
 *
 * @throws Refusal MEMBER_NOT_FOUND, MEMBER_LAST_ADMIN
 */
export async function updateMember(
  request: UpdateMemberRequestValid,
  call: Call,
  { em }: DatabaseDeps,
): Promise<UpdateMemberResponse> {
  const { workspaceId } = call.caller;
  const method = MemberService.method.updateMember;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { membership, person } = await findMemberForUpdate(tx, workspaceId, request.person);
    const before = membership.role;
    membership.role = memberRoleOf(request.role)!;
    await flushMembership(tx, call, membership, { before, after: membership.role });
    return { data: memberMessage(membership, person) };
  });
}
