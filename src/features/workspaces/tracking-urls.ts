import { LRUCache } from "lru-cache";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import { IS_LIVE_OF } from "./workspace.entity.ts";
import {
  createTrackingKey,
  trackingLink,
  type TrackingKey,
} from "../../domain/shipment/tracking-link.ts";

type Tracking = Pick<WorkspaceCaller, "trackingUrlOf" | "notifiesRecipients">;

/** Finds what makes the tracking links of a workspace, and whether they are sent to recipients. */
export type FindTracking = (em: EntityManager, workspace: number) => Promise<Tracking>;

const UNTRACKED: Tracking = { trackingUrlOf: undefined, notifiesRecipients: false };

/** Of workspaces, for calls of the service itself; those of callers are kept with their keys. */
const MAX_KNOWN = 10_000;
const KNOWN_MS = 5_000;

const FIND = `
  select live.tracking_enabled as enabled, workspace.tracking_slug as slug,
    workspace.tracking_secret as secret,
    live.notifies_recipients and workspace.twin_of is null as "notifiesRecipients"
  from workspace join workspace as live on ${IS_LIVE_OF}
  where workspace.id = $1`;

/** Of two processes that do it at once, one is first. */
const INSERT_KEY = `
  update workspace set tracking_slug = $2, tracking_secret = $3
  where id = $1 and tracking_secret is null`;

type Found = TrackingKey & { readonly enabled: boolean; readonly notifiesRecipients: boolean };

/**
 * Builds the look-up. A workspace gets its key when that is first needed: so no booking writes one.
 *
 * @param publicUrl where browsers reach the service; without it, there are no links
 * @param sendsMails whether there is a mail server: without it, recipients are told nothing, as in test mode
 */
export function createFindTracking(
  publicUrl: string | undefined,
  sendsMails: boolean,
): FindTracking {
  if (publicUrl === undefined) return async () => UNTRACKED;
  return async (em, workspace) => {
    const key = await findKey(em, workspace);
    if (key === undefined) return UNTRACKED;
    return {
      trackingUrlOf: (reference) => trackingUrl(publicUrl, key, reference),
      notifiesRecipients: sendsMails && key.notifiesRecipients,
    };
  };
}

/** The address at which whoever waits for a shipment sees where it is. */
export function trackingUrl(publicUrl: string, key: TrackingKey, reference: string): string {
  return `${publicUrl}/t/${trackingLink(key, reference)}`;
}

async function findKey(
  em: EntityManager,
  workspace: number,
  wasInserted = false,
): Promise<Found | undefined> {
  const [found] = await runStatement<Found>(em, FIND, [workspace]);
  if (!found?.enabled) return undefined;
  if (found.secret !== null) return found;
  if (wasInserted) return undefined;
  const { slug, secret } = createTrackingKey();
  // Where nothing can be written just now, reads go on without links.
  await runStatement(em, INSERT_KEY, [workspace, slug, secret]).catch(() => undefined);
  return findKey(em, workspace, true);
}

/** Keeps what was found for a few seconds. */
export function rememberTracking(find: FindTracking): FindTracking {
  const known = new LRUCache<number, Tracking>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  return async (em, workspace) => {
    const kept = known.get(workspace);
    if (kept !== undefined) return kept;
    const found = await find(em, workspace);
    known.set(workspace, found);
    return found;
  };
}
