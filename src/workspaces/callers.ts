import type { EntityManager } from "../db/orm.ts";
import { hashApiKey } from "../domain/api-key.ts";
import { findLimits } from "../limits/find-limits.ts";
import type { Caller } from "../rpc/caller.ts";
import { ApiKey, isWorking } from "./api-key.entity.ts";
import type { KeyChange } from "./recent-key-changes.ts";

/** Finds who an API key stands for, mostly from memory. */
export interface Callers {
  /**
   * The caller a well-formed key stands for; undefined when the key is unknown, revoked or expired.
   * Rejects when the key is not in memory and the database cannot be asked.
   */
  find(apiKey: string): Promise<Caller | undefined> | Caller | undefined;
  /** Forgets keys that changed since they were read: they are looked up again. */
  forget(changes: readonly KeyChange[]): void;
  /** Forgets all keys: changes may have passed unseen. */
  forgetAll(): void;
}

/** How many keys are remembered; the one unused for longest goes first. */
const MAX_REMEMBERED = 10_000;

interface Remembered {
  readonly caller: Caller;
  /** Milliseconds since the epoch; Infinity for no end. */
  readonly endsAtMs: number;
  /** When the key had last changed as it was read, by the database's clock. */
  readonly changedAtMs: number;
}

/**
 * Remembers callers until `forget` is told of a change, so that calls need no look-up and go on
 * while the database is away.
 */
export function createCallers(em: EntityManager, now: () => number): Callers {
  const remembered = new Map<string, Remembered>();
  const lookingUp = new Map<string, Promise<Remembered | undefined>>();
  let changes = 0;

  function touch(hash: string, found: Remembered): void {
    remembered.delete(hash);
    remembered.set(hash, found);
    if (remembered.size > MAX_REMEMBERED) {
      const oldest = remembered.keys().next().value;
      if (oldest !== undefined) remembered.delete(oldest);
    }
  }

  async function lookUp(hash: string): Promise<Remembered | undefined> {
    const changesBefore = changes;
    const reading = em.fork();
    const key = await reading.findOne(ApiKey, { hash, ...isWorking() });
    if (key === null) return undefined;
    const found = {
      caller: { workspaceId: key.workspace, limits: await findLimits(reading, key.workspace) },
      endsAtMs: key.endsAt?.getTime() ?? Infinity,
      changedAtMs: key.changedAt.getTime(),
    };
    // A change during the look-up may be newer than what was read; then the answer serves only this
    // once.
    if (changes === changesBefore) touch(hash, found);
    return found;
  }

  function lookUpOnce(hash: string): Promise<Remembered | undefined> {
    const underWay = lookingUp.get(hash);
    if (underWay !== undefined) return underWay;
    const begun = lookUp(hash).finally(() => {
      if (lookingUp.get(hash) === begun) lookingUp.delete(hash);
    });
    lookingUp.set(hash, begun);
    return begun;
  }

  const callerUnlessEnded = (found: Remembered | undefined) =>
    found !== undefined && now() < found.endsAtMs ? found.caller : undefined;

  return {
    find(apiKey) {
      const hash = hashApiKey(apiKey);
      const found = remembered.get(hash);
      if (found === undefined) return lookUpOnce(hash).then(callerUnlessEnded);
      touch(hash, found);
      return callerUnlessEnded(found);
    },
    forget(keyChanges) {
      for (const { hash, changedAt, ended } of keyChanges) {
        if (lookingUp.delete(hash)) changes++;
        const found = remembered.get(hash);
        // A change is told of for a minute; what was read since then knows of it.
        const isNews = found !== undefined && (ended || changedAt.getTime() > found.changedAtMs);
        if (isNews) remembered.delete(hash);
      }
    },
    forgetAll() {
      changes++;
      lookingUp.clear();
      remembered.clear();
    },
  };
}
