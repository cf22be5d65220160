import type { Member as MemberMessage } from "../../../gen/shipments/v1/member_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { MAX_MEMBERS } from "../../domain/limits.ts";
import type { MemberRole } from "../../domain/roles.ts";
import { refuse } from "../../domain/refusal.ts";
import type { AnyCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange, whoMakes } from "../audit/record-change.ts";
import { addSignInLink } from "./add-sign-in-link.ts";
import { assertAdminLeft } from "./assert-admin-left.ts";
import { findOrAddPerson } from "./find-or-add-person.ts";
import { lockMembers } from "./lock-members.ts";
import { memberMessage } from "./member-message.ts";
import { Membership } from "./membership.entity.ts";

/** Who is invited. */
export interface Invitation {
  readonly email: string;
  /** Of somebody new. */
  readonly name: string | undefined;
  /** Undefined to leave a member's as it is. */
  readonly role: MemberRole | undefined;
  /** Of the first member of a workspace, if no other role is given; later ones are viewers then. */
  readonly roleOfFirst: MemberRole;
}

/**
 * Makes a person a member of a workspace, or gives a member another role, in the caller's transaction,
 * with a link for them to sign in by.
 *
 * @returns the member and the link's path, which cannot be read again
 * @throws Refusal MEMBER_LIMIT when the workspace has `MAX_MEMBERS`, MEMBER_LAST_ADMIN
 */
export async function invitePerson(
  tx: EntityManager,
  call: AnyCall,
  workspaceId: number,
  invitation: Invitation,
): Promise<{ data: MemberMessage; signInPath: string }> {
  const { email, name, role } = invitation;
  await lockMembers(tx, workspaceId);
  const person = await findOrAddPerson(tx, email, name);
  const known = await tx.findOne(Membership, { workspace: workspaceId, person: person.id });
  const before = known === null ? {} : { role: known.role };
  const membership = known ?? (await addMembership(tx, workspaceId, person.id, invitation));
  membership.role = role ?? membership.role;
  await tx.flush();
  await assertAdminLeft(tx, workspaceId, before.role);
  recordChange(tx, call, {
    subject: `person/${person.id}`,
    workspaceId,
    changes: changesBetween(before, { role: membership.role }),
  });
  const { caller } = call;
  const isOwn = caller.audience === "workspace" && caller.member?.personId === person.id;
  const madeBy = isOwn ? null : whoMakes(call);
  const signInPath = await addSignInLink(tx, { personId: person.id, workspaceId, madeBy });
  return { data: memberMessage(membership, person), signInPath };
}

async function addMembership(
  tx: EntityManager,
  workspace: number,
  person: number,
  { role, roleOfFirst }: Invitation,
): Promise<Membership> {
  const count = await tx.count(Membership, { workspace });
  if (count >= MAX_MEMBERS) {
    throw refuse("MEMBER_LIMIT", `The workspace has ${MAX_MEMBERS} members, and no more fit.`, {
      subject: "member",
    });
  }
  const given = role ?? (count === 0 ? roleOfFirst : "viewer");
  return tx.create(Membership, { workspace, person, role: given, createdAt: new Date() });
}
