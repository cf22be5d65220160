import type { EntityManager } from "./orm.ts";
import { CHANGES_CHANNEL } from "./change-feed.ts";

/**
 * Tells every process, when the caller's transaction commits, to look for changed keys and tariffs.
 */
export async function announceChange(em: EntityManager): Promise<void> {
  await em.execute("select pg_notify(?, '')", [CHANGES_CHANNEL]);
}
