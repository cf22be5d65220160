import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { Statement } from "../../db/statement.ts";
import {
  type DueRecipientMail,
  RECIPIENT_MAIL_KINDS,
  type RecipientMailKind,
} from "../../domain/shipment/recipient-mail.ts";
import { QUEUED_STATES } from "../mails/mail-queue.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * An email to the recipient of a shipment. Inserted in the transaction of the event. Address and
 * content are read when the email is sent.
 */
export const RecipientMail = defineEntity({
  name: "RecipientMail",
  tableName: "recipient_notice",
  primaryKeys: ["workspace", "shipmentReference", "kind"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    /** Reference without a foreign key: rows are deleted after 30 days, and only test shipments are deleted. */
    shipmentReference: p.text().primary(),
    kind: p.text().$type<RecipientMailKind>().primary(),
    state: p.text().$type<(typeof QUEUED_STATES)[number]>().default("waiting"),
    createdAt: p.datetime(3).index("recipient_notice_by_age"),
    /** Earliest time of the next attempt, or the end of the lease during an attempt. */
    nextAttemptAt: p.datetime(3),
    /** Number of started attempts. */
    attempts: p.integer().default(0),
    /** Number of times that the email was or will be sent. */
    sendCount: p.integer().fieldName("tellings").default(1),
  },
  indexes: [
    // Index for the sender, which reads all workspaces.
    {
      name: "recipient_notice_due",
      expression: `create index "recipient_notice_due" on "recipient_notice" ("next_attempt_at") where state = 'waiting'`,
    },
    { name: "recipient_notice_of_workspace", properties: ["workspace", "createdAt"] },
  ],
  checks: [
    { name: "recipient_notice_kind", expression: `kind in (${quoted(RECIPIENT_MAIL_KINDS)})` },
    { name: "recipient_notice_state", expression: `state in (${quoted(QUEUED_STATES)})` },
  ],
});

export type RecipientMail = InferEntity<typeof RecipientMail>;

function quoted(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

export interface NewRecipientMail extends DueRecipientMail {
  readonly shipment: string;
}

/** Maximum number of emails per workspace and hour. Further emails are dropped. */
const MAX_OF_HOUR = 1_000;

const INSERT = `
  insert into recipient_notice (workspace_id, shipment_reference, kind, created_at, next_attempt_at)
  select $1, shipment_reference, kind, statement_timestamp(), statement_timestamp()
  from json_populate_recordset(null::recipient_notice, $2) with ordinality as mail
  where ordinality + (
    select coalesce(sum(tellings), 0) from (
      select tellings from recipient_notice
      where workspace_id = $1 and created_at > statement_timestamp() - interval '1 hour'
      limit ${MAX_OF_HOUR}
    ) as recent) <= ${MAX_OF_HOUR}
  on conflict`;
const INSERT_ONCE = `${INSERT} do nothing`;
/** Queues another email. Increments the attempts, so that a concurrent sender does not mark the new email as sent. */
const INSERT_AGAIN = `${INSERT} (workspace_id, shipment_reference, kind) do update set
    state = 'waiting', attempts = recipient_notice.attempts + 1,
    tellings = recipient_notice.tellings + 1,
    created_at = excluded.created_at, next_attempt_at = excluded.next_attempt_at`;

/**
 * Returns the statements that insert recipient emails. They must follow a statement that locks the workspace's feed, so
 * that concurrent transactions count each other's emails.
 */
export function recipientMailStatements(workspace: number, mails: readonly NewRecipientMail[]): Statement[] {
  return [INSERT_ONCE, INSERT_AGAIN].flatMap((sql): Statement[] => {
    const rows = mails
      .filter(({ again }) => again === (sql === INSERT_AGAIN))
      .map(({ shipment, kind }) => ({ shipment_reference: shipment, kind }));
    return rows.length === 0 ? [] : [[sql, [workspace, JSON.stringify(rows)]]];
  });
}
