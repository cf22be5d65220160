import type { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { endSignInsOfMember } from "./end-sign-ins.ts";
import {
  findMemberForUpdate,
  flushMembership,
  type InviteDeps,
  invitePerson,
  memberMessage,
  memberRoleOf,
} from "./members.ts";
import { Membership } from "./membership.entity.ts";
import { Person } from "./person.entity.ts";
import { SavedFilter } from "./saved-filter.entity.ts";

/** RPCs for managing the members of a workspace. */
export const MEMBER_FUNCTIONS: ServiceFunctions<typeof MemberService, Call, InviteDeps> = {
  /** Lists members by email. Not paginated, because there are at most `MAX_MEMBERS`. */
  async listMembers(_request, { caller: { workspaceId: workspace } }, { em }) {
    const reading = em.fork();
    const memberships = await reading.find(Membership, { workspace });
    const people = await reading.find(Person, { id: memberships.map((it) => it.person) });
    const personOf = new Map(people.map((person) => [person.id, person]));
    const data = memberships.map((it) => memberMessage(it, personOf.get(it.person)!));
    return { data: data.toSorted((a, b) => (a.email < b.email ? -1 : 1)) };
  },

  async inviteMember({ email, name, role }, call, { em, sendsMails }) {
    const invitation = { email, name, role: memberRoleOf(role), roleOfFirst: "viewer" } as const;
    return invitePerson(em, call, call.caller.workspaceId, { ...invitation, sendsMails });
  },

  async updateMember({ person: sent, role }, call, { em }) {
    const { workspaceId } = call.caller;
    const { membership, person } = await findMemberForUpdate(em, workspaceId, sent);
    const before = membership.role;
    membership.role = memberRoleOf(role)!;
    await flushMembership(em, call, membership, { before, after: membership.role });
    return { data: memberMessage(membership, person) };
  },

  async removeMember({ person: sent }, call, { em }) {
    const { workspaceId } = call.caller;
    const { membership, person } = await findMemberForUpdate(em, workspaceId, sent);
    em.remove(membership);
    await em.nativeDelete(SavedFilter, { workspace: workspaceId, person: person.id });
    await flushMembership(em, call, membership, { before: membership.role });
    await endSignInsOfMember(em, person.id, workspaceId);
    return {};
  },
};
