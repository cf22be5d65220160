import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { isTimeZone } from "../../domain/time-zone.ts";
import { runStatement } from "../../db/statement.ts";

const DEFAULT_TIME_ZONE = "UTC";

/** Default of `lateAfterMinutes`: four hours. */
const DEFAULT_LATE_AFTER_MINUTES = 240;

/** SQL condition for rows of live workspaces. Used for alerts, which test twins do not raise. */
export const IS_LIVE = "not exists (select from workspace where id = workspace_id and twin_of is not null)";

/**
 * A team account that owns shipments, customers and API keys, or its test twin. A twin is a
 * separate workspace, so live and test data cannot mix.
 */
export const Workspace = defineEntity({
  name: "Workspace",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    /** A twin uses the name of its live workspace. */
    name: p.text(),
    createdAt: p.datetime(3),
    /**
     * Start of a suspension, during which calls are refused. null if active. A twin uses the value
     * of its live workspace.
     */
    suspendedAt: p.datetime(3).nullable(),
    /** Live workspace of a test twin. null for a live workspace. Workspaces are never deleted. */
    twinOf: p.bigint("number").nullable().unique("workspace_twin"),
    /** IANA time zone for days in reports. A twin uses the value of its live workspace. */
    timeZone: p.text().default(DEFAULT_TIME_ZONE),
    /**
     * Time after booking at which a shipment without windows is late, in minutes. A twin uses the value of its live
     * workspace.
     */
    lateAfterMinutes: p.integer().default(DEFAULT_LATE_AFTER_MINUTES),
    /**
     * Last account that the platform created for the workspace at a provider, even if not connected. null if absent.
     */
    providerAccount: p.text().nullable(),
    /** Number of the next attempt to create an account, from 1. */
    accountAttempt: p.integer().default(1),
    /** Whether shipments have tracking links. A twin uses this value and the contact of its live workspace. */
    trackingEnabled: p.boolean().default(true),
    /** Whether tracking pages show the courier of a shipment in transit. */
    trackingShowsCourier: p.boolean().default(true),
    /** Whether couriers can change the order of their stops. */
    couriersReorderStops: p.boolean().default(false),
    /** Whether couriers can share their location. */
    couriersShareLocation: p.boolean().default(true),
    /** Whether recipients are sent emails about their shipments. */
    notifiesRecipients: p.boolean().default(false),
    /** Contact for recipients: a phone number, an email or a URL. null if absent. */
    trackingContact: p.text().nullable(),
    /** PNG logo for tracking pages. null if absent. Loaded only on request. */
    trackingLogo: p.blob().nullable().lazy(),
    /** Part of tracking URLs. null until first needed. A twin has its own. */
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
 * Loads a workspace and locks its row until the transaction ends. The lock serializes changes to the workspace and its
 * payment connection. Returns null if the workspace does not exist.
 */
export async function lockWorkspace(tx: EntityManager, id: number): Promise<Workspace | null> {
  await runStatement(tx, LOCK_WORKSPACE, [id]);
  return tx.findOne(Workspace, id);
}

/**
 * Returns the live workspace of a test twin, or the workspace itself. The live workspace defines
 * name, suspension, members and time zone.
 */
export async function findLive(em: EntityManager, workspace: Workspace): Promise<Workspace> {
  return workspace.twinOf ? em.findOneOrFail(Workspace, workspace.twinOf) : workspace;
}

/** Uses `no key update`, which permits concurrent inserts of rows that refer to the workspace. */
const LOCK_WORKSPACE = "select from workspace where id = $1 for no key update";

/**
 * SQL condition that joins the live workspace, as `live`, to `workspace`. For a live workspace,
 * both are the same row.
 */
export const IS_LIVE_OF = "live.id = coalesce(workspace.twin_of, workspace.id)";

const TIME_ZONE = `
  select live.time_zone as "timeZone"
  from workspace join workspace as live on ${IS_LIVE_OF}
  where workspace.id = $1`;

/** Loads the IANA time zone of a workspace. A twin uses that of its live workspace. */
export async function findTimeZone(em: EntityManager, workspace: number): Promise<string> {
  const [row] = await runStatement<{ timeZone: string }>(em, TIME_ZONE, [workspace]);
  return row!.timeZone;
}

/**
 * Validates a requested time zone. Returns the default for an empty text.
 *
 * @throws Refusal FIELD_INVALID
 */
export function parseTimeZone(text: string): string {
  if (text === "") return DEFAULT_TIME_ZONE;
  if (isTimeZone(text)) return text;
  const error = "time_zone must be the IANA name of a time zone, such as Europe/Berlin.";
  throw refuse("FIELD_INVALID", error, { subject: "time_zone" });
}
