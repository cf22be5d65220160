import type { Logger } from "pino";
import { deliver, type DeliverDeps, type DeliveryOutcome } from "./attempt-delivery.ts";
import { changesWebhook, type OutcomeRecorder } from "./record-outcomes.ts";
import { createSendPlaces } from "./in-flight-limits.ts";
import { isSuccess, type SendResult } from "./send-webhook.ts";
import type { Settled, TakenDelivery, WebhookQueue } from "./webhook-queue.ts";

/** Sends what queues have to send. */
export interface Dispatcher {
  /** Starts as many attempts at a webhook as may be in flight now. */
  send(queue: WebhookQueue): void;
  /** Starts no more attempts; resolves when those in flight have ended and are recorded. */
  close(): Promise<void>;
}

/**
 * Builds the dispatcher of one process.
 *
 * @param onSettled called when an attempt has ended, is recorded, and others may have followed
 */
export function createDispatcher(
  deps: DeliverDeps & { readonly countAttempt: (result: SendResult) => void },
  recorder: OutcomeRecorder,
  log: Logger,
  onSettled: (queue: WebhookQueue) => void,
): Dispatcher {
  const places = createSendPlaces();
  /** Queues that wait for a place beyond the usual window. */
  const waitingForPlace = new Set<WebhookQueue>();
  const inFlight = new Set<Promise<void>>();
  let closed = false;

  function send(queue: WebhookQueue): void {
    while (startNext(queue)) continue;
  }

  /** Says whether an attempt was started. */
  function startNext(queue: WebhookQueue): boolean {
    if (closed) return false;
    const release = places.take(queue.key.workspace, queue.inFlight());
    if (release === undefined) {
      waitingForPlace.add(queue);
      return false;
    }
    const taken = queue.take();
    if (taken === undefined) {
      release();
      return false;
    }
    const ended = attempt(queue, taken).finally(() => {
      inFlight.delete(ended);
      release();
      sendNext(queue);
    });
    inFlight.add(ended);
    return true;
  }

  async function attempt(queue: WebhookQueue, taken: TakenDelivery): Promise<void> {
    const outcome = await deliverSafely(taken, deps, log);
    if (outcome.attempt !== undefined) deps.countAttempt(outcome.attempt.result);
    await recorder.record(outcome);
    queue.settle(taken.delivery, settledBy(outcome));
  }

  function sendNext(queue: WebhookQueue): void {
    const [waiting] = waitingForPlace;
    if (waiting !== undefined) {
      waitingForPlace.delete(waiting);
      send(waiting);
    }
    send(queue);
    onSettled(queue);
  }

  return {
    send,
    async close() {
      closed = true;
      await Promise.all(inFlight);
    },
  };
}

/** An event that cannot be written as JSON is tried again like one that cannot be sent. */
async function deliverSafely(
  taken: TakenDelivery,
  deps: DeliverDeps,
  log: Logger,
): Promise<DeliveryOutcome> {
  const startedAt = deps.now();
  try {
    return await deliver(taken, deps);
  } catch (error) {
    const { delivery, target } = taken;
    log.error({ err: error, delivery: delivery.id }, "a delivery could not be prepared");
    const result = { durationMs: 0, error: "The message could not be prepared." };
    return { delivery, wasFailing: target.isFailing, attempt: { startedAt, result } };
  }
}

function settledBy(outcome: DeliveryOutcome): Settled {
  const changed = changesWebhook(outcome);
  const { attempt } = outcome;
  return attempt === undefined ? { changed } : { changed, isSuccess: isSuccess(attempt.result) };
}
