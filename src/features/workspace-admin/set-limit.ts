import { sql } from "@mikro-orm/postgresql";
import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { LimitClass, RateLimit, RateLimits } from "../../domain/rate-limit.ts";
import { ApiKey } from "../api-keys/api-key.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { findLimits } from "../workspaces/find-limits.ts";
import { WorkspaceLimit } from "../workspaces/workspace-limit.entity.ts";

/**
 * Sets the rate limit of a workspace for one class of methods; every process uses it within a
 * second.
 *
 * @returns all limits now in force; undefined when there is no such workspace
 */
export function setLimit(
  em: EntityManager,
  workspaceId: number,
  limitClass: LimitClass,
  limit: RateLimit,
): Promise<RateLimits | undefined> {
  return em.fork().transactional(async (tx) => {
    if ((await tx.findOne(Workspace, workspaceId)) === null) return undefined;
    await tx.upsert(WorkspaceLimit, { workspace: workspaceId, limitClass, ...limit });
    // Limits are cached with the keys of the workspace, so changing the keys evicts them.
    await tx.nativeUpdate(ApiKey, { workspace: workspaceId }, { changedAt: sql`now()` });
    await announceChange(tx);
    return await findLimits(tx, workspaceId);
  });
}
