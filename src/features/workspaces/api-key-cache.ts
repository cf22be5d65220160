import { LRUCache } from "lru-cache";
import type { EntityManager } from "../../db/orm.ts";
import { hashApiKey } from "../../domain/api-key.ts";
import { findLimits } from "./find-limits.ts";
import type { Caller, ApiKeyLookup } from "../../pipeline/call.ts";
import { ApiKey, isWorking } from "./api-key.entity.ts";
import type { KeyChange } from "./recent-key-changes.ts";

/** Finds who an API key stands for, mostly from memory. */
export interface ApiKeyCache extends ApiKeyLookup {
  /** Forgets keys that changed since they were read: they are looked up again. */
  forget(changes: readonly KeyChange[]): void;
  /** Forgets all keys: changes may have passed unseen. */
  forgetAll(): void;
}

/** How many keys are remembered; the one unused for longest goes first. */
const MAX_REMEMBERED = 10_000;

interface Remembered {
  readonly hash: string;
  readonly caller: Caller;
  /** Milliseconds since the epoch; Infinity for no end. */
  readonly endsAtMs: number;
  /** When the key had last changed as it was read, by the database's clock. */
  readonly changedAtMs: number;
}

/**
 * Remembers callers until `forget` is told of a change, so that calls need no look-up and go on
 * while the database is away. They are remembered by the keys themselves, in this process's memory
 * only: hashing the key of every call would cost more than all else that admits it.
 */
export function createApiKeyCache(em: EntityManager, nowMs: () => number): ApiKeyCache {
  const remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  const lookingUp = new Map<string, Promise<Remembered | undefined>>();
  let changes = 0;

  async function lookUp(apiKey: string, hash: string): Promise<Remembered | undefined> {
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
    // A change during the look-up may be newer than what was read; then the answer serves only this
    // once.
    if (changes === changesBefore) remembered.set(apiKey, found);
    return found;
  }

  function lookUpOnce(apiKey: string): Promise<Remembered | undefined> {
    const hash = hashApiKey(apiKey);
    const underWay = lookingUp.get(hash);
    if (underWay !== undefined) return underWay;
    const begun = lookUp(apiKey, hash).finally(() => {
      if (lookingUp.get(hash) === begun) lookingUp.delete(hash);
    });
    lookingUp.set(hash, begun);
    return begun;
  }

  const callerUnlessEnded = (found: Remembered | undefined) =>
    found !== undefined && (found.endsAtMs === Infinity || nowMs() < found.endsAtMs)
      ? found.caller
      : undefined;

  return {
    recall: (apiKey) => callerUnlessEnded(remembered.get(apiKey)),
    async find(apiKey) {
      return callerUnlessEnded(remembered.get(apiKey) ?? (await lookUpOnce(apiKey)));
    },
    forget(keyChanges) {
      const news = new Map(keyChanges.map((change) => [change.hash, change]));
      for (const hash of news.keys()) if (lookingUp.delete(hash)) changes++;
      if (news.size === 0) return;
      for (const [apiKey, found] of remembered.entries()) {
        const change = news.get(found.hash);
        if (change !== undefined && isNews(change, found)) remembered.delete(apiKey);
      }
    },
    forgetAll() {
      changes++;
      lookingUp.clear();
      remembered.clear();
    },
  };
}

/** A change is told of for a minute; what was read since then knows of it. */
function isNews({ ended, changedAt }: KeyChange, found: Remembered): boolean {
  return ended || changedAt.getTime() > found.changedAtMs;
}
