import type { EntityManager } from "../../db/orm.ts";
import { hashApiKey, lastFour, mintApiKey } from "../../domain/api-key.ts";
import { ApiKey } from "./api-key.entity.ts";

/**
 * Adds a new key to a workspace in the caller's transaction; gives the key, of which only the hash
 * is kept.
 */
export function addKey(em: EntityManager, workspaceId: number, now: Date): string {
  const apiKey = mintApiKey();
  em.create(ApiKey, {
    hash: hashApiKey(apiKey),
    workspace: workspaceId,
    last4: lastFour(apiKey),
    createdAt: now,
    changedAt: now,
  });
  return apiKey;
}
