import type { WebhookFigures as WebhookFiguresMessage } from "../../../gen/shipments/v1/webhook_pb.js";
import { readRecordId } from "../../db/columns.ts";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { MAX_WEBHOOKS } from "../../domain/limits.ts";
import { createId } from "../../domain/secret-key.ts";
import { invalidField, refuse } from "../../domain/refusal.ts";
import { webhookUrlError } from "../../domain/webhook/webhook-address.ts";
import { MAX_ATTEMPTS } from "../../domain/webhook/webhook-schedule.ts";
import { createWebhookSecret } from "../../domain/webhook/webhook-signature.ts";
import type { Call } from "../../pipeline/call.ts";
import { announceWorkspace } from "../events/event-announcer.ts";
import { readEventId } from "../events/event-message.ts";
import { Event } from "../events/event.entity.ts";
import { LATE_SECONDS } from "../events/insert-events.ts";
import { deleteWebhook } from "./delete-webhook.ts";
import { listWebhookDeliveries } from "./list-webhook-deliveries.ts";
import { WebhookAttempt } from "./webhook-attempt.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import { activeSecrets, storedSecret } from "./webhook-secrets.ts";
import { Webhook } from "./webhook.entity.ts";
import {
  attemptMessage,
  deliveryMessage,
  loadWebhook,
  recordWebhookEvent,
  type WebhookDeps,
  type WebhookFunctions,
  webhookMessage,
} from "./webhooks.ts";

/** Default time for which earlier secrets remain active, in seconds: one day. */
const DEFAULT_OVERLAP_SECONDS = 86_400;
/** Maximum number of active secrets of a webhook. If exceeded, the oldest secret expires immediately. */
const MAX_SECRETS = 5;

export const WEBHOOK_FUNCTIONS: WebhookFunctions = {
  deleteWebhook,
  listWebhookDeliveries,

  /** Not paginated, because there are at most `MAX_WEBHOOKS`. */
  async listWebhooks(_request, { caller }, { em }) {
    const where = { workspace: caller.workspaceId };
    const orderBy = { createdAt: "asc", id: "asc" } as const;
    return { data: (await em.fork().find(Webhook, where, { orderBy })).map(webhookMessage) };
  },

  async listWebhookFigures(_request, { caller }, { em }) {
    const values = [caller.workspaceId, FIGURES_OF];
    return { data: await runStatement<WebhookFigures>(em, FIGURES, values) };
  },

  async getWebhook({ webhook }, call, { em }) {
    return { data: webhookMessage(await loadWebhook(em.fork(), call, webhook)) };
  },

  async listWebhookAttempts(request, call, deps) {
    const em = deps.em.fork();
    const webhook = await loadWebhook(em, call, request.webhook);
    const id = readRecordId(request.delivery) ?? 0;
    const delivery = await em.findOne(WebhookDelivery, { webhook, id });
    if (delivery === null) throw refuse("DELIVERY_NOT_FOUND");
    const options = { orderBy: { number: "asc" }, limit: MAX_ATTEMPTS } as const;
    const attempts = await em.find(WebhookAttempt, { delivery }, options);
    return { data: attempts.map(attemptMessage) };
  },

  async createWebhook(request, { caller: { workspaceId: workspace } }, deps) {
    const url = toStoredUrl(request.url, deps);
    await assertWebhookLimit(deps.em, workspace);
    const secret = createWebhookSecret();
    const id = createId("wh");
    const createdAt = deps.now();
    const webhook = deps.em.create(Webhook, {
      workspace,
      id,
      url,
      types: toStoredTypes(request.types),
      secrets: [storedSecret(deps.secretSeal, { workspace, webhook: id }, secret)],
      createdAt,
      updatedAt: createdAt,
    });
    return { data: webhookMessage(webhook), secret };
  },

  /** Enabling a webhook does not resume deliveries that failed while it was disabled. */
  async updateWebhook(request, call, deps) {
    const { types, clear, enabled } = request;
    const url = request.url === undefined ? undefined : toStoredUrl(request.url, deps);
    const webhook = await loadWebhook(deps.em, call, request.webhook, "lock");
    if (url !== undefined) webhook.url = url;
    if (types.length > 0 || clear.includes("types")) webhook.types = toStoredTypes(types);
    if (enabled === true) {
      webhook.disabledReason = null;
      webhook.failingSince = null;
    }
    if (enabled === false) webhook.disabledReason ??= "request";
    webhook.updatedAt = deps.now();
    return { data: webhookMessage(webhook) };
  },

  /** Earlier secrets expire after the overlap, or at their current expiry if that is sooner. */
  async rotateWebhookSecret(request, call, { em, now, secretSeal }) {
    const webhook = await loadWebhook(em, call, request.webhook, "lock");
    const { workspace, id } = webhook;
    const secret = createWebhookSecret();
    const rotatedAt = now();
    const overlapMs = (request.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS) * 1_000;
    const endMs = rotatedAt.getTime() + overlapMs;
    const earlier = webhook.secrets.map((it) => ({
      ...it,
      endsAtMs: Math.min(it.endsAtMs ?? Infinity, endMs),
    }));
    const first = storedSecret(secretSeal, { workspace, webhook: id }, secret);
    webhook.secrets = [first, ...activeSecrets(earlier, rotatedAt)].slice(0, MAX_SECRETS);
    webhook.updatedAt = rotatedAt;
    return { data: webhookMessage(webhook), secret };
  },

  async testWebhook(request, call, { em, now }) {
    const webhook = await loadWebhook(em, call, request.webhook, "lock");
    const at = now();
    const event = await recordWebhookEvent(em, webhook, "webhook.test", at);
    const delivery = await createDelivery(em, webhook, event, at, call);
    call.received.span?.setCauseOf({ ...event, workspace: webhook.workspace });
    return { data: deliveryMessage(delivery) };
  },

  async redeliverEvent(request, call, { em, now }) {
    const webhook = await loadWebhook(em, call, request.webhook, "lock");
    const { workspace } = webhook;
    const key = readEventId(request.event);
    const event = key && (await em.findOne(Event, { workspace, ...key }));
    if (!event) throw refuse("EVENT_NOT_FOUND");
    const delivery = await createDelivery(em, webhook, event, now(), call);
    await announceWorkspace(em, workspace);
    call.received.span?.setCauseOf(event);
    return { data: deliveryMessage(delivery) };
  },
};

