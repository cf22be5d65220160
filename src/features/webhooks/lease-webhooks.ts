import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { byOwner } from "../../db/by-owner.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runForEach } from "../../db/for-each-workspace.ts";
import { type DueRow, readPlatform } from "../../db/platform-reads.ts";
import { createWebhookQueue, type WebhookQueue } from "./webhook-queue.ts";
import type { WebhookKey } from "./webhook.entity.ts";

export interface LeaseQuota {
  readonly healthy: number;
  /** Number of webhooks whose last attempt failed. */
  readonly failing: number;
}

const MAX_LEASED: LeaseQuota = { healthy: 1_000, failing: 1_000 };
/** Maximum number of webhooks in a search result, separately for healthy and failing webhooks. */
const MAX_FOUND = 1_000;
/** Duration of a lease from its acquisition or renewal, in milliseconds. */
const LEASE_MS = 5_000;
const RENEW_MS = 1_500;
/** Safety margin, in milliseconds: a process treats its leases as expired this long before the database does. */
const MARGIN_MS = 500;
/** Idle time after which a webhook's lease is released, in milliseconds. */
const IDLE_MS = 1_000;

/**
 * Returns SQL for webhooks with a due delivery and no lease, longest waiting first. Compares and sorts in the order of
 * the index on due deliveries, so that PostgreSQL reads only the earliest delivery of each webhook.
 *
 * @param workspaces SQL condition that limits the workspaces
 */
const dueSql = (workspaces: string) => `
  select workspace_id::float8 as workspace, id as webhook, failing, now()::text as "loadedAt",
    extract(epoch from due)::float8 as due
  from (
    select webhook.workspace_id, webhook.id, webhook.failing_since is not null as failing,
      earliest.next_attempt_at as due, row_number() over (
        partition by webhook.failing_since is not null order by earliest.next_attempt_at) as rank
    from webhook cross join lateral (
      select next_attempt_at from webhook_delivery as delivery
      where status = 'pending'
        and (delivery.workspace_id, webhook_id) >= (webhook.workspace_id, webhook.id)
        and (delivery.workspace_id, webhook_id) <= (webhook.workspace_id, webhook.id)
      order by delivery.workspace_id, webhook_id, next_attempt_at, delivery.id limit 1
    ) as earliest
    where ${workspaces} and earliest.next_attempt_at <= now() and not exists (
      select from webhook_lease as lease
      where lease.workspace_id = webhook.workspace_id and lease.webhook_id = webhook.id
        and lease.leased_until > now())
  ) as due
  where rank <= ${MAX_FOUND}`;

const DUE_OF_ALL = dueSql("true");
const DUE_OF_WORKSPACES = dueSql("webhook.workspace_id = any ($1)");

/**
 * Leases webhooks `$2` of workspace `$1`. Skips webhooks that another process has leased since the search. Also skips
 * webhooks that are being deleted, because the lease's foreign key would wait for the deletion.
 */
const ACQUIRE = `
  insert into webhook_lease as lease (workspace_id, webhook_id, worker, leased_until)
  select workspace_id, id, $3, $4::timestamptz + $5::int * interval '1 ms' from webhook
  where workspace_id = $1 and id = any ($2::text[]) order by id for key share skip locked
  on conflict (workspace_id, webhook_id)
  do update set worker = excluded.worker, leased_until = excluded.leased_until
  where lease.leased_until <= $4::timestamptz
  returning workspace_id::float8 as workspace, webhook_id as webhook`;

/**
 * Sets the end of this process's leases on webhooks `$2` to `$4` milliseconds from now. Truncates to milliseconds,
 * because PostgreSQL would round up and extend an expiring lease by half a millisecond.
 */
const SET_END = `
  update webhook_lease
  set leased_until = date_trunc('milliseconds', now()) + $4::int * interval '1 ms'
  where workspace_id = $1 and webhook_id = any ($2::text[]) and worker = $3
  returning workspace_id::float8 as workspace, webhook_id as webhook`;

interface LeasableWebhook extends WebhookKey, DueRow {
  /** Whether the webhook's last attempt failed. */
  readonly failing: boolean;
  /** Time of the search, by the clock of the workspace's database server. */
  readonly loadedAt: string;
}

/**
 * Creates the lease manager of one process. While a webhook is leased, no other process sends its deliveries.
 *
 * @param worker unique id of the process
 */
