import type { EntityManager } from "../../db/orm.ts";
import type { HeldWebhooks } from "./held-webhooks.ts";
import { readDueDeliveries, type DueAnswer, type OpenSecrets } from "./load-due-deliveries.ts";
import type { WebhookQueue } from "./webhook-queue.ts";

/** How many webhooks one statement reads at most. */
const MAX_QUEUES = 100;

/**
 * Reads what is due for all queues that want more, and hands each queue to `send`. Forgets those of
 * webhooks that have been deleted, and those whose secrets cannot be opened: when their leases have
 * ended, this process or one that can open them looks again.
 *
 * @throws when the database fails; the queues then still want more
 */
export async function fillQueues(
  em: EntityManager,
  held: HeldWebhooks,
  open: OpenSecrets,
  send: (queue: WebhookQueue) => void,
): Promise<void> {
  const wanting = [...held.all()].filter((queue) => queue.isReadWanted());
  for (let i = 0; i < wanting.length; i += MAX_QUEUES) {
    await fillTogether(em, held, wanting.slice(i, i + MAX_QUEUES), open, send);
  }
}

async function fillTogether(
  em: EntityManager,
  held: HeldWebhooks,
  queues: readonly WebhookQueue[],
  open: OpenSecrets,
  send: (queue: WebhookQueue) => void,
): Promise<void> {
  const reads = queues.map((queue) => queue.beginRead());
  let answers: readonly (DueAnswer | undefined)[] = [];
  try {
    answers = await readDueDeliveries(
      em,
      reads.map(({ query }) => query),
      open,
    );
  } finally {
    for (const [i, queue] of queues.entries()) queue.endRead(reads[i]!, answers[i]);
  }
  for (const [i, queue] of queues.entries()) {
    if (answers[i] === undefined) held.forget(queue);
    else send(queue);
  }
}
