import { create } from "@bufbuild/protobuf";
import {
  ListMembersResponseSchema,
  type ListMembersResponse,
} from "../../../gen/shipments/v1/member_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { memberMessage } from "./members.ts";
import { Membership } from "./membership.entity.ts";
import { Person } from "./person.entity.ts";

/** Lists the members of the workspace, by email; at most `MAX_MEMBERS`, so without pages. */
export async function listMembers(
  _request: unknown,
  { caller: { workspaceId } }: Call,
  { em }: DatabaseDeps,
): Promise<ListMembersResponse> {
  const reading = em.fork();
  const memberships = await reading.find(Membership, { workspace: workspaceId });
  const people = await reading.find(Person, { id: memberships.map((it) => it.person) });
  const personOf = new Map(people.map((person) => [person.id, person]));
  const data = memberships.map((it) => memberMessage(it, personOf.get(it.person)!));
  data.sort((a, b) => (a.email < b.email ? -1 : 1));
  return create(ListMembersResponseSchema, { data });
}
