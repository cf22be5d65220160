import { raw, sql } from "@mikro-orm/postgresql";
import { announceChange } from "../../db/change-feed.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import { createId, createSecretKey, hashKey, lastFour, type KeyPrefix } from "../../domain/secret-key.ts";

// Secret keys of workspaces and operators: creation, rotation, expiry and deletion.

export const KEY_TABLES = ["api_key", "operator_key"] as const;

export type KeyTable = (typeof KEY_TABLES)[number];

const OWNER: Readonly<Record<KeyTable, string>> = {
  api_key: "workspace_id",
  operator_key: "operator_id",
};

interface StoredKey {
  readonly hash: string;
  readonly id: string;
  readonly endsAt?: Date | null;
}

/**
 * SQL for the current time of the database, in whole milliseconds. Uses the time of the statement, because the
 * transaction may have waited for another transaction since it began. A cluster rejects `clock_timestamp()` in updates,
 * because it may differ between nodes.
 */
const NOW = "date_trunc('milliseconds', statement_timestamp())";

/**
 * SQL for the new `changed_at` of a key. Always later than the previous value, even if the
 * transaction began earlier, because replicas ignore changes that are not newer. A cluster accepts only
 * expressions that do not depend on the session's time zone.
 */
const NEXT_CHANGE = `greatest(
  statement_timestamp(), (changed_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC')`;

export const OLDEST_FIRST = { createdAt: "asc", id: "asc" } as const;

/** Returns the condition that a key is active by the database's clock. See `NOW`. */
export function isWorking() {
  return { $or: [{ endsAt: null }, { endsAt: { $gt: sql`clock_timestamp()` } }] };
}

/** Creates a secret key. Only the hash and the last four characters are stored, so the key cannot be read again. */
export function createKey(prefix: KeyPrefix) {
  const secret = createSecretKey(prefix);
  const now = raw<Date>(NOW);
  const stored = { hash: hashKey(secret), id: createId("key"), last4: lastFour(secret) };
  return { secret, stored: { ...stored, createdAt: now, changedAt: now } };
}

/**
 * Finds a key by id among an owner's active keys.
 *
 * @throws Refusal API_KEY_NOT_FOUND, also for an expired key and another owner's key
 */
export function pickKey<Key extends StoredKey>(working: readonly Key[], id: string): Key {
  const found = working.find((key) => key.id === id);
  if (found === undefined) throw refuse("API_KEY_NOT_FOUND");
  return found;
}

/**
 * Checks that an owner keeps another key without an expiry. Without such a key, the owner could
 * soon create no more keys.
 *
 * @param of kind of the keys
 * @throws Refusal API_KEY_LAST
 */
export function assertNotLast<Key extends StoredKey>(
  key: Key,
  working: readonly Key[],
  of: "with full scope" | "of yours",
): void {
  const others = working.filter((other) => other !== key);
  if (others.some(({ endsAt }) => key.endsAt || !endsAt)) return;
  const last = key.endsAt ? "active key" : "key without expiry";
  const text = `This is the last ${last} ${of}. Create another one first.`;
  throw refuse("API_KEY_LAST", text, { subject: "api_key" });
}

/**
 * Default overlap in seconds if a call rotates its own key. If the response is lost, a retry needs
 * the old key, because only that key can read the stored response.
 */
const OVERLAP_OF_CURRENT_SECONDS = 600;

/**
 * Returns the overlap of a rotated key, in seconds.
 *
 * @param requested requested overlap, if any
 * @param current id of the API key that authenticated the call, if any
 */
export function overlapSecondsOf(key: string, requested: number | undefined, current: string | undefined): number {
  return requested ?? (key === current ? OVERLAP_OF_CURRENT_SECONDS : 0);
}

export interface ExpiredKey {
  readonly id: string;
  /** Previous expiry. null if the key did not expire. */
  readonly before: Date | null;
  readonly endsAt: Date;
}

/**
 * Lets keys expire after the given number of seconds (0 for immediately), unless they expire
 * earlier. All processes see the change within a second of the commit.
 *
 * @returns the new expiries, in the order of the keys
 */
export async function expireKeys(
  tx: EntityManager,
  table: KeyTable,
  keys: readonly StoredKey[],
  afterSeconds: number,
): Promise<ExpiredKey[]> {
  if (keys.length === 0) return [];
  // `least` ignores null.
  const rows = await runStatement<{ hash: string; endsAtMs: number }>(
    tx,
    `update ${table}
     set ends_at = least(ends_at, ${NOW} + make_interval(secs => $2)), changed_at = ${NEXT_CHANGE}
     where hash = any (array(select jsonb_array_elements_text($1::jsonb)))
     returning hash, (extract(epoch from ends_at at time zone 'UTC') * 1000)::float8 as "endsAtMs"`,
    [JSON.stringify(keys.map(({ hash }) => hash)), afterSeconds],
  );
  await announceChange(tx);
  const endOf = new Map(rows.map(({ hash, endsAtMs }) => [hash, new Date(endsAtMs)]));
  return keys.map(({ id, hash, endsAt: before = null }) => ({
    id,
    before,
    endsAt: endOf.get(hash)!,
  }));
}

/**
 * Makes all processes reload the keys of an owner within a second of the commit. Needed if the caller's transaction
 * changes data that is cached with the keys, such as a workspace's limits or an operator's role.
 *
 * @param owner id of the workspace or operator
 */
export async function evictKeys(tx: EntityManager, table: KeyTable, owner: number): Promise<void> {
  const change = `
    update ${table} set changed_at = ${NEXT_CHANGE}
    where ${OWNER[table]} = $1 and (ends_at is null or ends_at > now())`;
  await runStatement(tx, change, [owner]);
  await announceChange(tx);
}

/**
 * Deletes keys that expired more than 90 days ago by the database's clock. Replicas can run it concurrently.
 *
 * @returns the number of deleted keys
 */
export async function purgeKeys(em: EntityManager): Promise<number> {
  let count = 0;
  for (const table of KEY_TABLES) {
    count += await deleteInBatches(
      em,
      `delete from ${table} where hash = any (array(
         select hash from ${table} where ends_at < now() - interval '90 days'
         order by ends_at limit $1 for update skip locked
       )) returning 1`,
    );
  }
  return count;
}
