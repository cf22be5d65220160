import type { Logger } from "pino";
import type { LeasedQueue, QueueControl } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type { EventAnnouncer } from "../events/event-announcer.ts";
import { createDispatcher, type DeliveryAttempt, type DispatchDeps, OUTCOMES } from "./dispatch-deliveries.ts";
import { createLeasedWebhooks, type LeasedWebhooks } from "./lease-webhooks.ts";
import { loadDueDeliveries, type DueResult, type OpenSecrets, type Unloaded } from "./load-due-deliveries.ts";
import { createOutcomeRecorder, type RecordDeps } from "./record-outcomes.ts";
import type { WebhookQueue } from "./webhook-queue.ts";
import { activeSecrets, openSecrets } from "./webhook-secrets.ts";

export interface DeliverDeps extends DispatchDeps, RecordDeps {
  readonly em: EntityManager;
  readonly events: Pick<EventAnnouncer, "listen">;
  readonly secretSeal: SecretSeal;
  readonly log: Logger;
  /** Aborts when the process stops waiting for the database to record outcomes. */
  readonly givingUp: AbortSignal;
}

/**
 * Minimum pause after a poll, as a multiple of the poll's duration. Limits the load of polls, which are slow with ten
 * thousand webhooks.
 */
const REST_FACTOR = 50;
const MAX_REST_MS = 5_000;
const MAX_LOADED = 100;
/** Minimum time between log entries about secrets that cannot be decrypted, in milliseconds. */
const LOG_MS = 60_000;

/**
 * Creates the queue of webhook deliveries, which replicas share. Webhooks are leased, and their deliveries are sent
 * from memory. An announced event triggers a search before the next poll.
 *
 * The diagram shows the states of a delivery and the files that change them. `due`, `delivered` and
 * `failed` are stored in the database. The states in between are in memory.
 *
 *             announced, or     loaded into      concurrency
 *             polled (0.5 s)    its queue        and limit allow it    2xx
 *   event --> due ------------> leased --------> sending --------------------> delivered
 *             ^ ^               |  lease-webhooks   |  webhook-queue
 *             | |  lease expired|  load-due-        |  dispatch-deliveries
 *             | '---------------'  deliveries       |  send-webhook
 *             |                    webhook-queue    | other responses, or 15 s without one
 *             |                                     v
 *             '------------- attempts left <-- record-outcomes --> no retries --> failed
 *              retry: due in 5 s, 5 min, ... 24 h                  or disabled
 *
 * - A receiver hangs: each attempt fails after 15 s, when `send-webhook` aborts it. The webhook's concurrency
 *   halves from 4 to 1, and `webhook-schedule` schedules the retry of each delivery. Other webhooks are
 *   not delayed, because each has a reserved concurrency, and failing webhooks are leased from a separate
 *   quota. After 5 days without a success the webhook is disabled.
 * - A process dies: its leases expire within 5 s, and another process leases the webhooks. Deliveries in
 *   flight are sent again, with the same id.
 * - The database is down: outcomes are recorded once it is back. Until then their deliveries stay in
 *   flight, so that no delivery is sent twice. A process treats a lease that it cannot renew as expired 0.5 s
 *   before the database does.
 * - A webhook is changed, disabled or deleted: loaded data is reloaded after 0.5 s.
 */
export function createDeliveryQueue(deps: DeliverDeps): LeasedQueue<DeliveryAttempt> {
  const { em, events, log } = deps;
  let control: QueueControl<DeliveryAttempt>;
  const leased = createLeasedWebhooks(em, log, () => control.count("lost"));
  const record = createOutcomeRecorder(deps, log, deps.givingUp);
  const start = (each: DeliveryAttempt) => control.start(each);
  const { send, attempt } = createDispatcher(deps, log, start, record, (queue) => {
    if (queue.isLoadWanted()) control.wake([]);
  });
  const open = createOpenSecrets(deps, log);
  const fill = () => fillQueues(em, leased, open, send);

  async function acquire(workspaces: readonly number[] | undefined): Promise<number> {
    const startedMs = performance.now();
    const count = await leased.acquire(workspaces);
    const restMs = (performance.now() - startedMs) * REST_FACTOR;
    if (workspaces === undefined) control.rest(Math.min(restMs, MAX_REST_MS));
    return count;
  }

  return {
    name: "webhooks",
    outcomes: OUTCOMES,
    connect(given) {
      control = given;
      events.listen(given.wake);
    },
    async find({ workspaces }) {
      for (const each of leased.queues()) {
        if (workspaces?.includes(each.key.workspace) === false) continue;
        each.expectMore();
        send(each);
      }
      const acquiring = workspaces?.length === 0 ? 0 : acquire(workspaces);
      const [acquired] = await Promise.all([acquiring, fill()]);
      if (acquired > 0) await fill();
      return [];
    },
    work: attempt,
    renew: leased.renew,
    close: () => leased.releaseAll().catch(() => undefined),
  };
}

/**
 * Loads due deliveries for all queues that may have more, and passes each queue to `send`. Drops the queue of a webhook
 * that was deleted or whose secrets this process cannot decrypt. After the lease expires, a process with the key can
 * acquire the webhook. If a workspace is unreachable, its queues are loaded again later.
 *
 * @throws the database's error, after which the queues are loaded again later
 */
async function fillQueues(
  em: EntityManager,
  leased: LeasedWebhooks,
  open: OpenSecrets,
  send: (queue: WebhookQueue) => void,
): Promise<void> {
  const wanting = [...leased.queues()].filter((queue) => queue.isLoadWanted());
  for (let i = 0; i < wanting.length; i += MAX_LOADED) {
    const queues = wanting.slice(i, i + MAX_LOADED);
    const queries = queues.map((queue) => queue.beginLoad());
    let results: readonly (DueResult | Unloaded)[] = [];
    try {
      results = await loadDueDeliveries(em, queries, open);
    } finally {
      for (const [j, queue] of queues.entries()) {
        const result = results[j];
        queue.endLoad(queries[j]!, typeof result === "object" ? result : undefined);
      }
    }
    for (const [j, queue] of queues.entries()) {
      if (results[j] === "gone") leased.forget(queue);
      else if (results[j] !== "unreachable") send(queue);
    }
  }
}

/** Creates a function that decrypts the active secrets of webhooks and logs failures. */
function createOpenSecrets({ secretSeal, now }: DeliverDeps, log: Logger): OpenSecrets {
  let loggedAtMs = -Infinity;
  return (webhook, stored) => {
    const opened = openSecrets(secretSeal, webhook, activeSecrets(stored, now()));
    if (opened === undefined && performance.now() - loggedAtMs >= LOG_MS) {
      loggedAtMs = performance.now();
      log.error(webhook, "deliveries wait: no key in SECRETS_KEYS decrypts the secret of a webhook");
    }
    return opened;
  };
}
