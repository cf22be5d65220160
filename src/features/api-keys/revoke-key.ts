import { sql } from "@mikro-orm/postgresql";
import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import { ApiKey, isWorking } from "./api-key.entity.ts";

/**
 * Ends, at once, the working keys of a workspace that have these last four characters.
 *
 * @returns how many keys it ended; 0 when the workspace has no such key
 */
export function revokeKey(em: EntityManager, workspaceId: number, last4: string): Promise<number> {
  return em.fork().transactional(async (tx) => {
    const revoked = await tx.nativeUpdate(
      ApiKey,
      { workspace: workspaceId, last4, ...isWorking() },
      { endsAt: sql`now()`, changedAt: sql`now()` },
    );
    await announceChange(tx);
    return revoked;
  });
}
