import type { EntityManager } from "../../db/orm.ts";
import { hashApiKey, lastFour, mintApiKey } from "../../domain/api-key.ts";
import { ApiKey } from "./api-key.entity.ts";

/**
 * Adds a new key to a workspace in the caller's unit of work.
 *
 * @returns the key, which cannot be read again: only its hash is stored
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
