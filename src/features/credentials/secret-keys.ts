import { raw } from "@mikro-orm/postgresql";
import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import {
  hashKey,
  lastFour,
  createSecretKey,
  createKeyId,
  type KeyPrefix,
} from "../../domain/secret-key.ts";
import type { KeyTable } from "./recent-key-changes.ts";

/**
 * Now by the database's clock, in the whole milliseconds that are stored. Not the time at which the
 * transaction began: it may have waited for another.
 */
const NOW = "date_trunc('milliseconds', clock_timestamp())";

/**
 * The `changed_at` of a key that changes: later than at its last change, even if the transaction
 * began before that one. Replicas hold what they have read unless a later change is reported.
 */
const NEXT_CHANGE = "greatest(clock_timestamp(), changed_at + interval '1 millisecond')";

/** The columns that name whose the keys are. */
const OWNER: Readonly<Record<KeyTable, string>> = {
  api_key: "workspace_id",
  operator_key: "operator_id",
};

/**
 * Makes a secret key, and what a table of keys stores of it: its hash and last four characters, but
 * not the key, which cannot be read again.
 */
export function newKey(prefix: KeyPrefix) {
  const secret = createSecretKey(prefix);
  const now = raw<Date>(NOW);
  const stored = { hash: hashKey(secret), id: createKeyId(), last4: lastFour(secret) };
  return { secret, stored: { ...stored, createdAt: now, changedAt: now } };
}

/**
 * Ends keys after some seconds, or when they were to end anyway, whichever is sooner; 0 for at once.
 * Every process knows within a second of the commit.
 */
export async function endKeys(
  tx: EntityManager,
  table: KeyTable,
  hashes: readonly string[],
  afterSeconds: number,
): Promise<void> {
  if (hashes.length === 0) return;
  // `least` leaves out what is null.
  const end = `
    update ${table}
    set ends_at = least(ends_at, ${NOW} + make_interval(secs => $2)), changed_at = ${NEXT_CHANGE}
    where hash = any (array(select jsonb_array_elements_text($1::jsonb)))`;
  await runStatement(tx, end, [JSON.stringify(hashes), afterSeconds]);
  await announceChange(tx);
}

/**
 * Makes every process read the keys of an owner anew, within a second of the commit: what is cached
 * with them (a workspace's limits, an operator's role) changes in the caller's transaction.
 *
 * @param owner the id of the workspace or operator
 */
export async function evictKeys(tx: EntityManager, table: KeyTable, owner: number): Promise<void> {
  const change = `
    update ${table} set changed_at = ${NEXT_CHANGE}
    where ${OWNER[table]} = $1 and (ends_at is null or ends_at > now())`;
  await runStatement(tx, change, [owner]);
  await announceChange(tx);
}
