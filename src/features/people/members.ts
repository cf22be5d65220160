import {
  MemberRoleSchema,
  MemberSchema,
  type Member as MemberMessage,
} from "../../../gen/shipments/v1/member_pb.js";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../db/columns.ts";
import { runStatement } from "../../db/statement.ts";
import { MAX_MEMBERS } from "../../domain/limits.ts";
import type { MemberRole } from "../../domain/roles.ts";
import { refuse } from "../../domain/refusal.ts";
import { compileEnumName, compileToMessage } from "../../json/records.ts";
import type { AnyCall } from "../../pipeline/call.ts";
import { changesBetween, describeActor, recordChange } from "../audit/record-change.ts";
import { Membership } from "./membership.entity.ts";
import { Person } from "./person.entity.ts";
import { insertInvitationMail } from "./request-mail.ts";
import { findOrInsertPerson, insertSignInLink } from "./sign-in.ts";

/** The stored value of a role that a caller sends; undefined when it sends none. */
export const memberRoleOf = compileEnumName<MemberRole>(MemberRoleSchema);

const toMessage = compileToMessage(MemberSchema);

/** A member as callers see it. */
export function memberMessage(membership: Membership, person: Person): MemberMessage {
  return toMessage({ ...person, ...membership, person: person.id });
}

/**
 * A member of a workspace by the person's id, with the memberships of the workspace locked until the
 * transaction ends.
 *
 * @throws Refusal MEMBER_NOT_FOUND, for members of other workspaces alike
 */
export async function findMemberForUpdate(
  tx: EntityManager,
  workspace: number,
  sent: bigint,
): Promise<{ membership: Membership; person: Person }> {
  await lockMembers(tx, workspace);
  const person = readRecordId(sent);
  const membership =
    person === undefined ? null : await tx.findOne(Membership, { workspace, person });
  if (membership === null) {
    throw refuse("MEMBER_NOT_FOUND");
  }
  return { membership, person: await tx.findOneOrFail(Person, membership.person) };
}

/** So that of two changes at the same time the second sees what the first has left. */
async function lockMembers(tx: EntityManager, workspace: number): Promise<void> {
  const lock = "select pg_advisory_xact_lock(hashtextextended('members', $1))";
  await runStatement(tx, lock, [workspace]);
}

/**
 * Writes a changed membership and records it.
 *
 * @param roles those that the person had and has; undefined for no member
 * @throws Refusal MEMBER_LAST_ADMIN when that has taken the workspace its last admin
 */
export async function flushMembership(
  tx: EntityManager,
  call: AnyCall,
  { workspace, person }: Membership,
  { before, after }: { readonly before?: MemberRole; readonly after?: MemberRole },
): Promise<void> {
  await tx.flush();
  if (before === "admin" && (await tx.count(Membership, { workspace, role: "admin" })) === 0) {
    throw refuse("MEMBER_LAST_ADMIN");
  }
  const changes = changesBetween({ role: before }, { role: after });
  recordChange(tx, call, { subject: `person/${person}`, workspaceId: workspace, changes });
}

/** What inviting works with. */
export interface InviteDeps extends DatabaseDeps {
  /** Whether who is invited also gets a mail; not unless said. */
  readonly sendsMails?: boolean;
}

/** Who is invited. */
export interface Invitation {
  readonly email: string;
  /** Of somebody new. */
  readonly name: string | undefined;
  /** Undefined to leave a member's as it is. */
  readonly role: MemberRole | undefined;
  /** Of the first member of a workspace, if no other role is given; later ones are viewers then. */
  readonly roleOfFirst: MemberRole;
  /** Whether they also get a mail. */
  readonly sendsMails: boolean | undefined;
}

/**
 * Makes a person a member of a workspace, or gives a member another role, in the caller's transaction,
 * with a link for them to sign in by.
 *
 * @returns the member; the link's path, which cannot be read again; and whether a mail with a link of its
 * own will be sent
 * @throws Refusal MEMBER_LIMIT when the workspace has `MAX_MEMBERS`, MEMBER_LAST_ADMIN
 */
export async function invitePerson(
  tx: EntityManager,
  call: AnyCall,
  workspaceId: number,
  invitation: Invitation,
): Promise<{ data: MemberMessage; signInPath: string; mailed: boolean }> {
  const { email, name, role } = invitation;
  await lockMembers(tx, workspaceId);
  const person = await findOrInsertPerson(tx, email, name);
  const known = await tx.findOne(Membership, { workspace: workspaceId, person: person.id });
  const before = known?.role;
  const membership = known ?? (await createMembership(tx, workspaceId, person.id, invitation));
  membership.role = role ?? membership.role;
  await flushMembership(tx, call, membership, { before, after: membership.role });
  const { caller } = call;
  const isSelf = caller.audience === "workspace" && caller.member?.personId === person.id;
  const madeBy = isSelf ? null : describeActor(call);
  const signInPath = await insertSignInLink(tx, { personId: person.id, workspaceId, madeBy });
  const mailed =
    invitation.sendsMails === true && (await insertInvitationMail(tx, workspaceId, person.email));
  return { data: memberMessage(membership, person), signInPath, mailed };
}

async function createMembership(
  tx: EntityManager,
  workspace: number,
  person: number,
  { role, roleOfFirst }: Invitation,
): Promise<Membership> {
  const count = await tx.count(Membership, { workspace });
  if (count >= MAX_MEMBERS) {
    throw refuse("MEMBER_LIMIT");
  }
  const given = role ?? (count === 0 ? roleOfFirst : "viewer");
  return tx.create(Membership, { workspace, person, role: given, createdAt: new Date() });
}
