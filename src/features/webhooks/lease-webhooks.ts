import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { byOwner } from "../../db/by-owner.ts";
import type { EntityManager } from "../../db/orm.ts";
import { isDistributed } from "../../db/distributed.ts";
import { runForEach } from "../../db/for-each-workspace.ts";
import { type DueRow, readPlatform } from "../../db/platform-reads.ts";
import { runStatement } from "../../db/statement.ts";
import { createWebhookQueue, type WebhookQueue } from "./webhook-queue.ts";
import type { WebhookKey } from "./webhook.entity.ts";

export interface LeaseQuota {
  readonly healthy: number;
  /** Webhooks whose last attempt failed. */
  readonly failing: number;
}

const MAX_LEASED: LeaseQuota = { healthy: 1_000, failing: 1_000 };
/** How many healthy webhooks, and how many failing ones, one search for what is due finds at most. */
const MAX_FOUND = 1_000;
/** How long a lease lasts from when it is taken or renewed. */
const LEASE_MS = 5_000;
const RENEW_MS = 1_500;
/** By how much earlier than the database a process counts its leases as ended. */
const MARGIN_MS = 500;
/** How long nothing must have been due of a webhook before its lease is released. */
const IDLE_MS = 1_000;

/**
 * Webhooks that have a delivery due and no lease, those first that have waited longest.
 *
 * @param workspaces a condition
 * @param earliest leads to the earliest delivery of a webhook
 */
const dueSql = (workspaces: string, earliest: string) => `
  select workspace_id::float8 as workspace, id as webhook, failing, now()::text as "foundAt",
    extract(epoch from due)::float8 as due
  from (
    select webhook.workspace_id, webhook.id, webhook.failing_since is not null as failing,
      earliest.next_attempt_at as due, row_number() over (
        partition by webhook.failing_since is not null order by earliest.next_attempt_at) as rank
    from webhook cross join lateral (
      select next_attempt_at from webhook_delivery as delivery
      where status = 'pending' and ${earliest} limit 1
    ) as earliest
    where ${workspaces} and earliest.next_attempt_at <= now() and not exists (
      select from webhook_lease as lease
      where lease.workspace_id = webhook.workspace_id and lease.webhook_id = webhook.id
        and lease.leased_until > now())
  ) as due
  where rank <= ${MAX_FOUND}`;

/**
 * Deliveries are compared and sorted as the index of what is due is, whose order alone leads to the
 * earliest; by another, all would be read.
 */
const EARLIEST = `(delivery.workspace_id, webhook_id) >= (webhook.workspace_id, webhook.id)
        and (delivery.workspace_id, webhook_id) <= (webhook.workspace_id, webhook.id)
      order by delivery.workspace_id, webhook_id, next_attempt_at, delivery.id`;
/** That workspaces are equal stands in it, so that a distributed database asks one node. */
const EARLIEST_IN_WORKSPACE = `delivery.workspace_id = $1 and webhook_id = webhook.id
        and next_attempt_at <= now()
      order by next_attempt_at, delivery.id`;

const DUE_OF_ALL = { sql: dueSql("true", EARLIEST) };
const DUE_OF_WORKSPACES = dueSql("webhook.workspace_id = any ($1)", EARLIEST);
const DUE_OF_WORKSPACE = dueSql("webhook.workspace_id = $1", EARLIEST_IN_WORKSPACE);

/**
 * Leases webhooks `$2` of workspace `$1`, unless another process has leased them since they were found. Skips
 * those that are being deleted, since the lease refers to the webhook and would wait for the end of that.
 */
const TAKE = `
  insert into webhook_lease as lease (workspace_id, webhook_id, worker, leased_until)
  select workspace_id, id, $3, $4::timestamptz + $5::int * interval '1 ms' from webhook
  where workspace_id = $1 and id = any ($2::text[]) order by id for key share skip locked
  on conflict (workspace_id, webhook_id)
  do update set worker = excluded.worker, leased_until = excluded.leased_until
  where lease.leased_until <= $4::timestamptz
  returning workspace_id::float8 as workspace, webhook_id as webhook`;

