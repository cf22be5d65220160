import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { Statement } from "../../db/statement.ts";
import { NOTICE_KINDS, type NoticeKind } from "../../domain/shipment/recipient-notice.ts";
import { QUEUED_STATES } from "../mails/mail-queue.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * A mail to the recipient of a shipment about something that happened to it, written in the transaction of that. To
 * whom it goes and what it says is read when it is sent.
 */
export const RecipientNotice = defineEntity({
  name: "RecipientNotice",
  tableName: "recipient_notice",
  primaryKeys: ["workspace", "shipmentReference", "kind"],
  properties: {
    workspace: () =>
      p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    /** No foreign key: a row is for 30 days, and only shipments of test mode are ever deleted. */
    shipmentReference: p.text().primary(),
    kind: p.text().$type<NoticeKind>().primary(),
    state: p.text().$type<(typeof QUEUED_STATES)[number]>().default("waiting"),
    createdAt: p.datetime(3).index("recipient_notice_by_age"),
    /** Until then nobody tries: whoever does sets it to when the lease ends. */
    nextAttemptAt: p.datetime(3),
    /** Attempts that have begun. */
    attempts: p.integer().default(0),
  },
  indexes: [
    // Of all workspaces.
    {
      name: "recipient_notice_due",
      expression: `create index "recipient_notice_due" on "recipient_notice" ("next_attempt_at") where state = 'waiting'`,
    },
    { name: "recipient_notice_of_workspace", properties: ["workspace", "createdAt"] },
  ],
  checks: [
    { name: "recipient_notice_kind", expression: `kind in (${quoted(NOTICE_KINDS)})` },
    { name: "recipient_notice_state", expression: `state in (${quoted(QUEUED_STATES)})` },
  ],
});

export type RecipientNotice = InferEntity<typeof RecipientNotice>;

function quoted(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

export interface NewNotice {
  readonly shipment: string;
  readonly kind: NoticeKind;
}

/** How many notices of a workspace are written within an hour; what happens beyond is told to nobody. */
const MAX_OF_HOUR = 1_000;

/** What was told before is not told again. */
const INSERT = `
  insert into recipient_notice (workspace_id, shipment_reference, kind, created_at, next_attempt_at)
  select $1, shipment_reference, kind, statement_timestamp(), statement_timestamp()
  from json_populate_recordset(null::recipient_notice, $2)
  where (
    select count(*) from (
      select 1 from recipient_notice
      where workspace_id = $1 and created_at > statement_timestamp() - interval '1 hour'
      limit ${MAX_OF_HOUR}
    ) as recent) < ${MAX_OF_HOUR}
  on conflict do nothing`;

/** The statement that inserts notices of a workspace. */
export function noticeStatement(workspace: number, notices: readonly NewNotice[]): Statement {
  const rows = notices.map(({ shipment, kind }) => ({ shipment_reference: shipment, kind }));
  return [INSERT, [workspace, JSON.stringify(rows)]];
}
