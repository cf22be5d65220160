import { MemberRoleSchema, MemberSchema, type Member as MemberMessage } from "../../../gen/shipments/v1/member_pb.js";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../db/columns.ts";
import { lockAndLoad } from "../../db/lock-and-load.ts";
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

/** Returns the stored value of a role in a request, or `undefined` if it is omitted. */
export const memberRoleOf = compileEnumName<MemberRole>(MemberRoleSchema);

const toMessage = compileToMessage(MemberSchema);

/** Returns a member as an API message, with the data that the workspace may see. */
export function memberMessage(membership: Membership, person: Person): MemberMessage {
  const name = membership.name ?? person.name ?? defaultName(person.email);
  return toMessage({ ...person, ...membership, name, person: person.id });
}

/** Returns the default name: the part of the email before the @. */
function defaultName(email: string): string {
  return email.slice(0, email.indexOf("@"));
}

/**
 * Finds a member by the person's id. Locks the workspace's memberships until the transaction ends.
 *
 * @throws Refusal MEMBER_NOT_FOUND, also for members of other workspaces
 */
export async function findMemberForUpdate(
  tx: EntityManager,
  workspace: number,
  sent: bigint,
): Promise<{ membership: Membership; person: Person }> {
  const person = readRecordId(sent) ?? 0;
  const membership = await lockMembers(tx, workspace, () => tx.findOne(Membership, { workspace, person }));
  if (membership === null) {
    throw refuse("MEMBER_NOT_FOUND");
  }
  return { membership, person: await tx.findOneOrFail(Person, membership.person) };
}

/** Locks the members of a workspace: serializes changes to members and their saved filters. */
export function lockMembers<T>(tx: EntityManager, workspace: number, load: () => Promise<T>): Promise<T> {
  return lockAndLoad(tx, "members", workspace, load);
}

/**
 * Writes a changed membership and records the change.
 *
 * @param roles previous and new role, `undefined` if the person was not or is no longer a member
 * @throws Refusal MEMBER_LAST_ADMIN if the workspace would have no admin left
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

export interface InviteDeps extends DatabaseDeps {
  /** Whether invited people also receive an email. Defaults to false. */
  readonly sendsMails?: boolean;
}

export interface Invitation {
  readonly email: string;
  /** Name of a new member in the workspace. Defaults to the part of the email before the @. */
  readonly name: string | undefined;
  /** Role. `undefined` keeps the role of an existing member. */
  readonly role: MemberRole | undefined;
  /** Default role if the workspace has no members. Otherwise the default is viewer. */
  readonly roleOfFirst: MemberRole;
  readonly sendsMails: boolean | undefined;
}

/**
 * Adds a person to a workspace or changes a member's role, in the caller's transaction. Creates a
 * sign-in link for the person.
 *
 * @returns the member, the path of the link, which cannot be read again, and whether an email with
 *   a separate link will be sent
 * @throws Refusal MEMBER_LIMIT if the workspace has `MAX_MEMBERS`, MEMBER_LAST_ADMIN
 */
export async function invitePerson(
  tx: EntityManager,
  call: AnyCall,
  workspaceId: number,
  invitation: Invitation,
): Promise<{ data: MemberMessage; signInPath: string; mailed: boolean }> {
  const { email, role } = invitation;
  const count = await lockMembers(tx, workspaceId, () => tx.count(Membership, { workspace: workspaceId }));
  const person = await findOrInsertPerson(tx, email, null);
  const known = await tx.findOne(Membership, { workspace: workspaceId, person: person.id });
  const before = known?.role;
  const membership = known ?? createMembership(tx, { workspace: workspaceId, person: person.id, count }, invitation);
  membership.role = role ?? membership.role;
  await flushMembership(tx, call, membership, { before, after: membership.role });
  const { caller } = call;
  const isSelf = caller.audience === "workspace" && caller.member?.personId === person.id;
  const madeBy = isSelf ? null : describeActor(call);
  const signInPath = await insertSignInLink(tx, { personId: person.id, workspaceId, madeBy });
  const mailed = invitation.sendsMails === true && (await insertInvitationMail(tx, workspaceId, person.email));
  return { data: memberMessage(membership, person), signInPath, mailed };
}

function createMembership(
  tx: EntityManager,
  { workspace, person, count }: Readonly<Record<"workspace" | "person" | "count", number>>,
  { email, name = defaultName(email), role, roleOfFirst }: Invitation,
): Membership {
  if (count >= MAX_MEMBERS) {
    throw refuse("MEMBER_LIMIT");
  }
  const assigned = role ?? (count === 0 ? roleOfFirst : "viewer");
  const createdAt = new Date();
  return tx.create(Membership, {
    workspace,
    person,
    role: assigned,
    name,
    lastSignedInAt: null,
    createdAt,
  });
}
