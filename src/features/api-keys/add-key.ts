import { sql } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { hashKey, lastFour, mintKey, mintKeyId } from "../../domain/secret-key.ts";
import { ApiKey } from "./api-key.entity.ts";

/** A new key, and its secret, which cannot be read again: only its hash is stored. */
export interface AddedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/**
 * Adds a new key to a workspace in the caller's transaction.
 *
 * @param name what the key is for; null when nobody says
 */
export async function addKey(
  tx: EntityManager,
  workspaceId: number,
  name: string | null,
): Promise<AddedKey> {
  const secret = mintKey("shp_");
  const hash = hashKey(secret);
  await tx.insert(ApiKey, {
    hash,
    id: mintKeyId(),
    workspace: workspaceId,
    name,
    last4: lastFour(secret),
    // The database's clock: later changes are told from earlier ones by it.
    createdAt: sql`now()`,
    changedAt: sql`clock_timestamp()`,
  });
  return { key: await tx.findOneOrFail(ApiKey, hash), secret };
}
