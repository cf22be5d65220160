import {
  MemberService,
  type RemoveMemberRequestValid,
  type RemoveMemberResponse,
} from "../../../gen/shipments/v1/member_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { endSignInsOfMember } from "./end-sign-ins.ts";
import { SavedFilter } from "./saved-filter.entity.ts";
import { findMemberForUpdate, flushMembership } from "./members.ts";

/**
 * Ends a membership, and the sessions and links that it was used by, within a second everywhere.
 *
 * @throws Refusal MEMBER_NOT_FOUND, MEMBER_LAST_ADMIN
 */
export async function removeMember(
  request: RemoveMemberRequestValid,
  call: Call,
  { em }: DatabaseDeps,
): Promise<RemoveMemberResponse> {
  const { workspaceId } = call.caller;
  const method = MemberService.method.removeMember;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { membership, person } = await findMemberForUpdate(tx, workspaceId, request.person);
    tx.remove(membership);
    await tx.nativeDelete(SavedFilter, { workspace: workspaceId, person: person.id });
    await flushMembership(tx, call, membership, { before: membership.role });
    await endSignInsOfMember(tx, person.id, workspaceId);
    return {};
  });
}
