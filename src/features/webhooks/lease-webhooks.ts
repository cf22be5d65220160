import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { createWebhookQueue, type WebhookQueue } from "./webhook-queue.ts";
import type { WebhookKey } from "./webhook.entity.ts";

/** How many webhooks may be leased. */
export interface LeaseQuota {
  readonly healthy: number;
  /** Webhooks whose last attempt failed. */
  readonly failing: number;
}

/** How many webhooks one process sends to at the same time. */
const MAX_LEASED: LeaseQuota = { healthy: 1_000, failing: 1_000 };
/** How long a lease lasts from when it is taken or renewed, in milliseconds. */
const LEASE_MS = 5_000;
/** How often leases are renewed, in milliseconds. */
const RENEW_MS = 1_500;
/** By how much earlier than the database a process counts its leases as ended, in milliseconds. */
const MARGIN_MS = 500;
/** How long nothing must have been due of a webhook before its lease is released, in milliseconds. */
const IDLE_MS = 1_000;

/** Goes from one webhook with pending deliveries to the next, however many each of them has. */
const PENDING_OF_ALL = `
  with recursive pending as (
    (select workspace_id, webhook_id, next_attempt_at from webhook_delivery
     where status = 'pending' order by workspace_id, webhook_id, next_attempt_at, id limit 1)
    union all
    select following.* from pending cross join lateral (
      select workspace_id, webhook_id, next_attempt_at from webhook_delivery
      where status = 'pending'
        and (workspace_id, webhook_id) > (pending.workspace_id, pending.webhook_id)
      order by workspace_id, webhook_id, next_attempt_at, id limit 1
    ) as following
  )`;

/**
 * Looks only at webhooks that nobody has leased: at others, whoever has leased them looks. Compared and sorted as
 * the index of what is due is, whose order alone leads to the earliest; by another, all would be read.
 */
const PENDING_OF_WORKSPACES = `
  with pending as (
    select webhook.workspace_id, webhook.id as webhook_id, earliest.next_attempt_at
    from webhook cross join lateral (
      select next_attempt_at from webhook_delivery
      where status = 'pending'
        and (workspace_id, webhook_id) >= (webhook.workspace_id, webhook.id)
        and (workspace_id, webhook_id) <= (webhook.workspace_id, webhook.id)
      order by workspace_id, webhook_id, next_attempt_at, id limit 1
    ) as earliest
    where webhook.workspace_id = any ($5) and not exists (
      select from webhook_lease as lease
      where lease.workspace_id = webhook.workspace_id and lease.webhook_id = webhook.id
        and lease.leased_until > now())
  )`;

/**
 * Leases the webhooks of `pending`. Skips those that are being deleted, since the lease refers to
 * the webhook and would wait for the end of that.
 */
const TAKE = `, due as (
    select pending.*, webhook.failing_since is not null as failing, row_number() over (
      partition by webhook.failing_since is not null order by pending.next_attempt_at) as rank
    from pending cross join lateral (
      select failing_since from webhook
      where workspace_id = pending.workspace_id and id = pending.webhook_id limit 1
    ) as webhook
    where pending.next_attempt_at <= now() and not exists (
      select from webhook_lease as lease
      where lease.workspace_id = pending.workspace_id and lease.webhook_id = pending.webhook_id
        and lease.leased_until > now())
  ), free as (
    select webhook.* from due cross join lateral (
      select workspace_id, id from webhook
      where workspace_id = due.workspace_id and id = due.webhook_id
      limit 1 for key share skip locked
    ) as webhook
    where due.rank <= case when due.failing then $4::int else $3::int end
    order by 1, 2
  )
  insert into webhook_lease as lease (workspace_id, webhook_id, worker, leased_until)
  select workspace_id, id, $1, now() + $2::int * interval '1 ms' from free
  on conflict (workspace_id, webhook_id)
  do update set worker = excluded.worker, leased_until = excluded.leased_until
  where lease.leased_until <= now()
  returning workspace_id::float8 as workspace, webhook_id as webhook`;

/** Sets the end of those leases in `$2` that this process holds, `$3` milliseconds from now. */
const SET_END = `
  update webhook_lease as lease set leased_until = now() + $3::int * interval '1 ms'
  from json_to_recordset($2) as leased (workspace bigint, webhook text)
  where lease.workspace_id = leased.workspace and lease.webhook_id = leased.webhook
    and lease.worker = $1
  returning lease.workspace_id::float8 as workspace, lease.webhook_id as webhook`;

