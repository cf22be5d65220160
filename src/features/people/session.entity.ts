import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Person } from "./person.entity.ts";

/** A browser session of a signed-in person. Only the SHA-256 of its token is stored. */
export const Session = defineEntity({
  name: "Session",
  properties: {
    hash: p.text().primary(),
    /** Public id, separate from the secret token. */
    id: p.bigint("number").autoincrement().unique("session_id_unique"),
    person: () => p.manyToOne(Person).mapToPk().index("session_of_person"),
    /** Workspace to which the session is bound. null if it has all permissions of the person. */
    workspace: () => p.manyToOne(Workspace).mapToPk().nullable().deleteRule("cascade"),
    /**
     * Workspaces that the person has left since the session began. The session stays invalid there
     * if they join again.
     */
    leftWorkspaces: p
      .array((id) => Number(id))
      .columnType("bigint[]")
      .default([]),
    userAgent: p.text(),
    createdAt: p.datetime(3),
    /** Time of the last call in the session, to within a minute. */
    lastSeenAt: p.datetime(3),
    /** Expiry, regardless of use. */
    endsAt: p.datetime(3).index("session_by_end"),
  },
  checks: [{ name: "session_hash_form", expression: "hash ~ '^[A-Za-z0-9_-]{43}$'" }],
});

export type Session = InferEntity<typeof Session>;

/** Idle timeout of a session, as SQL. */
export const SESSION_IDLE = "interval '12 hours'";

/** SQL condition for an active session. */
export const SESSION_GOES_ON = `session.ends_at > now() and session.last_seen_at > now() - ${SESSION_IDLE}`;
