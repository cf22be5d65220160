import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import manifest from "../../package.json" with { type: "json" };
import { followChanges, type ChangeFeed } from "../db/change-feed.ts";
import { type LeasedQueue, type QueueDeps, runQueue } from "../db/leased-queue.ts";
import type { EntityManager } from "../db/orm.ts";
import { createRepeat, type Repeat } from "../db/repeat.ts";
import type { SecretSeal } from "../domain/secret-seal.ts";
import type { ApiKeyCache } from "../features/api-keys/api-key-cache.ts";
import { createKeyUseRecorder } from "../features/credentials/record-key-use.ts";
import { EVENTS_CHANNEL, type EventAnnouncer } from "../features/events/event-announcer.ts";
import { createPaymentQueues, type PaymentJobDeps } from "../features/payments/payment-jobs.ts";
import type { OperatorKeyCache } from "../features/operators/operator-keys.ts";
import { createPictureQueue, type PictureBucket } from "../features/shipments/picture-bucket.ts";
import { createReclaimQueue, type ReclaimDeps } from "../features/shipments/reclaim-slots.ts";
import { createReplicaHeartbeat } from "../features/reports/replica.entity.ts";
import type { QuoteKeys } from "../features/quotes/quote-keys.ts";
import { createRollUpQueue } from "../features/reports/roll-up-bookings.ts";
import { createCustomerRollUpQueue } from "../features/reports/roll-up-customers.ts";
import { writeRequests, type RequestLog } from "../features/reports/request-log.ts";
import { writeUsage, type UsageCounter } from "../features/reports/usage-counter.ts";
import type { TariffCache } from "../features/tariffs/versions/tariff-cache.ts";
import { createDeliveryQueue, type DeliverDeps } from "../features/webhooks/deliver-webhooks.ts";
import { createSimulationQueue, type SimulationDeps } from "../features/test-mode/simulations.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { DatabaseContact } from "./database-contact.ts";
import type { DatabaseFigures } from "./database-figures.ts";
import type { Instruments } from "./instruments.ts";
import type { CreateMailQueues } from "./mails.ts";
import { createSealSecrets, purgeExpired } from "./upkeep.ts";

/** Interval between heartbeats, in milliseconds. */
const BEAT_MS = 5_000;
/** Interval between writes of usage counts, in milliseconds. A killed process loses the counts since the last write. */
const WRITE_MS = 10_000;
/** Interval between writes of the request log, in milliseconds. */
const LOG_MS = 1_000;

/** Maximum time to wait at shutdown for items in progress, in milliseconds. */
const GRACE_MS = 3_000;

export type Background = ReturnType<typeof createBackground>;

export interface BackgroundDeps extends QueueDeps {
  readonly databaseUrl: string;
  readonly em: EntityManager;
  readonly log: Logger;
  readonly tariffs: TariffCache;
  readonly quoteKeys: Pick<QuoteKeys, "refresh">;
  readonly keys: { readonly workspace: ApiKeyCache; readonly operator: OperatorKeyCache };
  readonly events: EventAnnouncer;
  readonly contact: Pick<DatabaseContact, "reached">;
  readonly databaseClock: Pick<DatabaseClock, "poll">;
  readonly databaseFigures: DatabaseFigures;
  readonly usage: UsageCounter;
  readonly requestLog: RequestLog;
  readonly secretSeal: SecretSeal;
  readonly paymentJobs: PaymentJobDeps;
  readonly simulations: SimulationDeps;
  readonly reclaims: ReclaimDeps;
  readonly deliver: Omit<DeliverDeps, "em" | "events" | "secretSeal" | "log" | "shutdownSignal" | "givingUp">;
  readonly mails: CreateMailQueues | undefined;
  /** `undefined` if pictures stay in the database. */
  readonly bucket: PictureBucket | undefined;
  /** Retention of events in days. `undefined` for unlimited. */
  readonly eventRetentionDays?: number | undefined;
  readonly countPurge: Instruments["countPurge"];
  readonly shutdownSignal: AbortSignal;
}

