import { deleteInBatches, runStatement } from "../../db/statement.ts";
import { aroundTransaction } from "../../pipeline/rpc.ts";
import { loadWebhook, type WebhookFunctions } from "./webhooks.ts";

/**
 * Deletes a webhook with its deliveries and their attempts. If there are many deliveries, the webhook is disabled first
 * and they are deleted in batches, because a large transaction would block bookings.
 */
export const deleteWebhook: WebhookFunctions["deleteWebhook"] = aroundTransaction(
  async (request, call, { em, now }, transact) => {
    const key = [call.caller.workspaceId, request.webhook];
    for (;;) {
      try {
        return await transact(async ({ em: tx }) => {
          const webhook = await loadWebhook(tx, call, request.webhook, "lock");
          const deliveries = await runStatement(tx, SOME_DELIVERIES, [...key, MAX_DELIVERIES + 1]);
          if (deliveries.length > MAX_DELIVERIES) throw new ManyDeliveries();
          tx.remove(webhook);
          return {};
        });
      } catch (error) {
        if (!(error instanceof ManyDeliveries)) throw error;
        await runStatement(em, DISABLE, [...key, now().toISOString()]);
        await deleteInBatches(em, DELETE_DELIVERIES, key);
      }
    }
  },
);

/** Maximum number of deliveries that are deleted in the same transaction as the webhook. */
const MAX_DELIVERIES = 1_000;

/** Thrown to roll back the transaction if the webhook has more than `MAX_DELIVERIES`. */
class ManyDeliveries extends Error {}

const SOME_DELIVERIES = `
  select from webhook_delivery where workspace_id = $1 and webhook_id = $2 limit $3`;

/** Disables the webhook so that bookings create no more deliveries for it. */
const DISABLE = `
  update webhook set disabled_reason = 'request', updated_at = $3
  where workspace_id = $1 and id = $2 and disabled_reason is null`;

const DELETE_DELIVERIES = `
  delete from webhook_delivery where workspace_id = $1 and id in (
    select id from webhook_delivery where workspace_id = $1 and webhook_id = $2 order by id limit $3)
  returning 1`;
