import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Person } from "./person.entity.ts";

/** A single-use sign-in link. Only the SHA-256 of its token is stored. */
export const SignInLink = defineEntity({
  name: "SignInLink",
  properties: {
    hash: p.text().primary(),
    person: () => p.manyToOne(Person).mapToPk().index("sign_in_link_of_person"),
    /** Workspace to which the session will be bound. null if it will not be bound. */
    workspace: () => p.manyToOne(Workspace).mapToPk().nullable().deleteRule("cascade"),
    /** Workspaces that the person has left since the link was created. The session will be invalid there. */
    leftWorkspaces: p
      .array((id) => Number(id))
      .columnType("bigint[]")
      .default([]),
    /** Creator of the link, such as `operator Olga`. null if the person requested it. */
    madeBy: p.text().nullable(),
    createdAt: p.datetime(3),
    endsAt: p.datetime(3).index("sign_in_link_by_end"),
  },
  checks: [{ name: "sign_in_link_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type SignInLink = InferEntity<typeof SignInLink>;

/** A used attempt to sign in with an identity provider, or a failed attempt to verify a recipient. Prevents reuse. */
export const SpentAttempt = defineEntity({
  name: "SpentAttempt",
  properties: {
    /** SHA-256 of the attempt's `state` parameter, or of another unique value. */
    hash: p.text().primary(),
    /** Time after which the row can be deleted. */
    endsAt: p.datetime(3).index("spent_attempt_by_end"),
  },
  checks: [{ name: "spent_attempt_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type SpentAttempt = InferEntity<typeof SpentAttempt>;
