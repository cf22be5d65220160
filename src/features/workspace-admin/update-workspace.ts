import { hash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RotateTrackingLinksResponseSchema,
  UpdateWorkspaceRequest,
  UpdateWorkspaceResponseSchema,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { invalidField } from "../../domain/refusal.ts";
import { cleanPng } from "../../domain/shipment/clean-png.ts";
import { createTrackingKey } from "../../domain/shipment/tracking-link.ts";
import type { Call } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { evictKeys } from "../credentials/secret-keys.ts";
import { loadWorkspace, type WorkspaceDeps } from "../workspaces/get-workspace.ts";
import { evictKeysOfBoth } from "./admin-workspaces.ts";
import { lockWorkspace, parseTimeZone, type Workspace } from "../workspaces/workspace.entity.ts";

export async function updateWorkspace(
  request: UpdateWorkspaceRequest,
  call: Call,
  { em, ...deps }: WorkspaceDeps,
): Promise<MessageInitShape<typeof UpdateWorkspaceResponseSchema>> {
  const { workspaceId } = call.caller;
  const { timeZone, trackingEnabled, trackingShowsCourier, trackingContact } = request;
  const { notifiesRecipients, trackingLogo, lateAfterMinutes } = request;
  const { couriersReorderStops, couriersShareLocation } = request;
  const parsed = timeZone === undefined ? undefined : parseTimeZone(timeZone);
  const logo = trackingLogo && (await parseLogo(trackingLogo));
  const workspace = (await lockWorkspace(em, workspaceId))!;
  await em.populate(workspace, ["trackingLogo"]);
  const before = recordedOf(workspace);
  workspace.timeZone = parsed ?? workspace.timeZone;
  workspace.trackingEnabled = trackingEnabled ?? workspace.trackingEnabled;
  workspace.trackingShowsCourier = trackingShowsCourier ?? workspace.trackingShowsCourier;
  workspace.notifiesRecipients = notifiesRecipients ?? workspace.notifiesRecipients;
  workspace.lateAfterMinutes = lateAfterMinutes ?? workspace.lateAfterMinutes;
  workspace.couriersReorderStops = couriersReorderStops ?? workspace.couriersReorderStops;
  workspace.couriersShareLocation = couriersShareLocation ?? workspace.couriersShareLocation;
  if (logo !== undefined) workspace.trackingLogo = logo;
  if (trackingContact !== undefined) workspace.trackingContact = trackingContact || null;
  await em.flush();
  const changes = changesBetween(before, recordedOf(workspace));
  if (changes.some(({ field }) => KEPT_WITH_KEYS.includes(field))) {
    await evictKeysOfBoth(em, workspace);
  }
  if (changes.length > 0) {
    recordChange(em, call, { subject: `workspace/${workspaceId}`, workspaceId, changes });
  }
  return { data: await loadWorkspace(em, call, deps) };
}

const MAX_LOGO_BYTES = 16 * 1024;

/**
 * Validates a logo and returns its stored form, or null if it is empty.
 *
 * @throws Refusal FIELD_INVALID if it is not a PNG of at most 16 KiB
 */
async function parseLogo(bytes: Uint8Array): Promise<Buffer | null> {
  if (bytes.length === 0) return null;
  const { picture, error } = await cleanPng(bytes);
  if (picture !== undefined && picture.length <= MAX_LOGO_BYTES) return picture;
  throw invalidField("tracking_logo", `${error ?? "must be at most 16 KiB"}.`);
}

/** Settings that are cached with the workspace's keys. */
const KEPT_WITH_KEYS = ["tracking_enabled", "notifies_recipients"];

/** Returns the settings that a workspace can change, for the audit log. */
function recordedOf(workspace: Workspace) {
  return {
    time_zone: workspace.timeZone,
    tracking_enabled: workspace.trackingEnabled,
    tracking_shows_courier: workspace.trackingShowsCourier,
    tracking_contact: workspace.trackingContact,
    tracking_logo: workspace.trackingLogo && hash("sha256", workspace.trackingLogo).slice(0, 12),
    notifies_recipients: workspace.notifiesRecipients,
    late_after_minutes: workspace.lateAfterMinutes,
    couriers_reorder_stops: workspace.couriersReorderStops,
    couriers_share_location: workspace.couriersShareLocation,
  };
}

/** Replaces the secret in tracking links, which is cached with the workspace's keys. */
export async function rotateTrackingLinks(
  _request: unknown,
  call: Call,
  { em, ...deps }: WorkspaceDeps,
): Promise<MessageInitShape<typeof RotateTrackingLinksResponseSchema>> {
  const { workspaceId } = call.caller;
  const workspace = (await lockWorkspace(em, workspaceId))!;
  const { slug, secret } = createTrackingKey();
  const changes = changesBetween({ slug: workspace.trackingSlug }, { slug });
  Object.assign(workspace, { trackingSlug: slug, trackingSecret: secret });
  await em.flush();
  await evictKeys(em, "api_key", workspaceId);
  recordChange(em, call, { subject: `workspace/${workspaceId}`, workspaceId, changes });
  return { data: await loadWorkspace(em, call, deps) };
}
