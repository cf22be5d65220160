import { signWebhook } from "../../domain/webhook/webhook-signature.ts";
import type { TraceAttempt } from "../../pipeline/tracer.ts";
import { writeEventId } from "../events/event-id.ts";
import type { EventContent } from "../events/event-message.ts";
import type { DueDelivery, WebhookTarget } from "./load-due-deliveries.ts";
import type { Sender, SendResult } from "./send-webhook.ts";
import type { TakenDelivery } from "./webhook-queue.ts";
import { activeSecrets } from "./webhook-secrets.ts";

/** What attempts need. */
export interface DeliverDeps {
  readonly now: () => Date;
  readonly sender: Sender;
  /** The event as JSON, as the API under `/v1` gives it. */
  readonly eventJson: (event: EventContent) => string;
  /** Undefined while tracing is off. */
  readonly traceAttempt?: TraceAttempt | undefined;
}

/** An attempt at a delivery. */
export interface Attempt {
  readonly startedAt: Date;
  readonly result: SendResult;
}

/** What came of a delivery that was due. */
export interface DeliveryOutcome {
  readonly delivery: DueDelivery;
  /** Whether the webhook's last attempt before this one failed. */
  readonly wasFailing: boolean;
  /** Undefined when the delivery is given up, because the webhook has been disabled. */
  readonly attempt: Attempt | undefined;
}

/** Makes one attempt at a delivery. Does not record it. */
export async function deliver(
  { delivery, target }: TakenDelivery,
  { now, sender, eventJson, traceAttempt }: DeliverDeps,
): Promise<DeliveryOutcome> {
  const { event } = delivery;
  const wasFailing = target.isFailing;
  if (target.isDisabled || event === undefined) return { delivery, wasFailing, attempt: undefined };
  const startedAt = now();
  const body = eventJson(event);
  const headers = webhookHeaders(event, body, target, startedAt);
  const { url } = target;
  const { number } = event;
  const span = traceAttempt?.({ ...delivery, number, eventId: writeEventId(event), url });
  const result = await sender.send(url, { ...headers, ...span?.headers }, body);
  span?.end(result);
  return { delivery, wasFailing, attempt: { startedAt, result } };
}

/** The headers that Standard Webhooks 1.0.0 asks for. */
function webhookHeaders(event: EventContent, body: string, target: WebhookTarget, sentAt: Date) {
  const id = writeEventId(event);
  const timestamp = Math.floor(sentAt.getTime() / 1_000);
  const secrets = activeSecrets(target.secrets, sentAt).map(({ secret }) => secret);
  return {
    "content-type": "application/json",
    "user-agent": "shipments-webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook({ id, timestamp, body }, secrets),
  };
}
