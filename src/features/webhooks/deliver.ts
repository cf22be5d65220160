import { signWebhook } from "../../domain/webhook/webhook-signature.ts";
import { writeEventId } from "../events/event-id.ts";
import { Event } from "../events/event.entity.ts";
import type { DeliverJob } from "./enqueue-attempt.ts";
import {
  abandonDelivery,
  awaitsAttempt,
  recordAttempt,
  type RecordDeps,
} from "./record-attempt.ts";
import { activeSecrets } from "./rotate-webhook-secret.ts";
import type { Sender } from "./send-webhook.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import type { Webhook } from "./webhook.entity.ts";

/** What deliveries need. */
export interface DeliverDeps extends RecordDeps {
  readonly sender: Sender;
  /** The event as JSON, as the API under `/v1` gives it. */
  readonly eventJson: (event: Event) => string;
}

/**
 * Makes one attempt at a delivery and records its result. Does nothing if the attempt is recorded
 * already: a job runs twice when its process dies after the recording.
 */
export async function deliver(job: DeliverJob, deps: DeliverDeps): Promise<void> {
  const { em, now, sender } = deps;
  const reading = em.fork();
  const delivery = await reading.findOne(
    WebhookDelivery,
    { workspace: job.workspace, id: job.delivery },
    { populate: ["webhook"] },
  );
  if (delivery === null || !awaitsAttempt(delivery, job)) return;
  const webhook: Webhook = delivery.webhook;
  if (webhook.disabledReason) return abandonDelivery(job, webhook, deps);

  const { subject, number } = delivery;
  const event = await reading.findOneOrFail(Event, { workspace: job.workspace, subject, number });
  const startedAt = now();
  const body = deps.eventJson(event);
  const headers = webhookHeaders(event, body, webhook, startedAt);
  const result = await sender.send(webhook.url, headers, body);
  await recordAttempt(job, webhook, startedAt, result, deps);
}

/** The headers that Standard Webhooks 1.0.0 asks for. */
function webhookHeaders(event: Event, body: string, webhook: Webhook, sentAt: Date) {
  const id = writeEventId(event);
  const timestamp = Math.floor(sentAt.getTime() / 1_000);
  const secrets = activeSecrets(webhook.secrets, sentAt).map(({ secret }) => secret);
  return {
    "content-type": "application/json",
    "user-agent": "shipments-webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook({ id, timestamp, body }, secrets),
  };
}
