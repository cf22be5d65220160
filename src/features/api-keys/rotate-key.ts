import { LockMode, sql } from "@mikro-orm/postgresql";
import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import { addKey } from "./add-key.ts";
import { ApiKey } from "./api-key.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** How long old keys can go on working after a rotation, in seconds: 7 days. */
export const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/**
 * Gives a workspace a new key at once. Every other key ends after `overlapSeconds` (0 to
 * `MAX_OVERLAP_SECONDS`), or when it was to end anyway, whichever is sooner.
 *
 * @returns the new key, which cannot be read again; undefined when there is no such workspace
 */
export function rotateKey(
  em: EntityManager,
  workspaceId: number,
  overlapSeconds: number,
): Promise<string | undefined> {
  return em.fork().transactional(async (tx) => {
    // Locked, so that of two concurrent rotations the second ends the key of the first.
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
    if ((await tx.findOne(Workspace, workspaceId, lock)) === null) return undefined;
    const end = sql`now() + make_interval(secs => ${overlapSeconds})`;
    await tx.nativeUpdate(
      ApiKey,
      { workspace: workspaceId, $or: [{ endsAt: null }, { endsAt: { $gt: end } }] },
      { endsAt: end, changedAt: sql`now()` },
    );
    await announceChange(tx);
    return await addKey(tx, workspaceId);
  });
}
