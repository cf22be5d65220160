import type { Logger } from "pino";
import { deliver, type DeliverDeps, type DeliveryOutcome } from "./deliver.ts";
import { changesWebhook, type OutcomeRecorder } from "./outcome-recorder.ts";
import { isSuccess } from "./send-webhook.ts";
import { USUAL_WINDOW } from "./send-window.ts";
import type { Settled, TakenDelivery, WebhookQueue } from "./webhook-queue.ts";

/**
 * How many attempts one process makes at the same time before webhooks get no more than the usual
 * window each. Those few they always get, so that no receiver takes the places of another's.
 */
const MAX_IN_FLIGHT = 512;

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
  deps: DeliverDeps,
  recorder: OutcomeRecorder,
  log: Logger,
  onSettled: (queue: WebhookQueue) => void,
): Dispatcher {
  /** Queues that wait for a place beyond the usual window. */
  const crowdedOut = new Set<WebhookQueue>();
  const inFlight = new Set<Promise<void>>();
  let closed = false;

  function mayStart(queue: WebhookQueue): boolean {
    if (closed) return false;
    if (inFlight.size < MAX_IN_FLIGHT || queue.inFlight() < USUAL_WINDOW) return true;
    crowdedOut.add(queue);
    return false;
  }

  function send(queue: WebhookQueue): void {
    while (mayStart(queue)) {
      const taken = queue.take();
      if (taken === undefined) return;
      const ended = attempt(queue, taken).finally(() => {
        inFlight.delete(ended);
        sendNext(queue);
      });
      inFlight.add(ended);
    }
  }

  async function attempt(queue: WebhookQueue, taken: TakenDelivery): Promise<void> {
    const outcome = await deliverSafely(taken);
    await recorder.record(outcome);
    queue.settle(taken.delivery, settledBy(outcome));
  }

  function sendNext(queue: WebhookQueue): void {
    const [waiting] = crowdedOut;
    if (waiting !== undefined) {
      crowdedOut.delete(waiting);
      send(waiting);
    }
    send(queue);
    onSettled(queue);
  }

  /** An event that cannot be written as JSON is tried again like one that cannot be sent. */
  async function deliverSafely(taken: TakenDelivery): Promise<DeliveryOutcome> {
    const startedAt = deps.now();
    try {
      return await deliver(taken, deps);
    } catch (error) {
      log.error({ err: error, delivery: taken.delivery.id }, "a delivery could not be prepared");
      const result = { durationMs: 0, error: "The message could not be prepared." };
      const { delivery, target } = taken;
      return { delivery, wasFailing: target.isFailing, attempt: { startedAt, result } };
    }
  }

  return {
    send,
    async close() {
      closed = true;
      await Promise.all(inFlight);
    },
  };
}

function settledBy(outcome: DeliveryOutcome): Settled {
  const changed = changesWebhook(outcome);
  const { attempt } = outcome;
  return attempt === undefined ? { changed } : { changed, isSuccess: isSuccess(attempt.result) };
}
