import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  MemberRole as MemberRoleOption,
  MemberSchema,
  type Member as MemberMessage,
} from "../../../gen/shipments/v1/member_pb.js";
import type { MemberRole } from "../../domain/roles.ts";
import type { Membership } from "./membership.entity.ts";
import type { Person } from "./person.entity.ts";

/** The roles as callers see them. */
export const MEMBER_ROLE: Readonly<Record<MemberRole, MemberRoleOption>> = {
  viewer: MemberRoleOption.VIEWER,
  member: MemberRoleOption.MEMBER,
  admin: MemberRoleOption.ADMIN,
};

/** The stored value of a role that a caller sends; undefined when it sends none. */
export function memberRoleOf(role: MemberRoleOption | undefined): MemberRole | undefined {
  const entries = Object.entries(MEMBER_ROLE) as [MemberRole, MemberRoleOption][];
  return entries.find(([, sent]) => sent === role)?.[0];
}

/** A member as callers see it. */
export function memberMessage({ role, createdAt }: Membership, person: Person): MemberMessage {
  const { id, email, name, lastSignedInAt } = person;
  return create(MemberSchema, {
    person: BigInt(id),
    email,
    name,
    role: MEMBER_ROLE[role],
    createdAt: timestampFromDate(createdAt),
    ...(lastSignedInAt ? { lastSignedInAt: timestampFromDate(lastSignedInAt) } : {}),
  });
}
