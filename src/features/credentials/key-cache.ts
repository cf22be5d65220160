import { LRUCache } from "lru-cache";
import type { Reader } from "../../db/change-feed.ts";
import { createDatabaseClock } from "../../db/database-clock.ts";
import { hashKey } from "../../domain/secret-key.ts";
import type { Caller, KeyLookup } from "../../pipeline/call.ts";
import type { KeyTable } from "./secret-keys.ts";

export interface KeyCache<C extends Caller> extends KeyLookup<C> {
  /** Evicts keys that have changed since they were loaded, and synchronizes with the database's clock. */
  refresh(reader: Reader): Promise<void>;
  /** Evicts all keys. Needed if changes may have been missed. */
  forgetAll(): void;
  /** Returns the hashes of the keys that were used since the last call of this function. */
  drainUsed(): string[];
}

export interface LoadedKey<C extends Caller> {
  readonly caller: C;
  /** Expiry. null or `undefined` if the key does not expire. */
  readonly endsAt?: Date | null;
  /** Time of the last change by the database's clock. */
  readonly changedAt: Date;
}

/** Maximum number of cached keys. The least recently used keys are evicted. */
const MAX_KEYS = 10_000;

/** Time for which unknown keys are cached, in milliseconds, and their maximum number. */
const MISS_MS = 1_000;
const MAX_MISSES = 10_000;

interface CachedKey<C> {
  readonly hash: string;
  readonly caller: C;
  /** Expiry in milliseconds since the epoch. Infinity if the key does not expire. */
  readonly endsAtMs: number;
  /** `changedAt` at the time of loading, in milliseconds since the epoch. */
  readonly changedAtMs: number;
  used: boolean;
}

/**
 * Creates a cache of callers by key. Unknown keys are cached for one second. Callers stay cached
 * until `refresh` finds a change, so calls need no query and work during a database outage. The
 * cache is indexed by the secret key, in memory only, because hashing the key for each call would
 * cost more than the rest of admission. Keys expire by the database's clock.
 *
 * Lookups in flight are not cache entries, unlike with lru-cache's `fetchMethod`. Otherwise many
 * guesses would evict callers, and changes, which are reported by hash, could not be matched.
 *
 * @param loadKey loads an active key by its hash. Returns `undefined` if absent
 */
export function createKeyCache<C extends Caller>(
  table: KeyTable,
  loadKey: (hash: string) => Promise<LoadedKey<C> | undefined>,
): KeyCache<C> {
  const clock = createDatabaseClock();
  const uses = createUses();
  const cached = new LRUCache<string, CachedKey<C>>({
    max: MAX_KEYS,
    dispose: ({ used, hash }) => (used ? uses.noteUncached(hash) : undefined),
  });
  const misses = new LRUCache<string, true>({ max: MAX_MISSES, ttl: MISS_MS });
  const lookups = new Map<string, Promise<CachedKey<C> | undefined>>();
  let changeCount = 0;

  async function lookup(secret: string, hash: string): Promise<CachedKey<C> | undefined> {
    const countBefore = changeCount;
    const loaded = await loadKey(hash);
    const key = loaded && toCached(hash, loaded);
    // If a change was reported during the lookup, the loaded key may be outdated and is not cached.
    const hasChanged = changeCount !== countBefore;
    if (hasChanged && key !== undefined) uses.noteUncached(hash);
    if (hasChanged) return key;
    if (key === undefined) misses.set(secret, true);
    else cached.set(secret, key);
    return key;
  }

  function lookupOnce(secret: string): Promise<CachedKey<C> | undefined> {
    const hash = hashKey(secret);
    return lookups.getOrInsertComputed(hash, () => {
      const started = lookup(secret, hash).finally(() => {
        if (lookups.get(hash) === started) lookups.delete(hash);
      });
      return started;
    });
  }

  function callerUnlessEnded(key: CachedKey<C> | undefined): C | undefined {
    if (key === undefined || hasEnded(key, clock.nowMs)) return undefined;
    key.used = true;
    return key.caller;
  }

  return {
    recall: (secret) => callerUnlessEnded(cached.get(secret)),
    async find(secret) {
      const known = cached.get(secret);
      if (known === undefined && misses.has(secret)) return undefined;
      return callerUnlessEnded(known ?? (await lookupOnce(secret)));
    },
    async refresh(reader) {
      const [changes] = await Promise.all([loadChanges(reader, table), clock.read(reader)]);
      for (const { hash } of changes) if (lookups.delete(hash)) changeCount++;
      if (changes.length > 0) evictChanged(cached, changes);
    },
    forgetAll() {
      changeCount++;
      misses.clear();
      lookups.clear();
      cached.clear();
    },
    drainUsed: () => uses.drain(cached.values()),
  };
}

function createUses() {
  const uncached = new Set<string>();
  return {
    /** Records the use of a key that is not in the cache. */
    noteUncached(hash: string): void {
      if (uncached.size < MAX_KEYS) uncached.add(hash);
    },
    /** Returns the hashes of used keys, including cached keys, and resets the record. */
    drain(cached: Iterable<CachedKey<Caller>>): string[] {
      const used = [...uncached];
      uncached.clear();
      for (const key of cached) {
        if (key.used) used.push(key.hash);
        key.used = false;
      }
      return used;
    },
  };
}

function evictChanged<C extends Caller>(cached: LRUCache<string, CachedKey<C>>, changes: readonly KeyChange[]): void {
  const changeOf = new Map(changes.map((change) => [change.hash, change]));
  for (const [secret, { hash, changedAtMs }] of cached.entries()) {
    const change = changeOf.get(hash);
    // Polls repeat the changes of the last minute. A key that was loaded after the change already includes it.
    if (change && (change.ended || change.changedAt.getTime() > changedAtMs)) {
      cached.delete(secret);
    }
  }
}

function hasEnded({ endsAtMs }: CachedKey<Caller>, nowMs: () => number): boolean {
  return endsAtMs !== Infinity && nowMs() >= endsAtMs;
}

function toCached<C extends Caller>(hash: string, loaded: LoadedKey<C>): CachedKey<C> {
  const { caller, endsAt, changedAt } = loaded;
  const endsAtMs = endsAt?.getTime() ?? Infinity;
  return { hash, caller, endsAtMs, changedAtMs: changedAt.getTime(), used: false };
}

interface KeyChange {
  readonly hash: string;
  /** Time of the last change by the database's clock. */
  readonly changedAt: Date;
  /** Whether the key has expired, by the database's clock. */
  readonly ended: boolean;
}

/**
 * Loads the keys that changed or expired within the last minute by the database's clock. A minute is much longer than a
 * commit plus the poll interval, so no change is missed.
 */
async function loadChanges(reader: Reader, table: KeyTable): Promise<KeyChange[]> {
  const select = `
    select hash, changed_at as "changedAt", coalesce(ends_at <= now(), false) as ended from ${table}`;
  // Each part of the union uses its own index. With `or`, PostgreSQL would read all keys.
  const { rows } = await reader.query<KeyChange>(
    `${select} where changed_at > now() - interval '1 minute'
     union ${select} where ends_at between now() - interval '1 minute' and now()`,
  );
  return rows;
}
