import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { isTimeZone } from "../../domain/time-zone.ts";
import { runStatement } from "../../db/statement.ts";

/** The time zone of a workspace that has chosen none. */
const DEFAULT_TIME_ZONE = "UTC";

/** Four hours. */
const DEFAULT_LATE_AFTER_MINUTES = 240;

/** SQL for rows of live workspaces: no alert is about a test twin. */
export const IS_LIVE =
  "not exists (select from workspace where id = workspace_id and twin_of is not null)";

/**
 * A team account, which shipments, customers and API keys belong to; or the test twin of one, which is a
 * workspace of its own so that nothing of both can meet.
 */
export const Workspace = defineEntity({
  name: "Workspace",
  tableName: "workspace",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    /** A twin goes by that of its live workspace. */
    name: p.text(),
    createdAt: p.datetime(3),
    /** Since when its calls are refused; null while they are not. A twin goes by its live workspace. */
    suspendedAt: p.datetime(3).nullable(),
    /** The live workspace that it is the test twin of; null for a live one. Workspaces are never deleted. */
    twinOf: p.bigint("number").nullable().unique("workspace_twin"),
    /** The IANA name of the time zone whose days its reports are by. A twin goes by that of its live workspace. */
    timeZone: p.text().default(DEFAULT_TIME_ZONE),
    /** Age at which a shipment without windows is late, in minutes after its booking. A twin has its live workspace's. */
    lateAfterMinutes: p.integer().default(DEFAULT_LATE_AFTER_MINUTES),
    /** The account that the platform made for it last at a payment provider, connected or not; null for none. */
    providerAccount: p.text().nullable(),
    /** Counts the attempts at making the next one from 1. */
    accountAttempt: p.integer().default(1),
    /** Whether its shipments have tracking links. A twin goes by that of its live workspace, as in the contact. */
    trackingEnabled: p.boolean().default(true),
    /** Whether tracking pages show the courier of a shipment in transit. */
    trackingShowsCourier: p.boolean().default(true),
    /** Whether recipients are told by mail what happens to their shipments. */
    notifiesRecipients: p.boolean().default(false),
    /** Whom the recipient of a shipment may ask: a phone number, an email or a web address; null for nobody. */
    trackingContact: p.text().nullable(),
    /** A PNG that tracking pages show; null for none. Not loaded unless it is asked for. */
    trackingLogo: p.blob().nullable().lazy(),
    /** What makes the tracking links; null until it is first needed. A twin has its own. */
    trackingSlug: p.text().nullable(),
    trackingSecret: p.text().nullable(),
  },
  indexes: [
    { name: "workspace_by_name", properties: ["name", "id"] },
    {
      name: "workspace_tracking_slug",
      expression: `create unique index "workspace_tracking_slug" on "workspace" ("tracking_slug")`,
    },
  ],
  checks: [{ name: "workspace_name_given", expression: "name <> ''" }],
});

export type Workspace = InferEntity<typeof Workspace>;

/**
 * The workspace of an id, with its row locked until the transaction ends, so that changes of a
 * workspace and its keys come one after the other; null when there is none.
 */
export async function lockWorkspace(tx: EntityManager, id: number): Promise<Workspace | null> {
  await runStatement(tx, LOCK_WORKSPACE, [id]);
  return tx.findOne(Workspace, id);
}

/** The workspace that a workspace goes by in name, suspension, members and time zone: itself unless it is a twin. */
export async function findLive(em: EntityManager, workspace: Workspace): Promise<Workspace> {
  return workspace.twinOf ? em.findOneOrFail(Workspace, workspace.twinOf) : workspace;
}

/** `no key update`, so that rows that refer to the workspace can be inserted meanwhile. */
const LOCK_WORKSPACE = "select from workspace where id = $1 for no key update";

/** SQL that joins to `workspace` the `live` one that it goes by: itself unless it is a twin. */
export const IS_LIVE_OF = "live.id = coalesce(workspace.twin_of, workspace.id)";

const TIME_ZONE = `
  select live.time_zone as "timeZone"
  from workspace join workspace as live on ${IS_LIVE_OF}
  where workspace.id = $1`;

/** The IANA name of the time zone of a workspace, which a twin has from its live workspace. */
export async function findTimeZone(em: EntityManager, workspace: number): Promise<string> {
  const [row] = await runStatement<{ timeZone: string }>(em, TIME_ZONE, [workspace]);
  return row!.timeZone;
}

/**
 * The time zone that a request names; the one of who has chosen none for an empty text.
 *
 * @throws Refusal FIELD_INVALID
 */
export function parseTimeZone(text: string): string {
  if (text === "") return DEFAULT_TIME_ZONE;
  if (isTimeZone(text)) return text;
  const fault = "time_zone must be the IANA name of a time zone, such as Europe/Berlin.";
  throw refuse("FIELD_INVALID", fault, { subject: "time_zone" });
}
