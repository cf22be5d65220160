import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { isTimeZone } from "../../domain/time-zone.ts";
import { runStatement } from "../../db/statement.ts";

/** Default time zone of a workspace. */
const DEFAULT_TIME_ZONE = "UTC";

/** Four hours. */
const DEFAULT_LATE_AFTER_MINUTES = 240;

/** SQL condition for rows of live workspaces. Test twins raise no alerts. */
export const IS_LIVE =
  "not exists (select from workspace where id = workspace_id and twin_of is not null)";

/**
 * A team account that owns shipments, customers and API keys, or the test twin of one. A twin is a separate
 * workspace, so live and test data cannot mix.
 */
export const Workspace = defineEntity({
  name: "Workspace",
  tableName: "workspace",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    /** A twin uses its live workspace's name. */
    name: p.text(),
    createdAt: p.datetime(3),
    /**
     * Start of the suspension, during which calls are refused. Null if active. A twin uses its live workspace's
     * value.
     */
    suspendedAt: p.datetime(3).nullable(),
    /** Live workspace of a test twin. Null for a live workspace. Workspaces are never deleted. */
    twinOf: p.bigint("number").nullable().unique("workspace_twin"),
    /** IANA time zone for days in reports. A twin uses its live workspace's value. */
    timeZone: p.text().default(DEFAULT_TIME_ZONE),
    /**
     * Age at which a shipment without windows is late, in minutes after its booking. A twin uses its live workspace's
     * value.
     */
    lateAfterMinutes: p.integer().default(DEFAULT_LATE_AFTER_MINUTES),
    /** The last account that the platform created for it at a provider, connected or not, or null. */
    providerAccount: p.text().nullable(),
    /** Number of the next attempt to create an account, from 1. */
    accountAttempt: p.integer().default(1),
    /** Whether shipments have tracking links. A twin uses its live workspace's value, also for the contact. */
    trackingEnabled: p.boolean().default(true),
    /** Whether tracking pages show the courier of a shipment in transit. */
    trackingShowsCourier: p.boolean().default(true),
    /** Whether recipients receive emails about their shipments. */
    notifiesRecipients: p.boolean().default(false),
    /** Contact for recipients: a phone number, an email or a URL, or null. */
    trackingContact: p.text().nullable(),
    /** PNG logo of tracking pages, or null. Loaded on request only. */
    trackingLogo: p.blob().nullable().lazy(),
    /** Part of tracking URLs. Null until first needed. A twin has a separate one. */
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
 * Returns a workspace with its row locked until the transaction ends, which serializes changes of a workspace and its
 * payment connection. Null if it does not exist.
 */
export async function lockWorkspace(tx: EntityManager, id: number): Promise<Workspace | null> {
  await runStatement(tx, LOCK_WORKSPACE, [id]);
  return tx.findOne(Workspace, id);
}

/**
 * Returns the live workspace of a test twin, or the workspace itself. It provides name, suspension, members and time
 * zone.
 */
export async function findLive(em: EntityManager, workspace: Workspace): Promise<Workspace> {
  return workspace.twinOf ? em.findOneOrFail(Workspace, workspace.twinOf) : workspace;
}

/** `no key update` permits concurrent inserts of rows that refer to the workspace. */
const LOCK_WORKSPACE = "select from workspace where id = $1 for no key update";

/** SQL condition that joins `live`, the live workspace of a test twin or the workspace itself, to `workspace`. */
export const IS_LIVE_OF = "live.id = coalesce(workspace.twin_of, workspace.id)";

const TIME_ZONE = `
  select live.time_zone as "timeZone"
  from workspace join workspace as live on ${IS_LIVE_OF}
  where workspace.id = $1`;

/** Returns the IANA time zone of a workspace. A twin uses its live workspace's. */
export async function findTimeZone(em: EntityManager, workspace: number): Promise<string> {
  const [row] = await runStatement<{ timeZone: string }>(em, TIME_ZONE, [workspace]);
  return row!.timeZone;
}

/**
 * Returns the requested time zone, or the default for an empty text.
 *
 * @throws Refusal FIELD_INVALID
 */
export function parseTimeZone(text: string): string {
  if (text === "") return DEFAULT_TIME_ZONE;
  if (isTimeZone(text)) return text;
  const error = "time_zone must be the IANA name of a time zone, such as Europe/Berlin.";
  throw refuse("FIELD_INVALID", error, { subject: "time_zone" });
}
