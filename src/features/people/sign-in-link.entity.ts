import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Person } from "./person.entity.ts";

/** A link by which a person can sign in, once. Only the SHA-256 of its token is stored. */
export const SignInLink = defineEntity({
  name: "SignInLink",
  tableName: "sign_in_link",
  properties: {
    hash: p.text().primary(),
    person: () => p.manyToOne(Person).mapToPk().index("sign_in_link_of_person"),
    /** The only workspace that its session acts in; null for no bound. */
    workspace: () => p.manyToOne(Workspace).mapToPk().nullable().deleteRule("cascade"),
    /** Those that the person has left since it was made; as those of its session. */
    leftWorkspaces: p
      .array((id) => Number(id))
      .columnType("bigint[]")
      .default([]),
    /** Who made it, as `operator Olga`; null for the person themselves. */
    madeBy: p.text().nullable(),
    createdAt: p.datetime(3),
    endsAt: p.datetime(3).index("sign_in_link_by_end"),
  },
  checks: [{ name: "sign_in_link_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type SignInLink = InferEntity<typeof SignInLink>;

/** An attempt that works once: to sign in at an identity provider, or to prove to be a shipment's recipient. */
export const SpentAttempt = defineEntity({
  name: "SpentAttempt",
  tableName: "spent_attempt",
  properties: {
    /** The SHA-256 of its state, or of what else tells it from others. */
    hash: p.text().primary(),
    /** When it would have ended by itself. */
    endsAt: p.datetime(3).index("spent_attempt_by_end"),
  },
  checks: [{ name: "spent_attempt_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type SpentAttempt = InferEntity<typeof SpentAttempt>;
