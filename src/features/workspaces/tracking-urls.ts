import { LRUCache } from "lru-cache";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import { IS_LIVE_OF } from "./workspace.entity.ts";
import { createTrackingKey, trackingLink, type TrackingKey } from "../../domain/shipment/tracking-link.ts";

type Tracking = Pick<WorkspaceCaller, "trackingUrlOf" | "notifiesRecipients">;

/** Finds the data for a workspace's tracking links, and whether recipients receive emails. */
export type FindTracking = (em: EntityManager, workspace: number) => Promise<Tracking>;

const UNTRACKED: Tracking = { trackingUrlOf: undefined, notifiesRecipients: false };

/**
 * Maximum number of cached workspaces. The cache serves internal calls. For other calls, the data is cached with the
 * caller's key.
 */
const MAX_KNOWN = 10_000;
const KNOWN_MS = 5_000;

const FIND = `
  select live.tracking_enabled as enabled, workspace.tracking_slug as slug,
    workspace.tracking_secret as secret,
    live.notifies_recipients and workspace.twin_of is null as "notifiesRecipients"
  from workspace join workspace as live on ${IS_LIVE_OF}
  where workspace.id = $1`;

/** Sets a workspace's tracking key. If two processes do so concurrently, the first one wins. */
const INSERT_KEY = `
  update workspace set tracking_slug = $2, tracking_secret = $3
  where id = $1 and tracking_secret is null`;

type Found = TrackingKey & { readonly enabled: boolean; readonly notifiesRecipients: boolean };

/**
 * Creates the lookup. A workspace gets its tracking key at the first lookup, so bookings do not have to write it.
 *
 * @param publicUrl URL of the service for browsers. Without it, there are no links
 * @param sendsMails whether a mail server is configured. Without one, and in test mode, recipients receive no emails
 */
export function createFindTracking(publicUrl: string | undefined, sendsMails: boolean): FindTracking {
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

export function trackingUrl(publicUrl: string, key: TrackingKey, reference: string): string {
  return `${publicUrl}/t/${trackingLink(key, reference)}`;
}

async function findKey(em: EntityManager, workspace: number, wasInserted = false): Promise<Found | undefined> {
  const [found] = await runStatement<Found>(em, FIND, [workspace]);
  if (!found?.enabled) return undefined;
  if (found.secret !== null) return found;
  if (wasInserted) return undefined;
  const { slug, secret } = createTrackingKey();
  // Ignores the error of a read-only database, so that reads continue without links.
  await runStatement(em, INSERT_KEY, [workspace, slug, secret]).catch(() => undefined);
  return findKey(em, workspace, true);
}

/** Wraps a lookup so that results are cached for a few seconds. */
export function rememberTracking(find: FindTracking): FindTracking {
  const known = new LRUCache<number, Tracking>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  return async (em, workspace) => {
    const cached = known.get(workspace);
    if (cached !== undefined) return cached;
    const found = await find(em, workspace);
    known.set(workspace, found);
    return found;
  };
}
