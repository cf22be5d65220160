import type { DueDelivery, DueQuery, DueResult, WebhookTarget } from "./load-due-deliveries.ts";
import type { WebhookKey } from "./webhook.entity.ts";

export interface TakenDelivery {
  readonly delivery: DueDelivery;
  readonly target: WebhookTarget;
}

interface Settled {
  /** Undefined when nothing was sent. */
  readonly isSuccess: boolean | undefined;
  /** Whether the webhook was changed with it, so that what has been loaded of it is out of date. */
  readonly changed: boolean;
}

/**
 * How long deliveries that have been loaded may wait. They are then loaded again, so
 * that a changed webhook gets nothing at its old address.
 */
const MAX_AGE_MS = 500;
/** How many deliveries are held at least, if so many are due. */
const MIN_HELD = 16;

/** What is due of one leased webhook, as far as it has been loaded. */
export type WebhookQueue = ReturnType<typeof createWebhookQueue>;

/**
 * Builds the queue of a webhook that has just been leased.
 *
 * @param leasedUntilMs until when the lease is certain, on the clock of `performance.now()`
 */
export function createWebhookQueue(key: WebhookKey, leasedUntilMs: number) {
  const due = createDueBuffer();
  const { waiting } = due;
  /** The ids of the deliveries that are being sent, at most one of each subject. */
  const inFlight = new Map<string, number>();
  let target: WebhookTarget | undefined;
  let window = USUAL_WINDOW;
  let lastActiveMs = performance.now();

  const queue = {
    key,
    leasedUntilMs,
    inFlight: () => inFlight.size,
    /** Says that more may be due than has been loaded. */
    expectMore: due.expectMore,
    isLoadWanted: () => due.isIncomplete() && waiting.length < window,
    /** Begins a load, to be ended with its result, or with undefined when it failed. */
    beginLoad(): DueQuery {
      const held = [...inFlight.values(), ...waiting.map(({ id }) => id)];
      const limit = Math.max(2 * window, MIN_HELD) - waiting.length;
      return due.beginLoad({ ...key, held, limit });
    },
    endLoad(query: DueQuery, result: DueResult | undefined) {
      if (result === undefined) return due.forget();
      if (!due.endLoad(query, result.deliveries)) return;
      if (target === undefined && result.target.isFailing) window = 1;
      target = result.target;
    },
    /**
     * Takes the next delivery; undefined when there is none, the window is full, or the lease may have
     * ended. Of the deliveries of one subject, the next one waits until the one before it is settled.
     */
    take(): TakenDelivery | undefined {
      if (target === undefined || performance.now() >= queue.leasedUntilMs) return undefined;
      due.forgetOld();
      if (inFlight.size >= window) return undefined;
      const i = waiting.findIndex(({ subject }) => !inFlight.has(subject));
      if (i === -1) return undefined;
      const [delivery] = waiting.splice(i, 1) as [DueDelivery];
      inFlight.set(delivery.subject, delivery.id);
      return { delivery, target };
    },
    settle({ subject }: DueDelivery, { isSuccess, changed }: Settled) {
      inFlight.delete(subject);
      lastActiveMs = performance.now();
      if (isSuccess !== undefined) window = nextWindow(window, isSuccess);
      if (changed) due.forget();
    },
    /** Whether the last attempt at the webhook had failed when it was last loaded. */
    isFailing: () => target?.isFailing ?? false,
    /** Whether nothing has been due for so many milliseconds. */
    isIdle: (ms: number) =>
      inFlight.size === 0 && waiting.length === 0 && performance.now() - lastActiveMs >= ms,
  };
  return queue;
}

/** The deliveries that have been loaded and are not being sent yet; none at first. */
function createDueBuffer() {
  const waiting: DueDelivery[] = [];
  let mayHaveMore = true;
  let loading: DueQuery | undefined;
  let loadedAtMs = 0;

  /** Forgets what waits, and the load in flight, which may have seen the state of before. */
  function forget(): void {
    waiting.length = 0;
    loading = undefined;
    mayHaveMore = true;
  }

  return {
    waiting,
    forget,
    forgetOld() {
      if (waiting.length > 0 && performance.now() - loadedAtMs > MAX_AGE_MS) forget();
    },
    expectMore() {
      mayHaveMore = true;
    },
    isIncomplete: () => mayHaveMore && loading === undefined,
    beginLoad(query: DueQuery): DueQuery {
      mayHaveMore = false;
      loadedAtMs = performance.now();
      return (loading = query);
    },
    /** False when all was forgotten since the load began: the result is stale. */
    endLoad(query: DueQuery, deliveries: readonly DueDelivery[]): boolean {
      if (loading !== query) return false;
      loading = undefined;
      waiting.push(...deliveries);
      if (deliveries.length === query.limit) mayHaveMore = true;
      return true;
    },
  };
}

/** How many attempts at a time a healthy webhook begins with; so many are always possible. */
export const USUAL_WINDOW = 4;
export const MAX_WINDOW = 64;
/** How many attempts one process has in flight at most beyond the usual window of each webhook. */
const MAX_EXTRA = 512;

/**
 * How many attempts at a webhook may be in flight after one has ended. The window grows by one with
 * every success, so that it doubles in the time of a response, and every failure halves it: a slow
 * receiver gets many messages at a time, and one that hangs soon gets one.
 *
 * @param size from 1 to `MAX_WINDOW`
 */
export function nextWindow(size: number, isSuccess: boolean): number {
  return isSuccess ? Math.min(size + 1, MAX_WINDOW) : Math.max(1, Math.floor(size / 2));
}

/**
 * Asks for an attempt at a webhook to be in flight. Gives what releases it; undefined while the limit
 * of the process is reached.
 *
 * @param inFlight how many attempts at the webhook are in flight
 */
export type AcquireAttempt = (workspace: number, inFlight: number) => (() => void) | undefined;

/**
 * Builds the limit of one process. The usual window of a webhook is always free for it. Beyond that, a workspace may
 * have as many attempts in flight as are left for others, so that receivers that hang never take all.
 */
export function createInFlightLimit(): AcquireAttempt {
  const extraOf = new Map<number, number>();
  let extra = 0;

  function add(workspace: number, count: number): void {
    extra += count;
    const sum = (extraOf.get(workspace) ?? 0) + count;
    if (sum === 0) extraOf.delete(workspace);
    else extraOf.set(workspace, sum);
  }

  return (workspace, inFlight) => {
    if (inFlight < USUAL_WINDOW) return () => undefined;
    if ((extraOf.get(workspace) ?? 0) >= MAX_EXTRA - extra) return undefined;
    add(workspace, 1);
    return () => add(workspace, -1);
  };
}
