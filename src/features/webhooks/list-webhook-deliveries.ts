import { create } from "@bufbuild/protobuf";
import {
  ListWebhookDeliveriesResponseSchema,
  type ListWebhookDeliveriesRequestValid,
  type ListWebhookDeliveriesResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import {
  DEFAULT_PAGE_SIZE,
  invalidPageToken,
  readPageToken,
  writePageToken,
} from "../../domain/page-token.ts";
import type { Call } from "../../pipeline/call.ts";
import { findWebhook } from "./find-webhook.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import { deliveryMessage, deliveryStatusOf } from "./webhook-message.ts";

/**
 * Lists what was and is being sent to a webhook, the newest first.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, or FIELD_INVALID for a page token that is none
 */
export async function listWebhookDeliveries(
  request: ListWebhookDeliveriesRequestValid,
  { caller }: Call,
  em: EntityManager,
): Promise<ListWebhookDeliveriesResponse> {
  const { pageToken, pageSize = DEFAULT_PAGE_SIZE } = request;
  const reading = em.fork();
  const webhook = await findWebhook(reading, caller.workspaceId, request.webhook);
  const filters = { webhook: webhook.id, status: deliveryStatusOf(request.status) };
  const found = await reading.find(
    WebhookDelivery,
    {
      webhook,
      ...(filters.status === undefined ? {} : { status: filters.status }),
      ...(pageToken === undefined ? {} : { id: { $lt: readPosition(pageToken, filters) } }),
    },
    { orderBy: { id: "desc" }, limit: pageSize + 1 },
  );
  const page = found.slice(0, pageSize);
  const last = found.length > pageSize ? page.at(-1) : undefined;
  return create(ListWebhookDeliveriesResponseSchema, {
    data: page.map(deliveryMessage),
    nextPageToken: last === undefined ? "" : writePageToken([last.id], filters),
  });
}

function readPosition(token: string, filters: object): number {
  const [id] = readPageToken(token, filters) ?? [];
  if (!Number.isSafeInteger(id)) throw invalidPageToken();
  return id as number;
}
