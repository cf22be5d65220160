import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Person } from "./person.entity.ts";

/** A single-use sign-in link. Only the SHA-256 of its token is stored. */
export const SignInLink = defineEntity({
  name: "SignInLink",
  tableName: "sign_in_link",
  properties: {
    hash: p.text().primary(),
    person: () => p.manyToOne(Person).mapToPk().index("sign_in_link_of_person"),
    /** The only workspace of its session. null for no limit. */
    workspace: () => p.manyToOne(Workspace).mapToPk().nullable().deleteRule("cascade"),
    /** Workspaces that the person has left since its creation, as in its session. */
    leftWorkspaces: p
      .array((id) => Number(id))
      .columnType("bigint[]")
      .default([]),
    /** Creator, such as `operator Olga`. null for the person. */
    madeBy: p.text().nullable(),
    createdAt: p.datetime(3),
    endsAt: p.datetime(3).index("sign_in_link_by_end"),
  },
  checks: [{ name: "sign_in_link_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type SignInLink = InferEntity<typeof SignInLink>;

/** A single-use attempt to sign in at an identity provider, or to prove to be a shipment's recipient. */
export const SpentAttempt = defineEntity({
  name: "SpentAttempt",
  tableName: "spent_attempt",
  properties: {
    /** SHA-256 of its state, or of another unique value. */
    hash: p.text().primary(),
    /** Time of its expiry. */
    endsAt: p.datetime(3).index("spent_attempt_by_end"),
  },
  checks: [{ name: "spent_attempt_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type SpentAttempt = InferEntity<typeof SpentAttempt>;
