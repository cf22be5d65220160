import { create } from "@bufbuild/protobuf";
import {
  ListWebhookDeliveriesResponseSchema,
  type ListWebhookDeliveriesRequestValid,
  type ListWebhookDeliveriesResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import type { Call } from "../../pipeline/call.ts";
import { loadWebhook, deliveryMessage, deliveryStatusOf } from "./webhooks.ts";
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
  const found = await reading.transactional(async (tx) => {
    await runStatement(tx, IN_ORDER_OF_INDEX);
    const where = {
      webhook,
      ...(filters.status === undefined ? {} : { status: filters.status }),
      ...(page.after === undefined ? {} : { id: { $lt: page.after } }),
    };
    return tx.find(WebhookDelivery, where, { orderBy: { id: "desc" }, limit: page.limit });
  });
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  return create(ListWebhookDeliveriesResponseSchema, {
    data: rows.map(deliveryMessage),
    nextPageToken,
  });
}

/**
 * Of the indexes that begin with the webhook it leaves the one in the order of the list. By another, which
 * looks as cheap where PostgreSQL knows nothing of the table, all deliveries would be read and sorted.
 */
const IN_ORDER_OF_INDEX = "set local enable_sort = off";

function readId([id]: readonly unknown[]): number | undefined {
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}