/**
 * Sets the end of those leases of webhooks `$2` that this process holds, `$4` milliseconds from now. The column has
 * milliseconds, to which PostgreSQL rounds: up, a lease that ends now would hold for half of one more.
 */
const SET_END = `
  update webhook_lease
  set leased_until = date_trunc('milliseconds', now()) + $4::int * interval '1 ms'
  where workspace_id = $1 and webhook_id = any ($2::text[]) and worker = $3
  returning workspace_id::float8 as workspace, webhook_id as webhook`;

interface FoundWebhook extends WebhookKey, DueRow {
  /** Whether its last attempt failed. */
  readonly failing: boolean;
  /** When it was found, by the clock of the server that has its workspace. */
  readonly foundAt: string;
}

/**
 * The leases of one process. While it has leased a webhook, no other process sends its deliveries.
 *
 * @param worker an id that no other process has
 */
export function createWebhookLeases(em: EntityManager, worker: string) {
  /**
   * Runs a statement for the webhooks of each workspace, and gives those that it returns, and those of workspaces for
   * which it failed. When the database crashes and a lease is lost with it, some is sent twice, as it is anyway then.
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
  async function find(workspaces: readonly number[] | undefined): Promise<FoundWebhook[]> {
    if (workspaces === undefined) return (await readPlatform<FoundWebhook>(em, DUE_OF_ALL)).flat();
    if (!(await isDistributed(em))) return runStatement(em, DUE_OF_WORKSPACES, [workspaces]);
    const values = workspaces.map((workspace) => [workspace]);
    const found = await runForEach<FoundWebhook>(em, DUE_OF_WORKSPACE, values);
    return found.flatMap((own) => own ?? []);
  }

  return {
    /**
     * Leases webhooks that have a delivery due and that no process has leased, those first that have waited longest.
     *
     * @param workspaces whose webhooks; undefined for all
     */
    async take(
      workspaces: readonly number[] | undefined,
      quota: LeaseQuota,
    ): Promise<WebhookKey[]> {
      const found = (await find(workspaces)).toSorted((a, b) => a.due - b.due);
      const failing = found.filter((webhook) => webhook.failing).slice(0, quota.failing);
      const healthy = found.filter((webhook) => !webhook.failing).slice(0, quota.healthy);
      const { returned } = await ofEachWorkspace(TAKE, [...failing, ...healthy], ({ foundAt }) => [
        foundAt,
        LEASE_MS,
      ]);
      return returned;
    },
    /** Gives the webhooks that this process still has leased, and those of workspaces that failed. */
    async renew(webhooks: readonly WebhookKey[]) {
      const { returned, failed } = await ofEachWorkspace(SET_END, webhooks, () => [LEASE_MS]);
      return { held: returned, unknown: failed };
    },
    /** Ends leases, so that another process may take them at once. */
    async release(webhooks: readonly WebhookKey[]): Promise<void> {
      await ofEachWorkspace(SET_END, webhooks, () => [0]);
    },
  };
}

/** The webhooks that one process has leased, with their queues. */
export type LeasedWebhooks = ReturnType<typeof createLeasedWebhooks>;

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
    const { held, unknown } = await leases.renew(busy.map(({ key }) => key));
    const [heldNames, unknownNames] = [new Set(held.map(nameOf)), new Set(unknown.map(nameOf))];
    for (const queue of busy) {
      if (heldNames.has(nameOf(queue.key))) queue.leasedUntilMs = leasedUntilMs;
      // Another process took it after its end, or it was deleted. Where that is unknown, the lease expires, and
      // what is in flight stays known.
      else if (!unknownNames.has(nameOf(queue.key))) forget(queue);
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

/** Until when a lease that is taken now is certain, on the clock of `performance.now()`. */
function certainEndMs(): number {
  return performance.now() + LEASE_MS - MARGIN_MS;
}

function nameOf({ workspace, webhook }: WebhookKey): string {
  return `${workspace} ${webhook}`;
}
