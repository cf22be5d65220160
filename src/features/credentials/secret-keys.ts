import { raw, sql } from "@mikro-orm/postgresql";
import { announceChange } from "../../db/change-feed.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import {
  createKeyId,
  createSecretKey,
  hashKey,
  lastFour,
  type KeyPrefix,
} from "../../domain/secret-key.ts";

// The life of a secret key, of workspaces and of operators alike: created, rotated, expired, purged.

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
 * Now by the database's clock, in the whole milliseconds that are stored. Not the time at which the
 * transaction began: it may have waited for another. Nor `clock_timestamp()`, which Citus takes in no
 * update, since it may differ from node to node.
 */
const NOW = "date_trunc('milliseconds', statement_timestamp())";

/**
 * The `changed_at` of a key that changes: later than at its last change, even if the transaction
 * began before that one. Replicas hold what they have read unless a later change is reported. Of a
 * column, Citus takes what does not depend on the session's time zone alone.
 */
const NEXT_CHANGE = `greatest(
  statement_timestamp(), (changed_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC')`;

export const OLDEST_FIRST = { createdAt: "asc", id: "asc" } as const;

/** The condition that a key works now, by the database's clock and not by its `now()`; see `NOW`. */
export function isWorking() {
  return { $or: [{ endsAt: null }, { endsAt: { $gt: sql`clock_timestamp()` } }] };
}

/**
 * Creates a secret key, and what is stored of it: its hash and last four characters, but not the
 * key, which cannot be read again.
 */
export function createKey(prefix: KeyPrefix) {
  const secret = createSecretKey(prefix);
  const now = raw<Date>(NOW);
  const stored = { hash: hashKey(secret), id: createKeyId(), last4: lastFour(secret) };
  return { secret, stored: { ...stored, createdAt: now, changedAt: now } };
}

/**
 * The key of an id among an owner's keys that work.
 *
 * @throws Refusal API_KEY_NOT_FOUND, the same for an unknown key, an expired one and another owner's
 */
export function pickKey<Key extends StoredKey>(working: readonly Key[], id: string): Key {
  const found = working.find((key) => key.id === id);
  if (found === undefined) throw refuse("API_KEY_NOT_FOUND");
  return found;
}

/**
 * Checks that an owner can do without a key: without one that works it could not create another, nor
 * for long without one that has no end.
 *
 * @param of which keys these are, in words
 * @throws Refusal API_KEY_LAST
 */
export function assertNotLast<Key extends StoredKey>(
  key: Key,
  working: readonly Key[],
  of: "of full scope" | "of yours",
): void {
  const others = working.filter((other) => other !== key);
  if (others.some(({ endsAt }) => key.endsAt || !endsAt)) return;
  const text = `This is the last key ${of} that ${key.endsAt ? "works" : "is not to end"}; create another first.`;
  throw refuse("API_KEY_LAST", text, { subject: "api_key" });
}

/**
 * How long the key that the call came with goes on working when the caller does not say: it alone
 * opens the stored response, so that the call can be repeated when the answer is lost.
 */
const OVERLAP_OF_CURRENT_SECONDS = 600;

/**
 * For how many seconds a key goes on that is rotated.
 *
 * @param asked what the caller says, if anything
 * @param current the id of the key that the call came with; undefined for none
 */
export function overlapSecondsOf(
  key: string,
  asked: number | undefined,
  current: string | undefined,
): number {
  return asked ?? (key === current ? OVERLAP_OF_CURRENT_SECONDS : 0);
}

export interface ExpiredKey {
  readonly id: string;
  /** When it was to end before; null for no end. */
  readonly before: Date | null;
  readonly endsAt: Date;
}

/**
 * Has keys end after some seconds, or when they were to end anyway, whichever is sooner; 0 for at once.
 * Every process knows within a second of the commit.
 *
 * @returns how they end, in the order given
 */
export async function expireKeys(
  tx: EntityManager,
  table: KeyTable,
  keys: readonly StoredKey[],
  afterSeconds: number,
): Promise<ExpiredKey[]> {
  if (keys.length === 0) return [];
  // `least` leaves out what is null.
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
 * Makes every process look the keys of an owner up anew, within a second of the commit: what is cached
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

/**
 * Deletes the keys that ended more than 90 days ago, by the database's clock. Replicas that purge at
 * the same time share the work.
 *
 * @returns how many it deleted
 */
export async function purgeKeys(em: EntityManager): Promise<number> {
  let count = 0;
  for (const table of KEY_TABLES) {
    count += await deleteInBatches(
      em,
      `delete from ${table} where hash in (
         select hash from ${table} where ends_at < now() - interval '90 days'
         order by ends_at limit $1 for update skip locked
       ) returning 1`,
    );
  }
  return count;
}