export function createWebhookLeases(em: EntityManager, worker: string) {
  /**
   * Runs a statement once per workspace. Returns the rows, and the webhooks of workspaces for which the statement
   * failed. Commits are not durable. A lease lost in a database crash can only cause duplicate deliveries, which a
   * crash causes anyway.
   */
  async function ofEachWorkspace<Key extends WebhookKey>(
    sql: string,
    webhooks: readonly Key[],
    valuesOf: (first: Key) => readonly unknown[],
  ): Promise<{ returned: WebhookKey[]; failed: WebhookKey[] }> {
    const owned = byOwner(webhooks, ({ workspace }) => workspace);
    const runs = owned.map(([workspace, own]) => [
      workspace,
      own.map(({ webhook }) => webhook),
      worker,
      ...valuesOf(own[0]!),
    ]);
    const rows = await runForEach<WebhookKey>(em, sql, runs, { durable: false });
    const failed = owned.flatMap(([, own], i) => (rows[i] === undefined ? own : []));
    return { returned: rows.flatMap((own) => own ?? []), failed };
  }
  async function find(workspaces: readonly number[] | undefined): Promise<LeasableWebhook[]> {
    const read = workspaces === undefined ? { sql: DUE_OF_ALL } : { sql: DUE_OF_WORKSPACES, values: [workspaces] };
    return (await readPlatform<LeasableWebhook>(em, read)).flat();
  }

  return {
    /**
     * Leases webhooks that have a due delivery and no lease, longest waiting first.
     *
     * @param workspaces workspaces to search. `undefined` for all
     */
    async acquire(workspaces: readonly number[] | undefined, quota: LeaseQuota): Promise<WebhookKey[]> {
      const found = (await find(workspaces)).toSorted((a, b) => a.due - b.due);
      const failing = found.filter((webhook) => webhook.failing).slice(0, quota.failing);
      const healthy = found.filter((webhook) => !webhook.failing).slice(0, quota.healthy);
      const { returned } = await ofEachWorkspace(ACQUIRE, [...failing, ...healthy], ({ loadedAt }) => [
        loadedAt,
        LEASE_MS,
      ]);
      return returned;
    },
    /**
     * Renews leases. Returns the webhooks that this process still leases, and those whose workspace
     * could not be reached.
     */
    async renew(webhooks: readonly WebhookKey[]) {
      const { returned, failed } = await ofEachWorkspace(SET_END, webhooks, () => [LEASE_MS]);
      return { leased: returned, unknown: failed };
    },
    /** Releases leases, so that another process can acquire them immediately. */
    async release(webhooks: readonly WebhookKey[]): Promise<void> {
      await ofEachWorkspace(SET_END, webhooks, () => [0]);
    },
  };
}

/** The webhooks leased by one process, with their queues. */
export type LeasedWebhooks = ReturnType<typeof createLeasedWebhooks>;

/** @param onLost called for each webhook that was deleted or that another process has leased */
export function createLeasedWebhooks(em: EntityManager, log: Logger, onLost: () => void) {
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

  /** Drops the queue of a webhook. The outcomes of its attempts in flight are still recorded. */
  function forget(queue: WebhookQueue): void {
    queue.leasedUntilMs = 0;
    if (queues.get(nameOf(queue.key)) === queue) queues.delete(nameOf(queue.key));
  }

  async function renew(busy: readonly WebhookQueue[]): Promise<void> {
    const leasedUntilMs = certainEndMs();
    const { leased, unknown } = await leases.renew(busy.map(({ key }) => key));
    const [leasedNames, unknownNames] = [new Set(leased.map(nameOf)), new Set(unknown.map(nameOf))];
    for (const queue of busy) {
      if (leasedNames.has(nameOf(queue.key))) queue.leasedUntilMs = leasedUntilMs;
      // Another process acquired the expired lease, or the webhook was deleted. The queue of an unreachable workspace
      // is kept with its attempts in flight, and its lease expires.
      else if (!unknownNames.has(nameOf(queue.key))) {
        forget(queue);
        onLost();
      }
    }
  }

  async function release(released: readonly WebhookQueue[]): Promise<void> {
    released.forEach(forget);
    await leases.release(released.map(({ key }) => key));
  }

  return {
    queues: () => queues.values(),
    forget,
    /**
     * Leases webhooks with due deliveries, like `acquire` of `createWebhookLeases`. Returns the
     * number of leased webhooks.
     */
    async acquire(workspaces: readonly number[] | undefined): Promise<number> {
      const leasedUntilMs = certainEndMs();
      const acquired = await leases.acquire(workspaces, quota());
      for (const key of acquired) {
        // Reuses the queue of an expired lease, which still has its attempts in flight.
        const queue = queues.get(nameOf(key)) ?? createWebhookQueue(key, leasedUntilMs);
        queue.leasedUntilMs = leasedUntilMs;
        queues.set(nameOf(key), queue);
      }
      return acquired.length;
    },
    /** Renews the leases of busy webhooks and releases those of idle ones. Returns the next pause in milliseconds. */
    async renew(): Promise<number> {
      const { idle = [], busy = [] } = Object.groupBy(queues.values(), (queue) =>
        queue.isIdle(IDLE_MS) ? "idle" : "busy",
      );
      await Promise.all([renew(busy), release(idle)]).catch((error: unknown) =>
        log.warn({ err: error }, "leases of webhooks could not be renewed"),
      );
      return RENEW_MS;
    },
    releaseAll: () => release([...queues.values()]),
  };
}

/** Returns the time until which a lease acquired now is certainly held, on the clock of `performance.now()`. */
function certainEndMs(): number {
  return performance.now() + LEASE_MS - MARGIN_MS;
}

function nameOf({ workspace, webhook }: WebhookKey): string {
  return `${workspace} ${webhook}`;
}
