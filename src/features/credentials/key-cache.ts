import { LRUCache } from "lru-cache";
import type { Client } from "pg";
import { createDatabaseClock } from "../../db/database-clock.ts";
import { hashKey } from "../../domain/secret-key.ts";
import type { Caller, KeyLookup } from "../../pipeline/call.ts";
import { recentKeyChanges, type KeyChange, type KeyTable } from "./recent-key-changes.ts";

/** Finds the caller that a secret key belongs to, mostly from memory. */
export interface KeyCache<C extends Caller> extends KeyLookup<C> {
  /** Evicts keys that have changed since they were read, and reads the database's clock. */
  refresh(client: Client): Promise<void>;
  /** Evicts all keys, for when changes may have been missed. */
  forgetAll(): void;
  /** The hashes of the keys that calls came with since this was asked last. */
  takeUsed(): string[];
}

/** A key as the database has it. */
export interface FoundKey<C extends Caller> {
  readonly caller: C;
  /** When it stops working; null for no end. */
  readonly endsAt: Date | null;
  /** When it last changed, by the database's clock. */
  readonly changedAt: Date;
}

/** How many keys are cached; the least recently used is evicted first. */
const MAX_KEYS = 10_000;

/** How long it is remembered that a key is unknown, in milliseconds; and of how many keys. */
const MISS_MS = 1_000;
const MAX_MISSES = 10_000;

interface CachedKey<C> {
  readonly hash: string;
  readonly caller: C;
  /** Milliseconds since the epoch; Infinity for no end. */
  readonly endsAtMs: number;
  /** `changedAt` of the key as it was read, in milliseconds since the epoch. */
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
 * @param table where the keys are
 * @param readKey reads a working key by its hash; undefined when there is none
 */
export function createKeyCache<C extends Caller>(
  table: KeyTable,
  readKey: (hash: string) => Promise<FoundKey<C> | undefined>,
): KeyCache<C> {
  const clock = createDatabaseClock();
  const usedAndEvicted = new Set<string>();
  const cached = createStore<C>(usedAndEvicted);
  const misses = new LRUCache<string, true>({ max: MAX_MISSES, ttl: MISS_MS });
  const lookUps = new Map<string, Promise<CachedKey<C> | undefined>>();
  let changes = 0;

  async function lookUp(secret: string, hash: string): Promise<CachedKey<C> | undefined> {
    const changesBefore = changes;
    const found = cachedKey(hash, await readKey(hash));
    // A change during the look-up may be newer than what was read, which then is not cached.
    if (changes !== changesBefore) return found;
    if (found === undefined) misses.set(secret, true);
    else cached.set(secret, found);
    return found;
  }

  function lookUpOnce(secret: string): Promise<CachedKey<C> | undefined> {
    const hash = hashKey(secret);
    const inFlight = lookUps.get(hash);
    if (inFlight !== undefined) return inFlight;
    const started = lookUp(secret, hash).finally(() => {
      if (lookUps.get(hash) === started) lookUps.delete(hash);
    });
    lookUps.set(hash, started);
    return started;
  }

  function callerUnlessEnded(found: CachedKey<C> | undefined): C | undefined {
    if (found === undefined || hasEnded(found, clock.nowMs)) return undefined;
    found.used = true;
    return found.caller;
  }

  return {
    recall: (secret) => callerUnlessEnded(cached.get(secret)),
    async find(secret) {
      const known = cached.get(secret);
      if (known === undefined && misses.has(secret)) return undefined;
      return callerUnlessEnded(known ?? (await lookUpOnce(secret)));
    },
    async refresh(client) {
      await clock.read(client);
      const changeOf = new Map((await recentKeyChanges(client, table)).map((it) => [it.hash, it]));
      for (const hash of changeOf.keys()) if (lookUps.delete(hash)) changes++;
      if (changeOf.size > 0) evictChanged(cached, changeOf);
    },
    forgetAll() {
      changes++;
      misses.clear();
      lookUps.clear();
      cached.clear();
    },
    takeUsed: () => takeUsed(usedAndEvicted, cached.values()),
  };
}

function createStore<C>(usedAndEvicted: Set<string>): LRUCache<string, CachedKey<C>> {
  return new LRUCache<string, CachedKey<C>>({
    max: MAX_KEYS,
    dispose(key) {
      if (key.used && usedAndEvicted.size < MAX_KEYS) usedAndEvicted.add(key.hash);
    },
  });
}

function evictChanged<C extends Caller>(
  cached: LRUCache<string, CachedKey<C>>,
  changeOf: ReadonlyMap<string, KeyChange>,
): void {
  for (const [secret, found] of cached.entries()) {
    const change = changeOf.get(found.hash);
    if (change !== undefined && isNewer(change, found)) cached.delete(secret);
  }
}

/** Lists the keys that were used, and begins anew. */
function takeUsed(evicted: Set<string>, keys: Iterable<CachedKey<Caller>>): string[] {
  const used = [...evicted];
  evicted.clear();
  for (const key of keys) {
    if (key.used) used.push(key.hash);
    key.used = false;
  }
  return used;
}

function hasEnded({ endsAtMs }: CachedKey<Caller>, nowMs: () => number): boolean {
  return endsAtMs !== Infinity && nowMs() >= endsAtMs;
}

function cachedKey<C extends Caller>(
  hash: string,
  row: FoundKey<C> | undefined,
): CachedKey<C> | undefined {
  if (row === undefined) return undefined;
  const { caller, endsAt, changedAt } = row;
  const endsAtMs = endsAt?.getTime() ?? Infinity;
  return { hash, caller, endsAtMs, changedAtMs: changedAt.getTime(), used: false };
}

/** A change is reported for a minute; a key that was read after it already includes it. */
function isNewer({ ended, changedAt }: KeyChange, found: CachedKey<Caller>): boolean {
  return ended || changedAt.getTime() > found.changedAtMs;
}
