import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Person } from "./person.entity.ts";

/** A browser in which a person has signed in. Only the SHA-256 of its token is stored. */
export const Session = defineEntity({
  name: "Session",
  tableName: "session",
  properties: {
    hash: p.text().primary(),
    /** By which it is named. */
    id: p.bigint("number").autoincrement().unique("session_id_unique"),
    person: () => p.manyToOne(Person).mapToPk().index("session_of_person"),
    /** The only workspace that it acts in; null for all of the person's, and for the platform. */
    workspace: () => p.manyToOne(Workspace).mapToPk().nullable().deleteRule("cascade"),
    /** Those that the person has left since it began, in which it acts no more, a member again or not. */
    leftWorkspaces: p
      .array((id) => Number(id))
      .columnType("bigint[]")
      .default([]),
    userAgent: p.text(),
    createdAt: p.datetime(3),
    /** When a call last came with it, to within a minute. */
    lastSeenAt: p.datetime(3),
    /** When it ends at the latest. */
    endsAt: p.datetime(3).index("session_by_end"),
  },
  checks: [{ name: "session_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type Session = InferEntity<typeof Session>;

/** How long a session goes on without a call. */
export const SESSION_IDLE = "interval '12 hours'";

/** The condition, in SQL, that a session has not ended. */
export const SESSION_GOES_ON = `session.ends_at > now() and session.last_seen_at > now() - ${SESSION_IDLE}`;
