import { LRUCache } from "lru-cache";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { IS_LIVE_OF } from "./workspace.entity.ts";
import {
  createTrackingKey,
  trackingLink,
  type TrackingKey,
} from "../../domain/shipment/tracking-link.ts";

/** The address at which whoever waits for a shipment sees where it is. */
export type TrackingUrlOf = (reference: string) => string;

/** Finds what makes the tracking links of a workspace; undefined where it has none. */
export type FindTrackingUrls = (
  em: EntityManager,
  workspace: number,
) => Promise<TrackingUrlOf | undefined>;

/** Of workspaces, for calls of the service itself; those of callers are kept with their keys. */
const MAX_KNOWN = 10_000;
const KNOWN_MS = 5_000;

const FIND = `
  select live.tracking_enabled as enabled, workspace.tracking_slug as slug,
    workspace.tracking_secret as secret
  from workspace join workspace as live on ${IS_LIVE_OF}
  where workspace.id = $1`;

/** Of two processes that do it at once, one is first. */
const INSERT_KEY = `
  update workspace set tracking_slug = $2, tracking_secret = $3
  where id = $1 and tracking_secret is null`;

/**
 * Builds the look-up. A workspace gets its key when that is first needed: so no booking writes one.
 *
 * @param publicUrl where browsers reach the service; without it, there are no links
 */
export function createFindTrackingUrls(publicUrl: string | undefined): FindTrackingUrls {
  if (publicUrl === undefined) return async () => undefined;
  return async (em, workspace) => {
    const key = await findKey(em, workspace);
    return key && ((reference) => `${publicUrl}/t/${trackingLink(key, reference)}`);
  };
}

async function findKey(
  em: EntityManager,
  workspace: number,
  wasInserted = false,
): Promise<TrackingKey | undefined> {
  const [found] = await runStatement<{ enabled: boolean } & TrackingKey>(em, FIND, [workspace]);
  if (!found?.enabled) return undefined;
  if (found.secret !== null) return found;
  if (wasInserted) return undefined;
  const { slug, secret } = createTrackingKey();
  // Where nothing can be written just now, reads go on without links.
  await runStatement(em, INSERT_KEY, [workspace, slug, secret]).catch(() => undefined);
  return findKey(em, workspace, true);
}

/** Keeps what was found for a few seconds. */
export function rememberTrackingUrls(find: FindTrackingUrls): FindTrackingUrls {
  const known = new LRUCache<number, { readonly urlOf: TrackingUrlOf | undefined }>({
    max: MAX_KNOWN,
    ttl: KNOWN_MS,
  });
  return async (em, workspace) => {
    const kept = known.get(workspace);
    if (kept !== undefined) return kept.urlOf;
    const urlOf = await find(em, workspace);
    known.set(workspace, { urlOf });
    return urlOf;
  };
}
