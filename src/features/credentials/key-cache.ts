import { LRUCache } from "lru-cache";
import type { Reader } from "../../db/change-feed.ts";
import { createDatabaseClock } from "../../db/database-clock.ts";
import { hashKey } from "../../domain/secret-key.ts";
import type { Caller, KeyLookup } from "../../pipeline/call.ts";
import type { KeyTable } from "./secret-keys.ts";

export interface KeyCache<C extends Caller> extends KeyLookup<C> {
  /** Evicts keys that have changed since they were loaded, and reads the database's clock. */
  refresh(reader: Reader): Promise<void>;
  /** Evicts all keys, for when changes may have been missed. */
  forgetAll(): void;
  /** The hashes of the keys that calls came with since the last time. */
  takeUsed(): string[];
}

export interface LoadedKey<C extends Caller> {
  readonly caller: C;
  /** When it stops working; null for no end. */
  readonly endsAt?: Date | null;
  /** When it last changed, by the database's clock. */
  readonly changedAt: Date;
}

/** How many keys are cached; the least recently used is evicted first. */
const MAX_KEYS = 10_000;

/** How long unknown keys are cached, in milliseconds; and how many of them. */
const MISS_MS = 1_000;
const MAX_MISSES = 10_000;

interface CachedKey<C> {
  readonly hash: string;
  readonly caller: C;
  /** Milliseconds since the epoch; Infinity for no end. */
  readonly endsAtMs: number;
  /** `changedAt` as it was loaded, in milliseconds since the epoch. */
  readonly changedAtMs: number;
  /** Whether a call has come with it since `takeUsed`. */
  used: boolean;
}

/**
 * Builds a cache of callers, and for a second of unknown keys. Callers stay until `refresh` finds a
 * change, so calls need no query and work while the database is away. The cache is keyed by the
 * secret key itself, in memory only, because hashing the key of every call would cost more than the
 * rest of its admission. Keys end by the database's clock.
 *
 * Look-ups in flight are no entries of it, as they were by lru-cache's `fetchMethod`: a crowd of
 * guesses would evict the callers, and changes are reported by hash.
 *
 * @param loadKey loads a working key by its hash; undefined when there is none
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
  const lookUps = new Map<string, Promise<CachedKey<C> | undefined>>();
  let changeCount = 0;

  async function lookUp(secret: string, hash: string): Promise<CachedKey<C> | undefined> {
    const countBefore = changeCount;
    const loaded = await loadKey(hash);
    const key = loaded && toCached(hash, loaded);
    // A change during the look-up may be newer than what was loaded, which then is not cached.
    const hasChanged = changeCount !== countBefore;
    if (hasChanged && key !== undefined) uses.noteUncached(hash);
    if (hasChanged) return key;
    if (key === undefined) misses.set(secret, true);
    else cached.set(secret, key);
    return key;
  }

  function lookUpOnce(secret: string): Promise<CachedKey<C> | undefined> {
    const hash = hashKey(secret);
    return lookUps.getOrInsertComputed(hash, () => {
      const started = lookUp(secret, hash).finally(() => {
        if (lookUps.get(hash) === started) lookUps.delete(hash);
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
      return callerUnlessEnded(known ?? (await lookUpOnce(secret)));
    },
    async refresh(reader) {
      const [changes] = await Promise.all([loadChanges(reader, table), clock.read(reader)]);
      for (const { hash } of changes) if (lookUps.delete(hash)) changeCount++;
      if (changes.length > 0) evictChanged(cached, changes);
    },
    forgetAll() {
      changeCount++;
      misses.clear();
      lookUps.clear();
      cached.clear();
    },
    takeUsed: () => uses.take(cached.values()),
  };
}

function createUses() {
  const uncached = new Set<string>();
  return {
    /** Notes the use of a key that is not cached, or no longer. */
    noteUncached(hash: string): void {
      if (uncached.size < MAX_KEYS) uncached.add(hash);
    },
    /** Lists the keys that were used, also of those that are cached, and begins anew. */
    take(cached: Iterable<CachedKey<Caller>>): string[] {
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

function evictChanged<C extends Caller>(
  cached: LRUCache<string, CachedKey<C>>,
  changes: readonly KeyChange[],
): void {
  const changeOf = new Map(changes.map((change) => [change.hash, change]));
  for (const [secret, { hash, changedAtMs }] of cached.entries()) {
    const change = changeOf.get(hash);
    // A change is reported for a minute; a key that was loaded after it already includes it.
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
  /** When it last changed, by the database's clock. */
  readonly changedAt: Date;
  /** Whether it has ended, by the database's clock. */
  readonly ended: boolean;
}

/**
 * Loads the keys that changed or ended within the last minute, by the database's clock. A minute is
 * far longer than a commit and the interval between two polls, so no change is missed.
 */
async function loadChanges(reader: Reader, table: KeyTable): Promise<KeyChange[]> {
  const select = `
    select hash, changed_at as "changedAt", coalesce(ends_at <= now(), false) as ended from ${table}`;
  // Each by its index; with `or` between them all keys would be read.
  const { rows } = await reader.query<KeyChange>(
    `${select} where changed_at > now() - interval '1 minute'
     union ${select} where ends_at between now() - interval '1 minute' and now()`,
  );
  return rows;
}
