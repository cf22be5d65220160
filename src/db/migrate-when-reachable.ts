import { setTimeout as sleep } from "node:timers/promises";
import { ConnectionFault } from "./connection-fault.ts";
import { isTransientDatabaseError } from "./database-error.ts";
import { migrate } from "./migrate.ts";

/** How long to wait before trying an absent database again, in milliseconds. */
const RETRY_MS = 500;
/** How often to say that the database is still absent, in milliseconds. */
const REPEAT_MS = 10_000;

/** How an absent database is waited for. */
export interface WaitOptions {
  /** Called with why the database cannot be migrated yet: at first, at another reason, every 10 s. */
  readonly onWaiting: (reason: string) => void;
  /** After how long no other try is begun, in milliseconds; with 0 there is one. Default: for ever. */
  readonly withinMs?: number;
  /** Ends the wait when it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Applies the migrations that a database has not had yet, and tries again while it cannot be reached
 * or a table is locked.
 *
 * @returns the names of the migrations applied now, in order
 * @throws the reason of the signal when it is aborted
 * @throws what the last try ended with, when it does not pass by itself or the time is up
 */
export async function migrateWhenReachable(
  databaseUrl: string,
  { onWaiting, withinMs = Infinity, signal }: WaitOptions,
): Promise<string[]> {
  const deadlineMs = performance.now() + withinMs;
  let said = { reason: "", atMs: 0 };
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await migrate(databaseUrl);
    } catch (error) {
      const atMs = performance.now();
      if (!(error instanceof Error) || !mayPass(error) || atMs >= deadlineMs) throw error;
      const reason = error instanceof ConnectionFault ? error.reason : error.message;
      if (reason !== said.reason || atMs - said.atMs > REPEAT_MS) {
        onWaiting(reason);
        said = { reason, atMs };
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

function mayPass(error: Error): boolean {
  return error instanceof ConnectionFault ? error.mayPass : isTransientDatabaseError(error);
}
