import {
  MemberService,
  type RemoveMemberRequestValid,
  type RemoveMemberResponse,
} from "../../../gen/shipments/v1/member_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { assertAdminLeft } from "./assert-admin-left.ts";
import { endSignInsOfMember } from "./end-sign-ins.ts";
import { findMember } from "./find-member.ts";
import { lockMembers } from "./lock-members.ts";

/**
 * Ends a membership, and the sessions and links that it was used by, within a second everywhere.
 *
 * @throws Refusal MEMBER_NOT_FOUND, MEMBER_LAST_ADMIN
 */
export async function removeMember(
  request: RemoveMemberRequestValid,
  call: Call,
  em: EntityManager,
): Promise<RemoveMemberResponse> {
  const { workspaceId } = call.caller;
  const method = MemberService.method.removeMember;
  return withIdempotency(em, method, request, call, async (tx) => {
    await lockMembers(tx, workspaceId);
    const { membership, person } = await findMember(tx, workspaceId, request.person);
    const { role } = membership;
    tx.remove(membership);
    await tx.flush();
    await assertAdminLeft(tx, workspaceId, role);
    await endSignInsOfMember(tx, person.id, workspaceId);
    recordChange(tx, call, {
      subject: `person/${person.id}`,
      workspaceId,
      changes: changesBetween({ role }, {}),
    });
    return {};
  });
}
