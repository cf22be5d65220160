import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** The key of a webhook. */
export interface WebhookKey {
  readonly workspace: number;
  readonly webhook: string;
}

/** How long a lease lasts from when it is taken or renewed, in milliseconds. */
export const LEASE_MS = 5_000;

/** How many webhooks of either kind may be leased. */
export interface LeaseRoom {
  readonly healthy: number;
  /** For webhooks whose last attempt failed. */
  readonly failing: number;
}

/** The leases of one process. While it holds a webhook's, no other process sends its deliveries. */
export interface WebhookLeases {
  /**
   * Leases webhooks that have a delivery due and that no process holds, those first that have waited
   * longest.
   *
   * @param workspaces whose webhooks; undefined for all
   */
  take(workspaces: readonly number[] | undefined, room: LeaseRoom): Promise<WebhookKey[]>;
  /** Renews leases. Gives the webhooks that this process still holds. */
  renew(webhooks: readonly WebhookKey[]): Promise<WebhookKey[]>;
  /** Ends leases, so that another process may take them at once. */
  release(webhooks: readonly WebhookKey[]): Promise<void>;
}

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
 * Looks only at webhooks that nobody holds: with others, whoever holds them does. Compared and sorted as
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
      partition by webhook.failing_since is not null order by pending.next_attempt_at) as place
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
    where due.place <= case when due.failing then $4::int else $3::int end
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
  from json_to_recordset($2) as held (workspace bigint, webhook text)
  where lease.workspace_id = held.workspace and lease.webhook_id = held.webhook
    and lease.worker = $1
  returning lease.workspace_id::float8 as workspace, lease.webhook_id as webhook`;

/**
 * Builds the leases of one process.
 *
 * @param worker an id that no other process has
 */
export function createWebhookLeases(em: EntityManager, worker: string): WebhookLeases {
  const setEnd = async (webhooks: readonly WebhookKey[], ms: number): Promise<WebhookKey[]> => {
    if (webhooks.length === 0) return [];
    const keys = webhooks.map(({ workspace, webhook }) => ({ workspace, webhook }));
    return runStatement(em.fork(), SET_END, [worker, JSON.stringify(keys), ms]);
  };
  return {
    take(workspaces, { healthy, failing }) {
      const values = [worker, LEASE_MS, healthy, failing];
      return workspaces === undefined
        ? runStatement(em.fork(), PENDING_OF_ALL + TAKE, values)
        : runStatement(em.fork(), PENDING_OF_WORKSPACES + TAKE, [...values, workspaces]);
    },
    renew: (webhooks) => setEnd(webhooks, LEASE_MS),
    async release(webhooks) {
      await setEnd(webhooks, 0);
    },
  };
}
