import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { MEMBER_ROLES, type MemberRole } from "../../domain/roles.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Person } from "./person.entity.ts";

/** Membership of a person in a workspace, with the personal data that the workspace may see. */
export const Membership = defineEntity({
  name: "Membership",
  primaryKeys: ["workspace", "person"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    person: () => p.manyToOne(Person).mapToPk().primary().index("membership_of_person"),
    role: p.text().$type<MemberRole>(),
    /**
     * Name from the invitation, or set in a session that is bound to the workspace. null if the
     * workspace sees the name that the person chose.
     */
    name: p.text().nullable(),
    /** Last sign-in with a session that applies to the workspace. null if the member has not signed in. */
    lastSignedInAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
  checks: [
    {
      name: "membership_role",
      expression: `role in (${MEMBER_ROLES.map((it) => `'${it}'`).join(", ")})`,
    },
  ],
});

export type Membership = InferEntity<typeof Membership>;
