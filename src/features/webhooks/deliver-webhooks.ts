import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { EntityManager } from "../../db/orm.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type { EventAnnouncer } from "../events/event-announcer.ts";
import { createWaiter } from "../events/waiter.ts";
import { createDispatcher, type DispatchDeps } from "./dispatch-deliveries.ts";
import { createLeasedWebhooks, type LeasedWebhooks } from "./lease-webhooks.ts";
import { loadDueDeliveries, type DueResult, type OpenSecrets, type Unloaded } from "./load-due-deliveries.ts";
import { createOutcomeRecorder, type RecordDeps } from "./record-outcomes.ts";
import type { WebhookQueue } from "./webhook-queue.ts";
import { activeSecrets, openSecrets } from "./webhook-secrets.ts";

export interface DeliverDeps extends DispatchDeps, RecordDeps {
  readonly em: EntityManager;
  readonly events: Pick<EventAnnouncer, "listen">;
  readonly secretSeal: SecretSeal;
}

export interface Deliveries {
  /** Stops starting attempts, waits up to 3 s for attempts in flight, and aborts the rest. */
  close(): Promise<void>;
}

/** Interval in milliseconds of polls for work that is not announced: retries, and deliveries of a crashed process. */
const POLL_MS = 500;
/**
 * Minimum pause after a poll, as a multiple of the poll's duration. Limits the load from polls,
 * which take long with ten thousand webhooks.
 */
const REST_FACTOR = 50;
const MAX_REST_MS = 5_000;
const MAX_LOADED = 100;
/** Maximum time for attempts in flight to finish at shutdown, in milliseconds. */
const GRACE_MS = 3_000;
/** Delay before the next poll after an error, in milliseconds. */
const RETRY_MS = 1_000;
/** Minimum time between log entries about secrets that cannot be opened, in milliseconds. */
const LOG_MS = 60_000;

/**
 * Delivers webhooks, together with other replicas, until closed.
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
export function deliverWebhooks(log: Logger, deps: DeliverDeps): Deliveries {
  const { em, events } = deps;
  const stopping = new AbortController();
  const givingUp = new AbortController();
  const announced = createAnnouncedWorkspaces();
  const leased = createLeasedWebhooks(em, log);
  const record = createOutcomeRecorder(deps, log, givingUp.signal);
  const dispatcher = createDispatcher(deps, log, record, (queue) => {
    if (queue.isLoadWanted()) announced.notify();
  });
  const open = createOpenSecrets(deps, log);
  events.listen(announced.add);

  const fill = () => fillQueues(em, leased, open, dispatcher.send);

  async function poll(): Promise<void> {
    const workspaces = announced.drain();
    for (const queue of leased.queues()) {
      if (workspaces?.includes(queue.key.workspace) === false) continue;
      queue.expectMore();
      dispatcher.send(queue);
    }
    const acquiring = workspaces?.length === 0 ? 0 : acquire(workspaces);
    const [acquired] = await Promise.all([acquiring, fill()]);
    if (acquired > 0) await fill();
  }

  async function acquire(workspaces: readonly number[] | undefined): Promise<number> {
    const startedMs = performance.now();
    const count = await leased.acquire(workspaces);
    const restMs = (performance.now() - startedMs) * REST_FACTOR;
    if (workspaces === undefined) announced.rest(Math.min(restMs, MAX_REST_MS));
    return count;
  }

  async function pollRepeatedly(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await poll();
      } catch (error) {
        log.warn({ err: error }, "delivery of webhooks was interrupted");
        announced.add(undefined);
        await sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
      await announced.wait();
    }
  }

  const polling = pollRepeatedly();
  const renewing = leased.renewPeriodically(stopping.signal);
  return {
    async close() {
      stopping.abort();
      announced.notify();
      const grace = sleep(GRACE_MS, undefined, { ref: false });
      await Promise.race([dispatcher.close(), grace]);
      givingUp.abort();
      await Promise.all([polling, renewing]);
      await leased.releaseAll().catch(() => undefined);
    },
  };
}

/**
 * Creates a collection of the workspaces that may have due deliveries. When a poll is due, it covers all workspaces.
 */
function createAnnouncedWorkspaces() {
  const announced = new Set<number>();
  const { notify, wait } = createWaiter();
  let pollAtMs = 0;
  return {
    notify,
    /** Adds announced workspaces. `undefined` makes a poll of all workspaces due. */
    add(workspaces: readonly number[] | undefined) {
      if (workspaces === undefined) pollAtMs = 0;
      else for (const workspace of workspaces) announced.add(workspace);
      notify();
    },
    /** Returns and clears the announced workspaces. Returns `undefined`, meaning all, if a poll is due. */
    drain(): readonly number[] | undefined {
      const workspaces = [...announced];
      announced.clear();
      if (performance.now() < pollAtMs) return workspaces;
      pollAtMs = performance.now() + POLL_MS;
      return undefined;
    },
    /** Delays the next poll by at least this time, in milliseconds. */
    rest(ms: number) {
      pollAtMs = Math.max(pollAtMs, performance.now() + ms);
    },
    wait: () => wait(Math.max(0, pollAtMs - performance.now())),
  };
}

/**
 * Loads due deliveries for all queues that may have more, and passes each queue to `send`. Drops the queue of a
 * webhook that was deleted or whose secrets cannot be opened. After its lease expires, any process with the key can
 * acquire it. If a workspace is unreachable, its queues are loaded again later.
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

/** Creates a function that opens the active secrets of webhooks and logs failures. */
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
