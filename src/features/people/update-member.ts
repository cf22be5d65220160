import {
  MemberService,
  type UpdateMemberRequestValid,
  type UpdateMemberResponse,
} from "../../../gen/shipments/v1/member_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { assertAdminLeft } from "./assert-admin-left.ts";
import { findMember } from "./find-member.ts";
import { lockMembers } from "./lock-members.ts";
import { memberMessage, memberRoleOf } from "./member-message.ts";

/**
 * Gives a member another role; it counts within a second.
 *
 * @throws Refusal MEMBER_NOT_FOUND, MEMBER_LAST_ADMIN
 */
export async function updateMember(
  request: UpdateMemberRequestValid,
  call: Call,
  em: EntityManager,
): Promise<UpdateMemberResponse> {
  const { workspaceId } = call.caller;
  const method = MemberService.method.updateMember;
  return withIdempotency(em, method, request, call, async (tx) => {
    await lockMembers(tx, workspaceId);
    const { membership, person } = await findMember(tx, workspaceId, request.person);
    const { role } = membership;
    membership.role = memberRoleOf(request.role)!;
    await tx.flush();
    await assertAdminLeft(tx, workspaceId, role);
    recordChange(tx, call, {
      subject: `person/${person.id}`,
      workspaceId,
      changes: changesBetween({ role }, { role: membership.role }),
    });
    return { data: memberMessage(membership, person) };
  });
}
