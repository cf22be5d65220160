import type { EntityManager } from "./orm.ts";
import { runStatement } from "./statement.ts";
import { CHANGES_CHANNEL } from "./change-feed.ts";

/**
 * Tells every process, when the caller's transaction commits, to look for changed keys and tariffs.
 */
export async function announceChange(em: EntityManager): Promise<void> {
  await runStatement(em, "select pg_notify($1, '')", [CHANGES_CHANNEL]);
}
