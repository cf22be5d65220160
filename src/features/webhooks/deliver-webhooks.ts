import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { CreateGroup } from "../../db/group-commit.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type { EventAnnouncer } from "../events/event-announcer.ts";
import { createAnnouncements } from "./announcements.ts";
import type { DeliverDeps } from "./attempt-delivery.ts";
import { createDispatcher } from "./dispatcher.ts";
import { fillQueues } from "./due-reader.ts";
import { createHeldWebhooks } from "./held-webhooks.ts";
import { createWebhookLeases } from "./lease-webhooks.ts";
import { createOutcomeRecorder } from "./record-outcomes.ts";
import type { RecordDeps } from "./record-attempt.ts";
import type { SendResult } from "./send-webhook.ts";
import type { OpenSecrets } from "./load-due-deliveries.ts";
import type { WebhookQueue } from "./webhook-queue.ts";
import { activeSecrets, openSecrets } from "./webhook-secrets.ts";

/** What the delivery of webhooks needs. */
export interface RunDeps extends DeliverDeps, RecordDeps {
  readonly em: EntityManager;
  readonly createGroup: CreateGroup;
  readonly events: Pick<EventAnnouncer, "listen">;
  readonly secretSeal: SecretSeal;
  /** Called with what came of each attempt. */
  readonly countAttempt: (result: SendResult) => void;
}

/** The delivery of webhooks by this process. */
export interface Deliveries {
  /** Starts no more attempts, waits for those in flight, and gives up what has not ended in 3 s. */
  close(): Promise<void>;
}

/**
 * How often to look for what is due without an announcement, in milliseconds: attempts that are made
 * again, and what a process that died has left.
 */
const POLL_MS = 500;
/** How long attempts in flight may take to finish at shutdown, in milliseconds. */
const GRACE_MS = 3_000;
const NONE: readonly WebhookQueue[] = [];
/** How long to wait before looking again after an error, in milliseconds. */
const RETRY_MS = 1_000;
/** How often to say that secrets cannot be opened, in milliseconds. */
const SAY_MS = 60_000;

/**
 * Delivers webhooks, along with other replicas, until closed. Each webhook is leased by one process
 * at a time, which keeps the order of each shipment's events and bounds the attempts in flight.
 */
export function runDeliveries(log: Logger, deps: RunDeps): Deliveries {
  const { em, events } = deps;
  const stopping = new AbortController();
  const givingUp = new AbortController();
  const announcements = createAnnouncements(POLL_MS);
  const recorder = createOutcomeRecorder(deps.createGroup, log, deps, givingUp.signal);
  const held = createHeldWebhooks(createWebhookLeases(em, randomUUID()), log);
  const dispatcher = createDispatcher(deps, recorder, log, (queue) => {
    if (queue.isReadWanted()) announcements.wake();
  });
  const open = createOpenSecrets(deps, log);
  events.listen(announcements.hear);

  async function look(): Promise<void> {
    const announced = announcements.take();
    for (const queue of held.all()) {
      if (!announced.includes(queue.key.workspace)) continue;
      queue.expectMore();
      dispatcher.send(queue);
    }
    const fill = () => fillQueues(em, held, open, dispatcher.send);
    const taking = announced.isEmpty ? NONE : held.take(announced.workspaces);
    const [taken] = await Promise.all([taking, fill()]);
    if (taken.length > 0) await fill();
  }

  async function lookRepeatedly(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await look();
      } catch (error) {
        log.warn({ err: error }, "delivery of webhooks was interrupted");
        announcements.hear(undefined);
        await sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
      await announcements.wait();
    }
  }

  const looking = lookRepeatedly();
  const keeping = held.keep(stopping.signal);
  return {
    async close() {
      stopping.abort();
      announcements.wake();
      const grace = sleep(GRACE_MS, undefined, { ref: false });
      await Promise.race([dispatcher.close(), grace]);
      givingUp.abort();
      await Promise.all([looking, keeping]);
      await held.release().catch(() => undefined);
    },
  };
}

/** Opens the secrets of webhooks that sign now, and says it when some cannot be opened. */
function createOpenSecrets({ secretSeal, now }: RunDeps, log: Logger): OpenSecrets {
  let saidAtMs = -Infinity;
  return (webhook, stored) => {
    const opened = openSecrets(secretSeal, webhook, activeSecrets(stored, now()));
    if (opened === undefined && performance.now() - saidAtMs >= SAY_MS) {
      saidAtMs = performance.now();
      log.error(webhook, "deliveries wait: no key in SECRETS_KEYS opens the secret of a webhook");
    }
    return opened;
  };
}
