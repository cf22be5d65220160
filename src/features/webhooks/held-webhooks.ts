import type { Logger } from "pino";
import { setTimeout as sleep } from "node:timers/promises";
import { LEASE_MS, type LeaseRoom, type WebhookKey, type WebhookLeases } from "./lease-webhooks.ts";
import { createWebhookQueue, type WebhookQueue } from "./webhook-queue.ts";

/** How many webhooks of either kind one process sends to at the same time. */
const MAX_HELD: LeaseRoom = { healthy: 1_000, failing: 1_000 };
/** How often leases are renewed, in milliseconds. */
const RENEW_MS = 1_500;
/** By how much earlier than the database a process counts its leases as ended, in milliseconds. */
const MARGIN_MS = 500;
/** How long nothing must have been due of a webhook before its lease is released, in milliseconds. */
const IDLE_MS = 1_000;

/** The webhooks that one process has leased, with their queues. */
export interface HeldWebhooks {
  all(): Iterable<WebhookQueue>;
  /** Leases webhooks with something due, as `WebhookLeases.take`, and gives their queues. */
  take(workspaces: readonly number[] | undefined): Promise<WebhookQueue[]>;
  /** Forgets a webhook that has been deleted. */
  forget(queue: WebhookQueue): void;
  /** Renews leases regularly, and releases those of webhooks with nothing due, until aborted. */
  keep(signal: AbortSignal): Promise<void>;
  /** Releases all leases. */
  release(): Promise<void>;
}

/** Builds the set of leased webhooks; it is empty at first. */
export function createHeldWebhooks(leases: WebhookLeases, log: Logger): HeldWebhooks {
  const queues = new Map<string, WebhookQueue>();

  function room(): LeaseRoom {
    const failing = [...queues.values()].filter((queue) => queue.isFailing()).length;
    const healthy = queues.size - failing;
    return {
      healthy: Math.max(0, MAX_HELD.healthy - healthy),
      failing: Math.max(0, MAX_HELD.failing - failing),
    };
  }

  function drop(dropped: readonly WebhookQueue[]): void {
    for (const queue of dropped) {
      queue.leasedUntilMs = 0;
      if (queues.get(nameOf(queue.key)) === queue) queues.delete(nameOf(queue.key));
    }
  }

  async function renew(kept: readonly WebhookQueue[]): Promise<void> {
    const leasedUntilMs = certainEndMs();
    const held = new Set((await leases.renew(kept.map(({ key }) => key))).map(nameOf));
    for (const queue of kept) {
      if (held.has(nameOf(queue.key))) queue.leasedUntilMs = leasedUntilMs;
    }
    // Another process took them after their end, or they were deleted.
    drop(kept.filter(({ key }) => !held.has(nameOf(key))));
  }

  async function releaseIdle(idle: readonly WebhookQueue[]): Promise<void> {
    drop(idle);
    await leases.release(idle.map(({ key }) => key));
  }

  return {
    all: () => queues.values(),
    async take(workspaces) {
      const leasedUntilMs = certainEndMs();
      const taken = await leases.take(workspaces, room());
      return taken.map((key) => {
        // One whose lease had ended still knows what is in flight.
        const queue = queues.get(nameOf(key)) ?? createWebhookQueue(key, leasedUntilMs);
        queue.leasedUntilMs = leasedUntilMs;
        queues.set(nameOf(key), queue);
        return queue;
      });
    },
    forget: (queue) => drop([queue]),
    async keep(signal) {
      while (!signal.aborted) {
        await sleep(RENEW_MS, undefined, { signal }).catch(() => undefined);
        const { idle = [], busy = [] } = Object.groupBy(queues.values(), (queue) =>
          queue.isIdle(IDLE_MS) ? "idle" : "busy",
        );
        try {
          await Promise.all([renew(busy), releaseIdle(idle)]);
        } catch (error) {
          log.warn({ err: error }, "leases of webhooks could not be renewed");
        }
      }
    },
    async release() {
      await releaseIdle([...queues.values()]);
    },
  };
}

/** Until when a lease that is asked for now will be certain, on `performance.now()`'s clock. */
function certainEndMs(): number {
  return performance.now() + LEASE_MS - MARGIN_MS;
}

function nameOf({ workspace, webhook }: WebhookKey): string {
  return `${workspace} ${webhook}`;
}
