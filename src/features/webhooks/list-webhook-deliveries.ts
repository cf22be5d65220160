import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { readInOrder } from "../../db/transaction.ts";
import { endPage, readPage, toId } from "../../pipeline/page.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import { deliveryMessage, deliveryStatusOf, type LastAttempt, loadWebhook, type WebhookFunctions } from "./webhooks.ts";

export const listWebhookDeliveries: WebhookFunctions["listWebhookDeliveries"] = async (request, call, { em }) => {
  const reading = em.fork();
  const webhook = await loadWebhook(reading, call, request.webhook);
  const filters = { webhook: webhook.id, status: deliveryStatusOf(request.status) };
  const page = readPage(request, filters, toId);
  const found = await readInOrder(em, (tx) => {
    const where = {
      webhook,
      ...(filters.status === undefined ? {} : { status: filters.status }),
      ...(page.after === undefined ? {} : { id: { $lt: page.after } }),
    };
    return tx.find(WebhookDelivery, where, { orderBy: { id: "desc" }, limit: page.limit });
  });
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  const lastOf = await loadLastAttempts(reading, webhook.workspace, rows);
  const data = rows.map((it) => deliveryMessage(it, lastOf.get(Number(it.id))));
  return { data, nextPageToken };
};

const LAST_ATTEMPTS = `
  select asked.value::float8 as delivery, last.status, last.error, last.duration_ms as "durationMs"
  from json_array_elements_text($2::json) as asked (value)
  cross join lateral (
    select status, error, duration_ms from webhook_attempt
    where workspace_id = $1 and delivery_id = asked.value::bigint
    order by number desc limit 1
  ) as last`;

/** Returns the last attempt of each delivery by delivery id. Deliveries without attempts are omitted. */
async function loadLastAttempts(
  em: EntityManager,
  workspace: number,
  deliveries: readonly WebhookDelivery[],
): Promise<ReadonlyMap<number, LastAttempt>> {
  const ids = deliveries.map(({ id }) => Number(id));
  if (ids.length === 0) return new Map();
  type Row = LastAttempt & { readonly delivery: number };
  const found = await runStatement<Row>(em, LAST_ATTEMPTS, [workspace, JSON.stringify(ids)]);
  return new Map(found.map((last) => [last.delivery, last]));
}
