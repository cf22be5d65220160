import { signWebhook } from "../../domain/webhook/webhook-signature.ts";
import { writeEventId } from "../events/event-id.ts";
import { Event } from "../events/event.entity.ts";
import type { DeliverJob } from "./enqueue.ts";
import { awaits, endDelivery, recordOutcome, type RecordDeps } from "./record-outcome.ts";
import { working } from "./rotate-webhook-secret.ts";
import type { Sender } from "./send-webhook.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import type { Webhook } from "./webhook.entity.ts";

/** What deliveries work with. */
export interface DeliverDeps extends RecordDeps {
  readonly sender: Sender;
  /** An event in the JSON dialect of `/v1`. */
  readonly eventJson: (event: Event) => string;
}

/**
 * Makes one attempt at one delivery, and records what came of it. Does nothing when that attempt
 * was recorded already: a job can run twice when a process dies after the recording.
 */
export async function deliver(job: DeliverJob, deps: DeliverDeps): Promise<void> {
  const { em, now, sender } = deps;
  const reading = em.fork();
  const delivery = await reading.findOne(
    WebhookDelivery,
    { workspace: job.workspace, id: job.delivery },
    { populate: ["webhook"] },
  );
  if (delivery === null || !awaits(delivery, job)) return;
  const webhook: Webhook = delivery.webhook;
  if (webhook.disabledReason) return endDelivery(job, webhook, deps);

  const { subject, number } = delivery;
  const event = await reading.findOneOrFail(Event, { workspace: job.workspace, subject, number });
  const startedAt = now();
  const body = deps.eventJson(event);
  const outcome = await sender.send(webhook.url, headersOf(event, body, webhook, startedAt), body);
  await recordOutcome(job, webhook, startedAt, outcome, deps);
}

/** The headers of Standard Webhooks 1.0.0. */
function headersOf(event: Event, body: string, webhook: Webhook, sentAt: Date) {
  const id = writeEventId(event);
  const timestamp = Math.floor(sentAt.getTime() / 1_000);
  const secrets = working(webhook.secrets, sentAt).map(({ secret }) => secret);
  return {
    "content-type": "application/json",
    "user-agent": "shipments-webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook({ id, timestamp, body }, secrets),
  };
}
