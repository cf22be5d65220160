import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { Statement } from "../../db/statement.ts";
import {
  type DueNotice,
  NOTICE_KINDS,
  type NoticeKind,
} from "../../domain/shipment/recipient-notice.ts";
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
    /** How often it was told or is to be. */
    tellings: p.integer().default(1),
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

export interface NewNotice extends DueNotice {
  readonly shipment: string;
}

/** How many notices of a workspace are written within an hour, about; what happens beyond is told to nobody. */
const MAX_OF_HOUR = 1_000;

const INSERT = `
  insert into recipient_notice (workspace_id, shipment_reference, kind, created_at, next_attempt_at)
  select $1, shipment_reference, kind, statement_timestamp(), statement_timestamp()
  from json_populate_recordset(null::recipient_notice, $2)
  where (
    select coalesce(sum(tellings), 0) from (
      select tellings from recipient_notice
      where workspace_id = $1 and created_at > statement_timestamp() - interval '1 hour'
      limit ${MAX_OF_HOUR}
    ) as recent) < ${MAX_OF_HOUR}
  on conflict`;
const TELL_ONCE = `${INSERT} do nothing`;
/** Counted as an attempt, so that whoever sends what was said before does not note it as sent. */
const TELL_AGAIN = `${INSERT} (workspace_id, shipment_reference, kind) do update set
    state = 'waiting', attempts = recipient_notice.attempts + 1,
    tellings = recipient_notice.tellings + 1,
    created_at = excluded.created_at, next_attempt_at = excluded.next_attempt_at`;

/** The statements that insert notices of a workspace. */
export function noticeStatements(workspace: number, notices: readonly NewNotice[]): Statement[] {
  return [TELL_ONCE, TELL_AGAIN].flatMap((sql): Statement[] => {
    const rows = notices
      .filter(({ again }) => again === (sql === TELL_AGAIN))
      .map(({ shipment, kind }) => ({ shipment_reference: shipment, kind }));
    return rows.length === 0 ? [] : [[sql, [workspace, JSON.stringify(rows)]]];
  });
}
