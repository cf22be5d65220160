import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookDeliveryStatus,
  WebhookDisabledReason,
  WebhookSchema,
  type Webhook as WebhookMessage,
  type WebhookAttempt as WebhookAttemptMessage,
  type WebhookDelivery as WebhookDeliveryMessage,
} from "../../../gen/shipments/v1/webhook_pb.js";
import { writeEventId } from "../events/event-id.ts";
import type { WebhookAttempt } from "./webhook-attempt.entity.ts";
import type { DeliveryStatus, WebhookDelivery } from "./webhook-delivery.entity.ts";
import type { DisabledReason, Webhook } from "./webhook.entity.ts";

const DISABLED_REASON: Readonly<Record<DisabledReason, WebhookDisabledReason>> = {
  request: WebhookDisabledReason.REQUEST,
  gone: WebhookDisabledReason.GONE,
  failing: WebhookDisabledReason.FAILING,
};

const STATUS: Readonly<Record<DeliveryStatus, WebhookDeliveryStatus>> = {
  pending: WebhookDeliveryStatus.PENDING,
  delivered: WebhookDeliveryStatus.DELIVERED,
  failed: WebhookDeliveryStatus.FAILED,
};

/** The stored value of a status that a caller sends; undefined when it sends none. */
export function deliveryStatusOf(
  status: WebhookDeliveryStatus | undefined,
): DeliveryStatus | undefined {
  const entries = Object.entries(STATUS) as [DeliveryStatus, WebhookDeliveryStatus][];
  return entries.find(([, sent]) => sent === status)?.[0];
}

/** A webhook as callers see it, without its secrets. */
export function webhookMessage(webhook: Webhook): WebhookMessage {
  const { disabledReason, failingSince } = webhook;
  return create(WebhookSchema, {
    id: webhook.id,
    url: webhook.url,
    types: [...webhook.types],
    enabled: !disabledReason,
    disabledReason: disabledReason ? DISABLED_REASON[disabledReason] : undefined,
    failingSince: failingSince ? timestampFromDate(failingSince) : undefined,
    createdAt: timestampFromDate(webhook.createdAt),
    updatedAt: timestampFromDate(webhook.updatedAt),
  });
}

/** A delivery as callers see it. */
export function deliveryMessage(delivery: WebhookDelivery): WebhookDeliveryMessage {
  const { nextAttemptAt, endedAt } = delivery;
  return create(WebhookDeliverySchema, {
    id: BigInt(delivery.id),
    webhook: delivery.webhook.id,
    event: writeEventId(delivery),
    type: delivery.type,
    status: STATUS[delivery.status as DeliveryStatus],
    attempts: delivery.attempts,
    nextAttemptAt: nextAttemptAt ? timestampFromDate(nextAttemptAt) : undefined,
    createdAt: timestampFromDate(delivery.createdAt),
    endedAt: endedAt ? timestampFromDate(endedAt) : undefined,
  });
}

/** An attempt as callers see it. */
export function attemptMessage(attempt: WebhookAttempt): WebhookAttemptMessage {
  return create(WebhookAttemptSchema, {
    number: attempt.number,
    startedAt: timestampFromDate(attempt.startedAt),
    durationMs: attempt.durationMs,
    status: attempt.status ?? undefined,
    error: attempt.error ?? undefined,
    answer: attempt.answer ?? undefined,
  });
}
