import { LRUCache } from "lru-cache";
import type { Client } from "pg";
import { createDatabaseClock } from "../../db/database-clock.ts";
import type { EntityManager } from "../../db/orm.ts";
import { hashApiKey } from "../../domain/api-key.ts";
import { findLimits } from "./find-limits.ts";
import type { Caller, ApiKeyLookup } from "../../pipeline/call.ts";
import { ApiKey, isWorking } from "./api-key.entity.ts";
import { recentKeyChanges, type KeyChange } from "./recent-key-changes.ts";

/** Finds the caller that an API key belongs to, mostly from memory. */
export interface ApiKeyCache extends ApiKeyLookup {
  /** Evicts keys that have changed since they were read, and reads the database's clock. */
  refresh(client: Client): Promise<void>;
  /** Evicts all keys, for when changes may have been missed. */
  forgetAll(): void;
}

/** How many keys are cached; the least recently used is evicted first. */
const MAX_KEYS = 10_000;

interface CachedKey {
  readonly hash: string;
  readonly caller: Caller;
  /** Milliseconds since the epoch; Infinity for no end. */
  readonly endsAtMs: number;
  /** `changedAt` of the key as it was read, in milliseconds since the epoch. */
  readonly changedAtMs: number;
}

/**
 * Builds a cache of callers. They stay until `refresh` finds a change, so calls need no query
 * and work while the database is away. The cache is keyed by the API key itself, in memory only,
 * because hashing the key of every call would cost more than the rest of its admission.
 * Keys end by the database's clock.
 */
export function createApiKeyCache(em: EntityManager): ApiKeyCache {
  const clock = createDatabaseClock();
  const cached = new LRUCache<string, CachedKey>({ max: MAX_KEYS });
  const lookUps = new Map<string, Promise<CachedKey | undefined>>();
  let changes = 0;

  async function lookUp(apiKey: string, hash: string): Promise<CachedKey | undefined> {
    const changesBefore = changes;
    const reading = em.fork();
    const key = await reading.findOne(ApiKey, { hash, ...isWorking() });
    if (key === null) return undefined;
    const found = {
      hash,
      caller: { workspaceId: key.workspace, limits: await findLimits(reading, key.workspace) },
      endsAtMs: key.endsAt?.getTime() ?? Infinity,
      changedAtMs: key.changedAt.getTime(),
    };
    // A change during the look-up may be newer than what was read, which then is not cached.
    if (changes === changesBefore) cached.set(apiKey, found);
    return found;
  }

  function lookUpOnce(apiKey: string): Promise<CachedKey | undefined> {
    const hash = hashApiKey(apiKey);
    const inFlight = lookUps.get(hash);
    if (inFlight !== undefined) return inFlight;
    const started = lookUp(apiKey, hash).finally(() => {
      if (lookUps.get(hash) === started) lookUps.delete(hash);
    });
    lookUps.set(hash, started);
    return started;
  }

  const callerUnlessEnded = (found: CachedKey | undefined) =>
    found !== undefined && (found.endsAtMs === Infinity || clock.nowMs() < found.endsAtMs)
      ? found.caller
      : undefined;

  return {
    recall: (apiKey) => callerUnlessEnded(cached.get(apiKey)),
    async find(apiKey) {
      return callerUnlessEnded(cached.get(apiKey) ?? (await lookUpOnce(apiKey)));
    },
    async refresh(client) {
      await clock.read(client);
      const changeOf = new Map((await recentKeyChanges(client)).map((it) => [it.hash, it]));
      for (const hash of changeOf.keys()) if (lookUps.delete(hash)) changes++;
      if (changeOf.size === 0) return;
      for (const [apiKey, found] of cached.entries()) {
        const change = changeOf.get(found.hash);
        if (change !== undefined && isNewer(change, found)) cached.delete(apiKey);
      }
    },
    forgetAll() {
      changes++;
      lookUps.clear();
      cached.clear();
    },
  };
}

/** A change is reported for a minute; a key that was read after it already includes it. */
function isNewer({ ended, changedAt }: KeyChange, found: CachedKey): boolean {
  return ended || changedAt.getTime() > found.changedAtMs;
}
