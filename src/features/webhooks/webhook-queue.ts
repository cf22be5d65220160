import { createDeliveriesInFlight } from "./deliveries-in-flight.ts";
import { createDueBuffer, type PendingRead } from "./due-buffer.ts";
import type { WebhookKey } from "./lease-webhooks.ts";
import type { DueAnswer, DueDelivery, DueQuery, WebhookTarget } from "./load-due-deliveries.ts";
import { nextWindow, USUAL_WINDOW } from "./send-window.ts";

/** A delivery to attempt now, and where to. */
export interface TakenDelivery {
  readonly delivery: DueDelivery;
  readonly target: WebhookTarget;
}

/**
 * What came of a taken delivery. `changed` says that the state of the webhook was changed with it,
 * so that what has been read of the webhook is out of date.
 */
export interface Settled {
  /** Undefined when nothing was sent. */
  readonly isSuccess?: boolean;
  readonly changed: boolean;
}

/** A read in flight, and what it asks for. */
export interface QueueRead {
  readonly query: DueQuery;
  readonly read: PendingRead;
}

/** What is due of one leased webhook, as far as it has been read. */
export interface WebhookQueue {
  readonly key: WebhookKey;
  /** Until when the lease is certain, on the clock of `performance.now()`. */
  leasedUntilMs: number;
  inFlight(): number;
  /** Says that more may be due than has been read. */
  expectMore(): void;
  isReadWanted(): boolean;
  /** Begins a read, to be ended with its answer, or with undefined when it failed. */
  beginRead(): QueueRead;
  endRead(read: QueueRead, answer: DueAnswer | undefined): void;
  /**
   * Takes the next delivery; undefined when there is none, the window is full, or the lease may have
   * ended. Of the deliveries of one subject, the next one waits until the one before it is settled.
   */
  take(): TakenDelivery | undefined;
  settle(delivery: DueDelivery, settled: Settled): void;
  /** Whether the last attempt at the webhook had failed when it was last read. */
  isFailing(): boolean;
  /** Whether nothing has been due for so many milliseconds. */
  isIdle(ms: number): boolean;
}

/**
 * How long deliveries that have been read may wait, in milliseconds. They are then read again, so
 * that a webhook that was changed meanwhile gets nothing at its old address.
 */
const MAX_AGE_MS = 500;
/** How many deliveries are held at least, if so many are due. */
const MIN_HELD = 16;

/** Builds the queue of a webhook that has just been leased. */
export function createWebhookQueue(key: WebhookKey, leasedUntilMs: number): WebhookQueue {
  const inFlight = createDeliveriesInFlight();
  const buffer = createDueBuffer();
  const { waiting } = buffer;
  let target: WebhookTarget | undefined;
  let lastActiveMs = performance.now();
  let window = USUAL_WINDOW;

  const queue: WebhookQueue = {
    key,
    leasedUntilMs,
    inFlight: inFlight.count,
    expectMore: buffer.expectMore,
    isReadWanted: () => buffer.isIncomplete() && waiting.length < window,
    beginRead() {
      const held = [...inFlight.ids(), ...waiting.map(({ id }) => id)];
      const limit = Math.max(2 * window, MIN_HELD) - waiting.length;
      return { query: { ...key, held, limit }, read: buffer.beginRead() };
    },
    endRead({ query, read }, answer) {
      if (answer === undefined) return buffer.forget();
      if (!buffer.endRead(read, answer.deliveries)) return;
      if (answer.deliveries.length === query.limit) buffer.expectMore();
      if (target === undefined && answer.target.isFailing) window = 1;
      target = answer.target;
    },
    take() {
      if (target === undefined || performance.now() >= queue.leasedUntilMs) return undefined;
      if (buffer.isOlderThan(MAX_AGE_MS)) buffer.forget();
      if (inFlight.count() >= window) return undefined;
      const delivery = inFlight.takeFirst(waiting);
      return delivery && { delivery, target };
    },
    settle(delivery, { isSuccess, changed }) {
      inFlight.remove(delivery);
      lastActiveMs = performance.now();
      if (isSuccess !== undefined) window = nextWindow(window, isSuccess);
      if (changed) buffer.forget();
    },
    isFailing: () => target?.isFailing ?? false,
    isIdle: (ms) =>
      inFlight.count() === 0 && waiting.length === 0 && performance.now() - lastActiveMs >= ms,
  };
  return queue;
}
