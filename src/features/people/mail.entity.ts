import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { QUEUED_STATES } from "../mails/mail-queue.ts";

/** Kinds of emails: a requested sign-in link, or an invitation. */
const MAIL_KINDS = ["sign_in", "invitation"] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** States of emails. See `createSignInMailQueue`. */
const MAIL_STATES = ["asked", ...QUEUED_STATES] as const;

/**
 * An email to a person, kept for a day with its outcome. Contains no secret, because the link is
 * created when the email is sent.
 */
export const Mail = defineEntity({
  name: "Mail",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    kind: p.text().$type<MailKind>(),
    state: p.text().$type<(typeof MAIL_STATES)[number]>(),
    /** Address as entered. The email is sent to the address of the account. */
    email: p.text(),
    /** Workspace of an invitation, otherwise null. Not a foreign key, because rows are deleted after a day. */
    workspaceId: p.bigint("number").nullable(),
    createdAt: p.datetime(3).index("mail_by_age"),
    /** Time of the next attempt. During an attempt, the expiry of the lease. */
    nextAttemptAt: p.datetime(3),
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
      expression: "create index mail_of_workspace on mail (workspace_id, created_at) where workspace_id is not null",
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