type WebhookFigures = Pick<WebhookFiguresMessage, "webhook" | "attempts" | "failedAttempts">;

/** Number of a webhook's newest deliveries whose attempts are counted. */
const FIGURES_OF = 500;

/** Counts attempts and failed attempts. Only the last attempt of a successful delivery did not fail. */
const FIGURES = `
  select id as webhook, attempts, attempts - delivered as "failedAttempts"
  from webhook cross join lateral (
    select coalesce(sum(attempts), 0)::int as attempts,
      (count(*) filter (where status = 'delivered'))::int as delivered
    from (
      select attempts, status, created_at from webhook_delivery
      where workspace_id = $1 and webhook_id = webhook.id order by id desc limit $2
    ) as newest
    where created_at > now() - interval '7 days'
  ) as counted
  where workspace_id = $1 order by created_at, id`;

async function assertWebhookLimit(tx: EntityManager, workspace: number): Promise<void> {
  const count = await lockAndLoad(tx, "webhooks", workspace, () => tx.count(Webhook, { workspace }));
  if (count >= MAX_WEBHOOKS) throw refuse("WEBHOOK_LIMIT");
}

/** Validates and normalizes a URL, so that the displayed URL is the one that receives events. */
function toStoredUrl(url: string, { allowLoopbackHttp }: WebhookDeps): string {
  const error = webhookUrlError(url, allowLoopbackHttp);
  if (error !== undefined) throw invalidField("url", `${error}.`);
  return new URL(url).href;
}

/** Normalizes event types. An empty list, or a list with `*`, means all types. */
function toStoredTypes(types: readonly string[]): readonly string[] {
  return types.length === 0 || types.includes("*") ? ["*"] : [...new Set(types)];
}

/**
 * Creates the delivery of an event to a webhook, regardless of the webhook's types. It is due
 * immediately, unless the call simulates a delay.
 *
 * @throws Refusal WEBHOOK_DISABLED
 */
async function createDelivery(
  tx: EntityManager,
  webhook: Webhook,
  { subject, number, type }: Pick<Event, "subject" | "number" | "type">,
  at: Date,
  { received }: Call,
): Promise<WebhookDelivery> {
  if (webhook.disabledReason) throw refuse("WEBHOOK_DISABLED");
  const { duplicated, reordered, failures = null } = received.simulation?.deliveryFaults ?? {};
  const row = {
    workspace: webhook.workspace,
    webhook,
    subject,
    number,
    type,
    createdAt: at,
    nextAttemptAt: reordered ? new Date(at.getTime() + LATE_SECONDS * 1_000) : at,
    simulatedFailures: failures,
  };
  const delivery = tx.create(WebhookDelivery, row);
  if (duplicated) tx.create(WebhookDelivery, row);
  await tx.flush();
  return delivery;
}
