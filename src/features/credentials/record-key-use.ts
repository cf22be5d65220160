import type { Logger } from "pino";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Caller } from "../../pipeline/call.ts";
import type { KeyCache } from "./key-cache.ts";
import { KEY_TABLES, type KeyTable } from "./secret-keys.ts";

const RECORD_MS = 10_000;

/** Maximum number of used keys per table that wait to be recorded. They accumulate during a database outage. */
const MAX_WAITING = 20_000;

/** Creates the recorder that stores when cached keys were last used. */
export function createKeyUseRecorder(options: {
  readonly em: EntityManager;
  readonly log: Pick<Logger, "warn">;
  readonly keys: Readonly<Record<KeyTable, Pick<KeyCache<Caller>, "drainUsed">>>;
}) {
  const { em, log, keys } = options;
  const waiting: Record<KeyTable, readonly string[]> = { api_key: [], operator_key: [] };

  async function recordTable(table: KeyTable): Promise<void> {
    const used = [...new Set([...waiting[table], ...keys[table].drainUsed()])];
    waiting[table] = used.slice(0, MAX_WAITING);
    if (used.length === 0) return;
    const skipped = await runStatement<{ hash: string }>(em.fork(), recordSql(table), [JSON.stringify(waiting[table])]);
    waiting[table] = skipped.map(({ hash }) => hash);
  }

  async function recordTables(): Promise<void> {
    for (const table of KEY_TABLES) {
      await recordTable(table).catch((error: unknown) => {
        log.warn({ err: error, table }, "last use of keys not recorded");
      });
    }
  }

  let recording = Promise.resolve();
  return {
    /**
     * Stores the uses since the last call. Concurrent calls wait for each other. Returns the delay
     * until the next call, in milliseconds. Failures are logged and retried with the next call.
     */
    async record(): Promise<number> {
      recording = recording.then(recordTables);
      await recording;
      return RECORD_MS;
    },
  };
}

/**
 * Returns SQL that sets the last use of keys and returns the keys that other transactions have
 * locked. It does not wait for locks, so replicas that store the same keys cannot deadlock.
 * `changed_at` stays the same, because cached data is unaffected.
 */
function recordSql(table: KeyTable): string {
  return `
    with used as (
      select jsonb_array_elements_text($1::jsonb) as hash
    ), free as (
      select hash from ${table} where hash = any (array(select hash from used))
      order by hash for no key update skip locked
    ), recorded as (
      update ${table} set last_used_at = greatest(last_used_at, now())
      from free where ${table}.hash = free.hash
      returning ${table}.hash
    )
    select hash from ${table}
    where hash = any (array(select hash from used)) and hash not in (select hash from recorded)`;
}
