import { create } from "@bufbuild/protobuf";
import {
  ListWebhookDeliveriesResponseSchema,
  type ListWebhookDeliveriesRequestValid,
  type ListWebhookDeliveriesResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { readOnly } from "../../db/transaction.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import type { Call } from "../../pipeline/call.ts";
import { type LastAttempt, loadWebhook, deliveryMessage, deliveryStatusOf } from "./webhooks.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";

/**
 * Lists the deliveries to a webhook, newest first.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, FIELD_INVALID for a page token that is not of this list with
 * this filter
 */
export async function listWebhookDeliveries(
  request: ListWebhookDeliveriesRequestValid,
  { caller }: Call,
  { em }: DatabaseDeps,
): Promise<ListWebhookDeliveriesResponse> {
  const reading = em.fork();
  const webhook = await loadWebhook(reading, caller.workspaceId, request.webhook);
  const filters = { webhook: webhook.id, status: deliveryStatusOf(request.status) };
  const page = readPage(request, filters, readId);
  const found = await readOnly(em, async (tx) => {
    await runStatement(tx, IN_ORDER_OF_INDEX);
    const where = {
      webhook,
      ...(filters.status === undefined ? {} : { status: filters.status }),
      ...(page.after === undefined ? {} : { id: { $lt: page.after } }),
    };
    return tx.find(WebhookDelivery, where, { orderBy: { id: "desc" }, limit: page.limit });
  });
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  const lastOf = await loadLastAttempts(reading, caller.workspaceId, rows);
  return create(ListWebhookDeliveriesResponseSchema, {
    data: rows.map((delivery) => deliveryMessage(delivery, lastOf.get(Number(delivery.id)))),
    nextPageToken,
  });
}

const LAST_ATTEMPTS = `
  select asked.value::float8 as delivery, last.status, last.error, last.duration_ms as "durationMs"
  from json_array_elements_text($2::json) as asked (value)
  cross join lateral (
    select status, error, duration_ms from webhook_attempt
    where workspace_id = $1 and delivery_id = asked.value::bigint
    order by number desc limit 1
  ) as last`;

/** The last attempt at each of the deliveries of one page that has had one, by the delivery's id. */
async function loadLastAttempts(
  em: EntityManager,
  workspace: number,
  deliveries: readonly WebhookDelivery[],
): Promise<ReadonlyMap<number, LastAttempt>> {
  const ids = deliveries.map(({ id }) => Number(id));
  if (ids.length === 0) return new Map();
  const values = [workspace, JSON.stringify(ids)];
  const found = await runStatement<LastAttempt & { readonly delivery: number }>(
    em,
    LAST_ATTEMPTS,
    values,
  );
  return new Map(found.map((last) => [last.delivery, last]));
}

/**
 * Of the indexes that begin with the webhook it leaves the one in the order of the list. By another, which
 * looks as cheap where PostgreSQL knows nothing of the table, all deliveries would be read and sorted.
 */
const IN_ORDER_OF_INDEX = "set local enable_sort = off";

function readId([id]: readonly unknown[]): number | undefined {
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}
