import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** How many rows one statement deletes, so that no transaction grows long. */
const BATCH = 1_000;

/** What has ended: by when, and, for sessions, because nobody used them. */
const ENDED = {
  sign_in_link: "ends_at < now()",
  spent_attempt: "ends_at < now()",
  session: "ends_at < now() or last_seen_at < now() - interval '12 hours'",
} as const;

/** Deletes sign-in links, attempts and sessions that have ended, in batches, and tells how many. */
export async function purgeSignIns(em: EntityManager): Promise<number> {
  let count = 0;
  for (const [table, ended] of Object.entries(ENDED)) {
    let deleted: number;
    do {
      const rows = await runStatement(
        em.fork(),
        `delete from ${table} where hash in (
           select hash from ${table} where ${ended} limit $1 for update skip locked)
         returning 1`,
        [BATCH],
      );
      deleted = rows.length;
      count += deleted;
    } while (deleted === BATCH);
  }
  return count;
}
