import type { DueDelivery, DueQuery, DueResult, WebhookTarget } from "./load-due-deliveries.ts";
import type { WebhookKey } from "./webhook.entity.ts";

export interface DequeuedDelivery {
  readonly delivery: DueDelivery;
  readonly target: WebhookTarget;
}

interface AttemptOutcome {
  /** `undefined` if no request was sent. */
  readonly isSuccess: boolean | undefined;
  /** Whether recording the outcome changed the webhook, which makes loaded data stale. */
  readonly changed: boolean;
}

/**
 * Time in milliseconds after which loaded deliveries are reloaded, so that a changed webhook gets
 * no requests at its old URL.
 */
const MAX_AGE_MS = 500;
/** Minimum number of deliveries that a queue loads, if that many are due. */
const MIN_LOADED = 16;

/** In-memory queue of the due deliveries of a leased webhook. */
export type WebhookQueue = ReturnType<typeof createWebhookQueue>;

/**
 * Creates the queue of a newly leased webhook.
 *
 * @param leasedUntilMs time until which the lease is certainly held, on the clock of `performance.now()`
 */
export function createWebhookQueue(key: WebhookKey, leasedUntilMs: number) {
  const due = createDueBuffer();
  const { waiting } = due;
  /** Ids of the deliveries in flight by subject, at most one per subject. */
  const inFlight = new Map<string, number>();
  let target: WebhookTarget | undefined;
  let concurrency = USUAL_CONCURRENCY;
  let lastActiveMs = performance.now();

  const queue = {
    key,
    leasedUntilMs,
    inFlight: () => inFlight.size,
    /** Marks the queue as possibly having more due deliveries. */
    expectMore: due.expectMore,
    isLoadWanted: () => due.isIncomplete() && waiting.length < concurrency,
    /** Begins a load. The caller must pass the result to `endLoad`, or `undefined` if the load failed. */
    beginLoad(): DueQuery {
      const loaded = [...inFlight.values(), ...waiting.map(({ id }) => id)];
      const limit = Math.max(2 * concurrency, MIN_LOADED) - waiting.length;
      return due.beginLoad({ ...key, loaded, limit });
    },
    endLoad(query: DueQuery, result: DueResult | undefined) {
      if (result === undefined) return due.forget();
      if (!due.endLoad(query, result.deliveries)) return;
      if (target === undefined && result.target.isFailing) concurrency = 1;
      target = result.target;
    },
    /**
     * Dequeues the next delivery. Returns `undefined` if the queue is empty, the webhook's concurrency is reached or
     * the lease may have expired. Deliveries of one subject are sent one after the other.
     */
    dequeue(): DequeuedDelivery | undefined {
      if (target === undefined || performance.now() >= queue.leasedUntilMs) return undefined;
      due.removeOld();
      if (inFlight.size >= concurrency) return undefined;
      const i = waiting.findIndex(({ subject }) => !inFlight.has(subject));
      if (i === -1) return undefined;
      const [delivery] = waiting.splice(i, 1) as [DueDelivery];
      inFlight.set(delivery.subject, delivery.id);
      return { delivery, target };
    },
    complete({ subject }: DueDelivery, { isSuccess, changed }: AttemptOutcome) {
      inFlight.delete(subject);
      lastActiveMs = performance.now();
      if (isSuccess !== undefined) concurrency = nextConcurrency(concurrency, isSuccess);
      if (changed) due.forget();
    },
    /** Whether the webhook was failing at the last load. */
    isFailing: () => target?.isFailing ?? false,
    /** Whether the queue has been empty for this time, in milliseconds. */
    isIdle: (ms: number) => inFlight.size === 0 && waiting.length === 0 && performance.now() - lastActiveMs >= ms,
  };
  return queue;
}

/** Creates a buffer for loaded deliveries that are not in flight yet. */
function createDueBuffer() {
  const waiting: DueDelivery[] = [];
  let mayHaveMore = true;
  let loading: DueQuery | undefined;
  let loadedAtMs = 0;

  /** Discards waiting deliveries and the result of a load in flight, which may be stale. */
  function forget(): void {
    waiting.length = 0;
    loading = undefined;
    mayHaveMore = true;
  }

  return {
    waiting,
    forget,
    removeOld() {
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
    /**
     * Adds the result of a load. Returns false if the buffer was discarded since the load began,
     * because the result is stale.
     */
    endLoad(query: DueQuery, deliveries: readonly DueDelivery[]): boolean {
      if (loading !== query) return false;
      loading = undefined;
      waiting.push(...deliveries);
      if (deliveries.length === query.limit) mayHaveMore = true;
      return true;
    },
  };
}

/** Initial concurrency of a webhook. Up to this number, its attempts do not count towards `MAX_EXTRA`. */
export const USUAL_CONCURRENCY = 4;
export const MAX_CONCURRENCY = 64;
/** Maximum number of attempts in flight per process in excess of each webhook's usual concurrency. */
const MAX_EXTRA = 512;

/**
 * Returns the concurrency of a webhook after an attempt. Each success adds one, so the concurrency doubles within one
 * response time. Each failure halves it. A slow receiver therefore gets many concurrent requests, but a receiver that
 * hangs soon gets only one at a time.
 *
 * @param concurrency 1 to `MAX_CONCURRENCY`
 */
export function nextConcurrency(concurrency: number, isSuccess: boolean): number {
  return isSuccess ? Math.min(concurrency + 1, MAX_CONCURRENCY) : Math.max(1, Math.floor(concurrency / 2));
}

/**
 * Acquires a permit for an attempt and returns its release function, or `undefined` if the process
 * has reached its limit.
 *
 * @param inFlight number of the webhook's attempts in flight
 */
export type AcquireAttempt = (workspace: number, inFlight: number) => (() => void) | undefined;

/**
 * Creates the limit on attempts in flight for one process. Each webhook can always use its usual concurrency. Beyond
 * that, a workspace can use at most as many permits as remain free, so that hanging receivers never take all of them.
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
    if (inFlight < USUAL_CONCURRENCY) return () => undefined;
    if ((extraOf.get(workspace) ?? 0) >= MAX_EXTRA - extra) return undefined;
    add(workspace, 1);
    return () => add(workspace, -1);
  };
}