/**
 * The leases of one process. While it has leased a webhook, no other process sends its deliveries.
 *
 * @param worker an id that no other process has
 */
export function createWebhookLeases(em: EntityManager, worker: string) {
  async function setEnd(webhooks: readonly WebhookKey[], ms: number): Promise<WebhookKey[]> {
    if (webhooks.length === 0) return [];
    return runStatement(em, SET_END, [worker, JSON.stringify(webhooks), ms]);
  }
  return {
    /**
     * Leases webhooks that have a delivery due and that no process has leased, those first that have
     * waited longest.
     *
     * @param workspaces whose webhooks; undefined for all
     */
    take(
      workspaces: readonly number[] | undefined,
      { healthy, failing }: LeaseQuota,
    ): Promise<WebhookKey[]> {
      const values = [worker, LEASE_MS, healthy, failing];
      return workspaces === undefined
        ? runStatement(em, PENDING_OF_ALL + TAKE, values)
        : runStatement(em, PENDING_OF_WORKSPACES + TAKE, [...values, workspaces]);
    },
    /** Renews leases. Gives the webhooks that this process still has leased. */
    renew: (webhooks: readonly WebhookKey[]) => setEnd(webhooks, LEASE_MS),
    /** Ends leases, so that another process may take them at once. */
    release: (webhooks: readonly WebhookKey[]) => setEnd(webhooks, 0),
  };
}

/** The webhooks that one process has leased, with their queues. */
export type LeasedWebhooks = ReturnType<typeof createLeasedWebhooks>;

/** Builds the set; it is empty at first. */
export function createLeasedWebhooks(em: EntityManager, log: Logger) {
  const leases = createWebhookLeases(em, randomUUID());
  const queues = new Map<string, WebhookQueue>();

  function quota(): LeaseQuota {
    const failing = [...queues.values()].filter((queue) => queue.isFailing()).length;
    const healthy = queues.size - failing;
    return {
      healthy: Math.max(0, MAX_LEASED.healthy - healthy),
      failing: Math.max(0, MAX_LEASED.failing - failing),
    };
  }

  /** Forgets a webhook; of what is in flight, only its outcome is still recorded. */
  function forget(queue: WebhookQueue): void {
    queue.leasedUntilMs = 0;
    if (queues.get(nameOf(queue.key)) === queue) queues.delete(nameOf(queue.key));
  }

  async function renew(busy: readonly WebhookQueue[]): Promise<void> {
    const leasedUntilMs = certainEndMs();
    const renewed = new Set((await leases.renew(busy.map(({ key }) => key))).map(nameOf));
    for (const queue of busy) {
      if (renewed.has(nameOf(queue.key))) queue.leasedUntilMs = leasedUntilMs;
      // Another process took it after its end, or it was deleted.
      else forget(queue);
    }
  }

  async function release(released: readonly WebhookQueue[]): Promise<void> {
    released.forEach(forget);
    await leases.release(released.map(({ key }) => key));
  }

  return {
    queues: () => queues.values(),
    forget,
    /** Leases webhooks with something due, as `take` of `createWebhookLeases`; says how many. */
    async take(workspaces: readonly number[] | undefined): Promise<number> {
      const leasedUntilMs = certainEndMs();
      const taken = await leases.take(workspaces, quota());
      for (const key of taken) {
        // One whose lease had ended still knows what is in flight.
        const queue = queues.get(nameOf(key)) ?? createWebhookQueue(key, leasedUntilMs);
        queue.leasedUntilMs = leasedUntilMs;
        queues.set(nameOf(key), queue);
      }
      return taken.length;
    },
    /** Renews leases regularly, and releases those of webhooks with nothing due, until aborted. */
    async keep(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await sleep(RENEW_MS, undefined, { signal }).catch(() => undefined);
        const { idle = [], busy = [] } = Object.groupBy(queues.values(), (queue) =>
          queue.isIdle(IDLE_MS) ? "idle" : "busy",
        );
        await Promise.all([renew(busy), release(idle)]).catch((error: unknown) =>
          log.warn({ err: error }, "leases of webhooks could not be renewed"),
        );
      }
    },
    releaseAll: () => release([...queues.values()]),
  };
}

/** Until when a lease that is asked for now will be certain, on the clock of `performance.now()`. */
function certainEndMs(): number {
  return performance.now() + LEASE_MS - MARGIN_MS;
}

function nameOf({ workspace, webhook }: WebhookKey): string {
  return `${workspace} ${webhook}`;
}