export function createBackground(options: BackgroundDeps) {
  const { em, log, keys, events, shutdownSignal: signal } = options;
  const repeat = createRepeat(signal, options.maxRestMs);
  const running = { ...options, repeat };
  const reports = createReports(running);
  let feed: ChangeFeed | undefined;
  let queues: readonly ReturnType<typeof runQueue>[] = [];
  const givingUp = new AbortController();
  const keyUse = createKeyUseRecorder({
    em,
    log,
    keys: { api_key: keys.workspace, operator_key: keys.operator },
  });

  return {
    /**
     * Starts all background work: the change feed, queues, usage counts, heartbeat, encryption of secrets, and purges.
     * Resolves after keys and tariff have been loaded.
     */
    async start(): Promise<void> {
      await new Promise<void>((loaded) => {
        feed = follow(options, loaded);
      });
      signal.throwIfAborted();
      reports.start();
      queues = createQueues(options, givingUp.signal).map((queue) => runQueue(queue, running));
      void repeat(keyUse.record);
      void repeat(options.databaseFigures.refresh);
      void repeat(createSealSecrets(em, options.secretSeal, log));
      void repeat(() => purgeExpired({ ...options, now: options.deliver.now }));
    },
    /** Waits up to 3 seconds for items in progress. Call it after the shutdown signal, which stops the queues. */
    async stopQueues(): Promise<void> {
      // Other processes repeat items that did not finish, once their leases expire.
      const idle = Promise.all(queues.map((queue) => queue.idle()));
      await Promise.race([idle, sleep(GRACE_MS, undefined, { ref: false })]);
      givingUp.abort();
      await Promise.all(queues.map((queue) => queue.close()));
    },
    /** Writes the final counts and key usage. Stops following changes. */
    async close(): Promise<void> {
      await Promise.all([keyUse.record(), reports.end(), feed?.close()]);
      await events.close();
    },
  };
}

/** Follows changes by other processes. Calls `loaded` once keys and tariff have been loaded. */
function follow(options: BackgroundDeps, loaded: () => void): ChangeFeed {
  const { databaseUrl, log, tariffs, keys, events, pollMs } = options;
  return followChanges({
    databaseUrl,
    log,
    pollMs,
    others: { [EVENTS_CHANNEL]: events.onNotification },
    reconnected() {
      keys.workspace.forgetAll();
      keys.operator.forgetAll();
      events.onNotification(undefined);
    },
    async poll(reader) {
      await Promise.all([
        // Keys are refreshed before the tariff, which can take a long time to load.
        keys.workspace.refresh(reader).then(options.contact.reached),
        options.databaseClock.poll(reader),
        keys.operator.refresh(reader),
        options.quoteKeys.refresh(reader),
        tariffs.refresh(reader),
      ]);
      loaded();
    },
  });
}

/** @param givingUp aborts, at shutdown, the emails in flight and the recording of deliveries */
function createQueues(options: BackgroundDeps, givingUp: AbortSignal): readonly LeasedQueue[] {
  const { bucket, mails } = options;
  return [
    createDeliveryQueue({ ...options, ...options.deliver, givingUp }),
    ...(mails?.(givingUp) ?? []),
    ...createPaymentQueues(options.paymentJobs),
    ...(bucket === undefined ? [] : [createPictureQueue({ ...options, bucket })]),
    createSimulationQueue(options.simulations),
    createReclaimQueue(options.reclaims),
    createRollUpQueue(options.em),
    createCustomerRollUpQueue(options.em),
  ];
}

function createReports({ em, log, usage, requestLog, repeat }: BackgroundDeps & { readonly repeat: Repeat }) {
  const heartbeat = createReplicaHeartbeat(em, manifest.version);
  let running: Promise<unknown> | undefined;
  const report = (everyMs: number, write: () => Promise<void>) =>
    repeat(async () => {
      // If the write fails, the counts stay in memory. `DatabaseContact` logs outages.
      await write().catch((error: unknown) => log.debug({ err: error }, "counts could not be written"));
      return everyMs;
    });
  return {
    start() {
      const writing = report(WRITE_MS, () => writeUsage(em, usage));
      const logging = report(LOG_MS, () => writeRequests(em, requestLog));
      running = Promise.all([report(BEAT_MS, heartbeat.beat), writing, logging]);
    },
    /** Writes the final counts and records the end of the process. Never rejects. */
    async end(): Promise<void> {
      if (running === undefined) return;
      await running;
      const ended = await Promise.allSettled([writeUsage(em, usage), writeRequests(em, requestLog), heartbeat.end()]);
      for (const each of ended) {
        if (each.status === "rejected") log.warn({ err: each.reason }, "final counts could not be written");
      }
    },
  };
}
