import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { KEY_TABLES, type KeyTable } from "./recent-key-changes.ts";

/** How many keys one statement deletes, so that no transaction grows long. */
const BATCH = 1_000;

/**
 * Deletes the keys that ended more than 90 days ago, by the database's clock. Replicas that purge at
 * the same time share the work.
 *
 * @returns how many it deleted
 */
export async function purgeEndedKeys(em: EntityManager): Promise<number> {
  let count = 0;
  for (const table of KEY_TABLES) count += await purge(em, table);
  return count;
}

async function purge(em: EntityManager, table: KeyTable): Promise<number> {
  let count = 0;
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
    count += purged.length;
  } while (purged.length === BATCH);
  return count;
}
