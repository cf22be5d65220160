import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { QUEUED_STATES } from "../mails/mail-queue.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { CourierProfile } from "./courier.entity.ts";

/**
 * A link that opens the courier's page. Only the SHA-256 of its token is stored. The token of an emailed link is created
 * when the email is sent.
 */
export const CourierLink = defineEntity({
  name: "CourierLink",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.text().primary(),
    courier: () =>
      p
        .manyToOne(CourierProfile)
        .joinColumns("workspace_id", "courier_id")
        .ownColumns("courier_id")
        .updateRule("no action")
        .deleteRule("no action"),
    hash: p.text(),
    /** Creator of the link, such as `person ada@example.org`. */
    createdBy: p.text(),
    createdAt: p.datetime(3),
    endsAt: p.datetime(3).index("courier_link_by_end"),
    /** State of the email. null if the link is not emailed. */
    state: p.text().$type<(typeof QUEUED_STATES)[number]>().nullable(),
    /** Time of the next attempt to send the email, or the end of the lease during an attempt. */
    nextAttemptAt: p.datetime(3).nullable(),
    attempts: p.integer().default(0),
  },
  uniques: [{ name: "courier_link_hash", properties: ["workspace", "hash"] }],
  indexes: [
    { name: "courier_link_of_courier", properties: ["courier"] },
    {
      name: "courier_link_due",
      expression: `create index "courier_link_due" on "courier_link" ("next_attempt_at") where state = 'waiting'`,
    },
    {
      name: "courier_link_emailed",
      expression: `create index "courier_link_emailed" on "courier_link" ("workspace_id", "created_at") where state is not null`,
    },
  ],
  checks: [
    {
      name: "courier_link_state",
      expression: `state in (${QUEUED_STATES.map((state) => `'${state}'`).join(", ")})`,
    },
  ],
});

export type CourierLink = InferEntity<typeof CourierLink>;

/** A courier's device. Only the SHA-256 of its token is stored. It ends together with its link. */
export const CourierSession = defineEntity({
  name: "CourierSession",
  primaryKeys: ["workspace", "hash"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    hash: p.text().primary(),
    link: () =>
      p
        .manyToOne(CourierLink)
        .joinColumns("workspace_id", "link_id")
        .ownColumns("link_id")
        .updateRule("no action")
        .deleteRule("cascade"),
    userAgent: p.text(),
    createdAt: p.datetime(3),
    /** Time of the last call in the session, to within a minute. */
    lastSeenAt: p.datetime(3),
  },
  indexes: [{ name: "courier_session_of_link", properties: ["link"] }],
});

export type CourierSession = InferEntity<typeof CourierSession>;
