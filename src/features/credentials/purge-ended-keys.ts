import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { KEY_TABLES, type KeyTable } from "./recent-key-changes.ts";

/** How many keys one statement deletes, so that no transaction grows long. */
const BATCH = 1_000;

/**
 * Deletes the keys that ended more than 90 days ago, by the database's clock. Replicas that purge at
 * the same time share the work.
 */
export async function purgeEndedKeys(em: EntityManager): Promise<void> {
  for (const table of KEY_TABLES) await purge(em, table);
}

async function purge(em: EntityManager, table: KeyTable): Promise<void> {
  let purged: unknown[];
  do {
    purged = await runStatement(
      em.fork(),
      `delete from ${table} where hash in (
         select hash from ${table} where ends_at < now() - interval '90 days'
         order by ends_at limit $1 for update skip locked
       ) returning 1`,
      [BATCH],
    );
  } while (purged.length === BATCH);
}
