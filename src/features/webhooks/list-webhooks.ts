import { create } from "@bufbuild/protobuf";
import {
  ListWebhooksResponseSchema,
  type ListWebhooksResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { MAX_WEBHOOKS } from "../../domain/limits.ts";
import type { Call } from "../../pipeline/call.ts";
import { webhookMessage } from "./webhooks.ts";
import { Webhook } from "./webhook.entity.ts";

/** Lists the workspace's webhooks, oldest first; at most `MAX_WEBHOOKS`, so without pages. */
export async function listWebhooks(
  _request: unknown,
  { caller: { workspaceId } }: Call,
  { em }: DatabaseDeps,
): Promise<ListWebhooksResponse> {
  const found = await em
    .fork()
    .find(
      Webhook,
      { workspace: workspaceId },
      { orderBy: { createdAt: "asc", id: "asc" }, limit: MAX_WEBHOOKS },
    );
  return create(ListWebhooksResponseSchema, { data: found.map(webhookMessage) });
}
