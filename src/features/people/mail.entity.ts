import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { QUEUED_STATES } from "../mails/mail-queue.ts";

/** What a mail is for: somebody asked for a link to sign in by, or was invited into a workspace. */
export const MAIL_KINDS = ["sign_in", "invitation"] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** How far mails are: see `createSignInMailWorkers`. */
const MAIL_STATES = ["asked", ...QUEUED_STATES] as const;

/**
 * A mail that somebody is to get, and for a day what came of it. It holds no secret: its link is made when
 * it is sent.
 */
export const Mail = defineEntity({
  name: "Mail",
  tableName: "mail",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    kind: p.text().$type<MailKind>(),
    state: p.text().$type<(typeof MAIL_STATES)[number]>(),
    /** As it was typed; the mail goes to the address that the account has. */
    email: p.text(),
    /** Into which somebody is invited; null for other mails. No foreign key: a row is for a day. */
    workspaceId: p.bigint("number").nullable(),
    createdAt: p.datetime(3).index("mail_by_age"),
    /** Until then nobody tries: whoever does sets it to when the lease ends. */
    nextAttemptAt: p.datetime(3),
    /** Attempts that have begun. */
    attempts: p.integer().default(0),
  },
  indexes: [
    {
      name: "mail_asked",
      expression: "create index mail_asked on mail (id) where state = 'asked'",
    },
    {
      name: "mail_due",
      expression: "create index mail_due on mail (next_attempt_at) where state = 'waiting'",
    },
    {
      name: "mail_of_email",
      expression: "create index mail_of_email on mail (lower(email), created_at)",
    },
    {
      name: "mail_of_workspace",
      expression:
        "create index mail_of_workspace on mail (workspace_id, created_at) where workspace_id is not null",
    },
  ],
  checks: [
    { name: "mail_kind", expression: `kind in (${quoted(MAIL_KINDS)})` },
    { name: "mail_state", expression: `state in (${quoted(MAIL_STATES)})` },
    {
      name: "mail_workspace_of_invitation",
      expression: "(kind = 'invitation') = (workspace_id is not null)",
    },
  ],
});

export type Mail = InferEntity<typeof Mail>;

function quoted(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}
