import type { Logger } from "pino";
import type { WorkItem } from "../../db/leased-queue.ts";
import { signWebhook } from "../../domain/webhook/webhook-signature.ts";
import type { TraceAttempt } from "../../pipeline/tracer.ts";
import { writeEventId, type EventContent } from "../events/event-message.ts";
import { createInFlightLimit, type DequeuedDelivery, type WebhookQueue } from "./webhook-queue.ts";
import type { DueDelivery, WebhookTarget } from "./load-due-deliveries.ts";
import { changesWebhook, type DeliveryOutcome } from "./record-outcomes.ts";
import { isSuccess, type Sender, type SendResult } from "./send-webhook.ts";
import { activeSecrets } from "./webhook-secrets.ts";

export interface DispatchDeps {
  readonly now: () => Date;
  readonly sender: Sender;
  /** Returns the event as JSON, as in the API under `/v1`. */
  readonly eventJson: (event: EventContent, of: { readonly test: boolean }) => string;
  /** Starts a tracing span for an attempt. `undefined` if tracing is off. */
  readonly traceAttempt?: TraceAttempt | undefined;
  readonly shutdownSignal: AbortSignal;
}

/** An attempt at a delivery. `release` releases its permit. */
export interface DeliveryAttempt extends WorkItem {
  readonly queue: WebhookQueue;
  readonly dequeued: DequeuedDelivery;
  readonly release: () => void;
}

/** Outcomes in metrics: a 2xx response, another response, no response, and a lost lease. */
export const OUTCOMES = ["delivered", "rejected", "unanswered", "lost"] as const;

/**
 * Creates the dispatcher of one process, which sends the deliveries in queues.
 *
 * @param start starts `attempt`
 * @param record resolves when an outcome is recorded
 * @param onCompleted called after an attempt is recorded and the next ones were started
 */
export function createDispatcher(
  deps: DispatchDeps,
  log: Logger,
  start: (attempt: DeliveryAttempt) => void,
  record: (outcome: DeliveryOutcome) => Promise<void>,
  onCompleted: (queue: WebhookQueue) => void,
) {
  const acquire = createInFlightLimit();
  /** Queues that wait because the process has reached its limit of attempts in flight. */
  const waiting = new Set<WebhookQueue>();

  /** Starts as many attempts for a webhook as the limits permit. */
  function send(queue: WebhookQueue): void {
    while (startNext(queue)) continue;
  }

  function startNext(queue: WebhookQueue): boolean {
    if (deps.shutdownSignal.aborted) return false;
    const { workspace } = queue.key;
    const release = acquire(workspace, queue.inFlight());
    if (release === undefined) {
      waiting.add(queue);
      return false;
    }
    const dequeued = queue.dequeue();
    if (dequeued === undefined) {
      release();
      return false;
    }
    start({ workspace, queue, dequeued, release });
    return true;
  }

  /** Makes an attempt, records its outcome and starts further attempts. Returns the outcome to count. */
  async function attempt({ queue, dequeued, release }: DeliveryAttempt): Promise<string | undefined> {
    const outcome = await attemptDelivery(dequeued, deps, log);
    const result = outcome.attempt?.result;
    await record(outcome);
    const changed = changesWebhook(outcome);
    queue.complete(dequeued.delivery, { isSuccess: result && isSuccess(result), changed });
    release();
    sendNext(queue);
    // Attempts in test mode are not counted, because they must not alert operators.
    if (result === undefined || dequeued.target.isTest) return undefined;
    if (isSuccess(result)) return "delivered";
    return result.status === undefined ? "unanswered" : "rejected";
  }

  function sendNext(queue: WebhookQueue): void {
    const [first] = waiting;
    if (first !== undefined) {
      waiting.delete(first);
      send(first);
    }
    send(queue);
    onCompleted(queue);
  }

  return { send, attempt };
}

/** Result of a simulated failure, for which no request is sent. */
const SIMULATED_FAILURE: SendResult = {
  durationMs: 0,
  status: 503,
  answer: "Not sent, as requested by Simulate.",
};

async function attemptDelivery(
  { delivery, target }: DequeuedDelivery,
  deps: DispatchDeps,
  log: Logger,
): Promise<DeliveryOutcome> {
  const { event } = delivery;
  const { url } = target;
  const wasFailing = target.isFailing;
  if (target.isDisabled || event === undefined) return { delivery, wasFailing, attempt: undefined };
  const startedAt = deps.now();
  if (delivery.attempts < (delivery.simulatedFailures ?? 0)) {
    return { delivery, wasFailing, attempt: { startedAt, url, result: SIMULATED_FAILURE } };
  }
  try {
    const result = await sendEvent(delivery, event, target, startedAt, deps);
    return { delivery, wasFailing, attempt: { startedAt, url, result } };
  } catch (error) {
    // If an event cannot be serialized, the delivery is retried like a failed attempt.
    log.error({ err: error, delivery: delivery.id }, "a delivery could not be prepared");
    const result = { durationMs: 0, error: "The message could not be prepared." };
    return { delivery, wasFailing, attempt: { startedAt, url, result } };
  }
}

async function sendEvent(
  delivery: DueDelivery,
  event: EventContent,
  { url, secrets, isTest }: WebhookTarget,
  sentAt: Date,
  { sender, eventJson, traceAttempt }: DispatchDeps,
): Promise<SendResult> {
  const id = writeEventId(event);
  const timestamp = Math.floor(sentAt.getTime() / 1_000);
  const body = eventJson(event, { test: isTest });
  const active = activeSecrets(secrets, sentAt).map(({ secret }) => secret);
  const span = traceAttempt?.({ ...delivery, number: event.number, eventId: id, url });
  const headers = {
    "content-type": "application/json",
    "user-agent": "shipments-webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook({ id, timestamp, body }, active),
    ...(isTest ? { "webhook-test": "true" } : {}),
    ...span?.headers,
  };
  const result = await sender.send(url, headers, body);
  span?.end(result);
  return result;
}
