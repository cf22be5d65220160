import type { Logger } from "pino";
import { followChanges, type ChangeFeed } from "../db/change-feed.ts";
import type { EntityManager } from "../db/orm.ts";
import type { SecretSeal } from "../domain/secret-seal.ts";
import type { ApiKeyCache } from "../features/api-keys/api-key-cache.ts";
import { createKeyUseRecorder } from "../features/credentials/record-key-use.ts";
import { EVENTS_CHANNEL, type EventAnnouncer } from "../features/events/event-announcer.ts";
import type { OperatorKeyCache } from "../features/operators/operator-keys.ts";
import type { UsageCounter } from "../features/reports/usage-counter.ts";
import { createReporting } from "./reporting.ts";
import type { TariffCache } from "../features/tariffs/versions/tariff-cache.ts";
import {
  runDeliveries,
  type Deliveries,
  type RunDeps,
} from "../features/webhooks/deliver-webhooks.ts";
import type { DatabaseContact } from "./database-contact.ts";
import type { DatabaseFigures } from "./database-figures.ts";
import type { FeedMonitor } from "./feed-monitor.ts";
import type { Instruments } from "./instruments.ts";
import { purgeRegularly } from "./purge-regularly.ts";
import { sealRegularly } from "./seal-regularly.ts";

/** What one process does besides answering calls. */
export interface Background {
  /**
   * Follows changes made by other processes, delivers webhooks, records which keys are used, writes
   * counts of calls, says that the process is there, seals secrets, and purges what has expired.
   * Resolves once keys and the tariff have been read for the first time.
   */
  start(): Promise<void>;
  /** Starts no more deliveries, and waits for those in flight; they take 3 seconds at most. */
  stopDeliveries(): Promise<void>;
  /** Writes the last counts and the last uses of keys, and stops following changes. */
  close(): Promise<void>;
}

/** What the background work of one process needs. */
export interface BackgroundDeps {
  readonly databaseUrl: string;
  readonly em: EntityManager;
  readonly log: Logger;
  readonly tariffs: TariffCache;
  readonly keys: { readonly workspace: ApiKeyCache; readonly operator: OperatorKeyCache };
  readonly events: EventAnnouncer;
  readonly contact: Pick<DatabaseContact, "reached">;
  readonly feedMonitor: FeedMonitor;
  readonly databaseFigures: DatabaseFigures;
  readonly usage: UsageCounter;
  readonly secretSeal: SecretSeal;
  readonly deliver: Omit<RunDeps, "em" | "events" | "secretSeal">;
  /** How long events are kept, in days; undefined for ever. */
  readonly eventRetentionDays: number | undefined;
  readonly countPurge: Instruments["countPurge"];
  readonly shutdownSignal: AbortSignal;
}

/** Builds the background work of one process; nothing is started yet. */
export function createBackground(options: BackgroundDeps): Background {
  const { databaseUrl, em, log, tariffs, keys, events, shutdownSignal } = options;
  const reporting = createReporting(options);
  let feed: ChangeFeed | undefined;
  let deliveries: Deliveries | undefined;
  const keyUse = createKeyUseRecorder({
    em,
    log,
    keys: { api_key: keys.workspace, operator_key: keys.operator },
  });

  function follow(): Promise<void> {
    return new Promise((resolve) => {
      feed = followChanges({
        databaseUrl,
        log,
        others: { [EVENTS_CHANNEL]: events.onNotification },
        reconnected() {
          keys.workspace.forgetAll();
          keys.operator.forgetAll();
          events.onNotification(undefined);
        },
        async look(client) {
          await keys.workspace.refresh(client);
          // Not after the tariff, which may take long to load.
          options.contact.reached();
          await keys.operator.refresh(client);
          await tariffs.refresh(client);
          resolve();
        },
      });
    });
  }

  return {
    async start() {
      await follow();
      shutdownSignal.throwIfAborted();
      deliveries = runDeliveries(log, { ...options, ...options.deliver });
      void purgeRegularly({ ...options, now: options.deliver.now });
      void sealRegularly(options);
      void options.feedMonitor.run(shutdownSignal);
      void options.databaseFigures.run(shutdownSignal);
      void keyUse.run(shutdownSignal);
      reporting.start(shutdownSignal);
    },
    async stopDeliveries() {
      await deliveries?.close();
    },
    async close() {
      await Promise.all([keyUse.record(), reporting.end(), feed?.close()]);
      await events.close();
    },
  };
}
