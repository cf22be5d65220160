import { sql } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { hashKey, lastFour, mintKey, mintKeyId } from "../../domain/secret-key.ts";
import { ApiKey } from "./api-key.entity.ts";

/**
 * Adds a new key to a workspace in the caller's transaction.
 *
 * @returns the key, which cannot be read again: only its hash is stored
 */
export async function addKey(em: EntityManager, workspaceId: number): Promise<string> {
  const apiKey = mintKey("shp_");
  await em.insert(ApiKey, {
    hash: hashKey(apiKey),
    id: mintKeyId(),
    workspace: workspaceId,
    last4: lastFour(apiKey),
    // The database's clock: later changes are told from earlier ones by it.
    createdAt: sql`now()`,
    changedAt: sql`now()`,
  });
  return apiKey;
}
