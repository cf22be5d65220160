import type { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { createWebhook } from "./create-webhook.ts";
import { deleteWebhook } from "./delete-webhook.ts";
import { getWebhook } from "./get-webhook.ts";
import { listWebhookAttempts } from "./list-webhook-attempts.ts";
import { listWebhookDeliveries } from "./list-webhook-deliveries.ts";
import { listWebhooks } from "./list-webhooks.ts";
import { redeliverEvent } from "./redeliver-event.ts";
import { rotateWebhookSecret } from "./rotate-webhook-secret.ts";
import { testWebhook } from "./test-webhook.ts";
import { updateWebhook } from "./update-webhook.ts";
import type { WebhookDeps } from "./webhook-deps.ts";

/** The functions behind `shipments.v1.WebhookService`. */
export function webhookService(deps: WebhookDeps): ServiceFunctions<typeof WebhookService> {
  return {
    createWebhook: (request, call) => createWebhook(request, call, deps),
    listWebhooks: (_, call) => listWebhooks(call, deps.em),
    getWebhook: (request, call) => getWebhook(request, call, deps.em),
    updateWebhook: (request, call) => updateWebhook(request, call, deps),
    deleteWebhook: (request, call) => deleteWebhook(request, call, deps.em),
    rotateWebhookSecret: (request, call) => rotateWebhookSecret(request, call, deps),
    testWebhook: (request, call) => testWebhook(request, call, deps),
    redeliverEvent: (request, call) => redeliverEvent(request, call, deps),
    listWebhookDeliveries: (request, call) => listWebhookDeliveries(request, call, deps.em),
    listWebhookAttempts: (request, call) => listWebhookAttempts(request, call, deps.em),
  };
}
