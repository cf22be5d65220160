import { create } from "@bufbuild/protobuf";
import {
  InviteMemberResponseSchema,
  MemberService,
  type InviteMemberRequestValid,
  type InviteMemberResponse,
} from "../../../gen/shipments/v1/member_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { MAX_MEMBERS } from "../../domain/limits.ts";
import type { MemberRole } from "../../domain/member-role.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { addSignInLink } from "./add-sign-in-link.ts";
import { assertAdminLeft } from "./assert-admin-left.ts";
import { findOrAddPerson } from "./find-or-add-person.ts";
import { lockMembers } from "./lock-members.ts";
import { memberMessage, memberRoleOf } from "./member-message.ts";
import { Membership } from "./membership.entity.ts";

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
  em: EntityManager,
): Promise<InviteMemberResponse> {
  const { workspaceId } = call.caller;
  const method = MemberService.method.inviteMember;
  return withIdempotency(em, method, request, call, async (tx) => {
    await lockMembers(tx, workspaceId);
    const person = await findOrAddPerson(tx, request.email, request.name);
    const known = await tx.findOne(Membership, { workspace: workspaceId, person: person.id });
    const before = known === null ? {} : { role: known.role };
    const membership =
      known ?? (await addMembership(tx, workspaceId, person.id, memberRoleOf(request.role)));
    membership.role = memberRoleOf(request.role) ?? membership.role;
    await tx.flush();
    await assertAdminLeft(tx, workspaceId, before.role);
    await recordChange(tx, call, {
      subject: `person/${person.id}`,
      workspaceId,
      changes: changesBetween(before, { role: membership.role }),
    });
    const signInPath = await addSignInLink(tx, person.id);
    const data = memberMessage(membership, person);
    return create(InviteMemberResponseSchema, { data, signInPath });
  });
}

async function addMembership(
  tx: EntityManager,
  workspace: number,
  person: number,
  role: MemberRole = "viewer",
): Promise<Membership> {
  if ((await tx.count(Membership, { workspace })) >= MAX_MEMBERS) {
    throw refuse("MEMBER_LIMIT", `The workspace has ${MAX_MEMBERS} members, and no more fit.`, {
      subject: "member",
    });
  }
  return tx.create(Membership, { workspace, person, role, createdAt: new Date() });
}
