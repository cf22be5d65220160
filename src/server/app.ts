import type { Logger } from "pino";
import type { GetPlatformOverviewResponse } from "../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { EventSchema } from "../../gen/shipments/v1/event_pb.js";
import { QuoteShipmentRequestSchema } from "../../gen/shipments/v1/quote_pb.js";
import { CreateQuoteRequestSchema } from "../../gen/shipments/v1/quote_service_pb.js";
import type { Overview } from "../../gen/shipments/v1/report_pb.js";
import type { Config } from "../config/config.ts";
import { createGroupCommit } from "../db/group-commit.ts";
import { createOrm, MAX_PROCESS_CONNECTIONS as maxDatabaseConnections, type EntityManager } from "../db/orm.ts";
import { isoTime } from "../domain/instant.ts";
import { loadOnce } from "../domain/load-once.ts";
import { createSecretSeal } from "../domain/secret-seal.ts";
import { eventMessage } from "../features/events/event-message.ts";
import type { DispatchDeps } from "../features/webhooks/dispatch-deliveries.ts";
import { createEventAnnouncer } from "../features/events/event-announcer.ts";
import { createFeedWatch } from "../features/events/feed-watch.ts";
import { createFindCourier } from "../features/couriers/courier-sessions.ts";
import { createPaymentProviders } from "../features/payments/payment-providers.ts";
import { createOperatorKeyCache } from "../features/operators/operator-keys.ts";
import type { InviteDeps } from "../features/people/members.ts";
import { createSessionCache } from "../features/people/session-cache.ts";
import { createQuoteKeys } from "../features/quotes/quote-keys.ts";
import type { WebhookBacklog } from "../features/reports/load-figures.ts";
import { createReportCache } from "../features/reports/report-cache.ts";
import { createRequestLog } from "../features/reports/request-log.ts";
import { createUsageCounter } from "../features/reports/usage-counter.ts";
import { createSlots } from "../features/slots/slots.ts";
import { createTariffTasks } from "../features/tariffs/tasks/run-tariff-task.ts";
import { createCoverageDocuments } from "../features/tariffs/coverage/coverage-documents.ts";
import { createTariffCache } from "../features/tariffs/versions/tariff-cache.ts";
import { createVersionFees } from "../features/tariffs/versions/version-fees.ts";
import { findInstallation } from "../features/workspaces/installation.entity.ts";
import { createSender, type ResolveName } from "../features/webhooks/send-webhook.ts";
import { createApiKeyCache } from "../features/api-keys/api-key-cache.ts";
import { createFindTracking, rememberTracking } from "../features/workspaces/tracking-urls.ts";
import { createTrackingPages } from "./tracking.ts";
import { createTestTimes } from "../features/workspaces/test-clock.ts";
import { compileEncodeJson } from "../json/encode-json.ts";
import { createMemoryLimiter, type Limiter } from "../pipeline/bounds/rate-limiter.ts";
import { createRedisLimiter } from "../pipeline/bounds/redis-limiter.ts";
import { compileValidateRequest } from "../pipeline/request/validate-request.ts";
import { createS3Client } from "../s3/s3-client.ts";
import { createAddresses } from "./addresses.ts";
import { createBackground } from "./background.ts";
import { ENTITIES } from "./entities.ts";
import { createDatabaseFigures } from "./database-figures.ts";
import { createDatabaseClock } from "./database-clock.ts";
import { createDatabaseContact, type DatabaseContact } from "./database-contact.ts";
import { createInstruments, type Instruments } from "./instruments.ts";
import { createLifecycle } from "./lifecycle.ts";
import { addMetrics, createRegistry } from "./metrics.ts";
import { createMails } from "./mails.ts";
import { createEventOptions, createPayments } from "./payments.ts";
import { createReadiness } from "./readiness.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { createServers } from "./servers.ts";
import { createSignIn } from "./sign-in.ts";
import {
  forgetCallersAfter,
  implementAccountServices,
  implementAdminServices,
  implementServices,
  type AdminDeps,
  type ServiceDeps,
} from "./services.ts";

/** The whole service: both servers on one database. */
export type App = ReturnType<typeof createApp>;

export type AppConfig = Pick<Config, "host" | "port" | "grpcPort"> & Partial<Config> & { readonly databaseUrl: string };

export interface AppOverrides {
  readonly now?: () => Date;
  /** Local clock to compare with the database's clock, in milliseconds since the epoch. */
  readonly clockMs?: () => number;
  /** Monotonic clock in milliseconds. */
  readonly monotonicMs?: () => number;
  readonly resolve?: ResolveName;
  /** Timeout of database and Redis operations, in milliseconds. */
  readonly maxWaitMs?: number;
  /** Interval between polls for due work and for changes, in milliseconds. */
  readonly pollMs?: number;
  /** Maximum pause of background work, in milliseconds. */
  readonly maxRestMs?: number;
  readonly webhookTimeoutMs?: number;
  readonly geocoderTimeoutMs?: number;
  /** Returns a number from 0 to 1 for retry jitter. */
  readonly random?: () => number;
  readonly tracing?: Tracing | undefined;
}

/** Creates the service and connects its parts. Opens no connections. */
export function createApp(config: AppConfig, fullLog: Logger, outside: AppOverrides = {}) {
  const { webhookAllowLoopbackHttp: allowLoopbackHttp = false } = config;
  const { now = () => new Date(), monotonicMs: nowMs, maxWaitMs, tracing } = outside;
  const contact = createDatabaseContact({ log: fullLog, config, nowMs });
  const { log } = contact;
  const registry = createRegistry();
  const instruments = createInstruments(registry);
  const stores = createStores(config, outside, log, instruments);
  const { orm, em, tasks, tariffs, keys, sessions } = stores;
  const deliver = createDelivering(outside, { ...stores, now, allowLoopbackHttp });
  const limiter = createLimiter(config, outside, log, instruments.countFallback);
  const addresses = createAddresses({ ...instruments, ...outside, config, limiter, log });
  const watched = watchDatabase(em, contact, { ...outside, now, movesPictures: config.pictures !== undefined });
  const readiness = createReadiness(tariffs.currentVersion, watched.degradedReason);
  const mails = createMails({ ...stores, config, outside, now, log });
  const payments = createPayments({ ...stores, limiter, now, log });
  const shared = { now, log, allowLoopbackHttp, sendsMails: mails !== undefined };
  const servers = createServers({
    ...implementAll({ ...stores, ...payments, ...shared, addresses }),
    providerEvents: createEventOptions({ ...stores, ...payments, now }),
    tracking: createTrackingPages({ ...stores, ...payments, now }),
    keys,
    sessions,
    // Its warnings are about the identity provider. `log` would mistake connection errors for the database's.
    signIn: createSignIn({ em, sessions, config, log: fullLog }),
    config,
    readiness,
    limiter,
    maxWaitMs,
    ...recordersOf(stores),
    onRateLimited: instruments.countRateLimited,
    tracer: tracing?.tracer,
    log,
    registry,
  });
  addMetrics(registry, { ...watched, readiness, tariffs, servers, now });
  const background = createBackground({
    ...outside,
    ...stores,
    ...instruments,
    ...payments,
    ...config,
    ...watched,
    log,
    deliver,
    mails,
    shutdownSignal: readiness.shutdownSignal,
  });
  const lifecycle = createLifecycle({
    ...config,
    ...servers,
    readiness,
    background,
    log,
    disconnect: () => closeAll([limiter, orm, deliver.sender, addresses]),
    closeTracing: async () => tracing?.close(),
  });
  const { closedReason, leave } = readiness;
  const hasTariff = () => tariffs.currentVersion() !== undefined;
  return { ...lifecycle, em, tasks, closedReason, leave, hasTariff, maxDatabaseConnections };
}

function recordersOf({ usage, requestLog }: Pick<Stores, "usage" | "requestLog">) {
  return { countUsage: usage.count, logRequest: requestLog.record };
}

/** Creates the monitors of the database. They report why the service is degraded. */
function watchDatabase(
  em: EntityManager,
  contact: DatabaseContact,
  options: Pick<AppOverrides, "clockMs"> & { readonly now: () => Date; readonly movesPictures: boolean },
) {
  const { log } = contact;
  const databaseClock = createDatabaseClock(log, options.clockMs);
  const databaseFigures = createDatabaseFigures({ ...options, em, log });
  const degradedReason = () => contact.lostReason() ?? databaseClock.offReason();
  return { contact, databaseClock, databaseFigures, degradedReason };
}

function createDelivering(
  { resolve, webhookTimeoutMs: timeoutMs, random = Math.random, tracing }: AppOverrides,
  deps: Pick<Stores, "createGroup"> & { readonly now: () => Date; readonly allowLoopbackHttp: boolean },
) {
  const { createGroup, now, allowLoopbackHttp } = deps;
  const sender = createSender({ allowLoopbackHttp, resolve, timeoutMs });
  const { traceAttempt } = tracing ?? {};
  const eventJson = createEventJson();
  return { createGroup, now, random, sender, eventJson, traceAttempt };
}

async function closeAll(all: readonly ({ close(): Promise<void> } | undefined)[]): Promise<void> {
  await Promise.all(all.map(async (each) => each?.close()));
}

/** Returns all RPCs of all services with their functions. */
function implementAll(base: Omit<ServiceDeps & AdminDeps & Stores & InviteDeps, "validateQuote" | "validateNewQuote">) {
  const deps = {
    ...base,
    validateQuote: compileValidateRequest(QuoteShipmentRequestSchema),
    validateNewQuote: compileValidateRequest(CreateQuoteRequestSchema),
  };
  const { rpcs, streams } = implementServices(deps);
  const all = [...rpcs, ...implementAdminServices(deps), ...implementAccountServices(deps)];
  const { sessions, keys } = deps;
  const forgetAll = () => {
    sessions.forgetAll();
    keys.operator.forgetAll();
  };
  return { rpcs: forgetCallersAfter(all, forgetAll), streams };
}

type Stores = ReturnType<typeof createStores>;

/** Creates the stores that access the database or cache parts of it. */
function createStores(config: AppConfig, { maxWaitMs }: AppOverrides, log: Logger, instruments: Instruments) {
  const { databaseUrl } = config;
  const { observeGroups, poolObserver } = instruments;
  const orm = createOrm(databaseUrl, { entities: ENTITIES, log, poolObserver, maxWaitMs });
  const { em } = orm;
  const events = createEventAnnouncer(em, log);
  const tasks = createTariffTasks(databaseUrl);
  const secretSeal = createSecretSeal(config.secretsKeys ?? []);
  const readTracking = createFindTracking(config.publicUrl, config.mail !== undefined);
  const findTracking = rememberTracking(readTracking);
  return {
    orm,
    em,
    events,
    feeds: createFeedWatch(em, events),
    tasks,
    tariffs: createTariffCache({ em, tasks, log }),
    coverage: createCoverageDocuments(tasks),
    keys: {
      workspace: createApiKeyCache(em, readTracking),
      operator: createOperatorKeyCache(em),
    },
    sessions: { ...createSessionCache(em, findTracking), findCourier: createFindCourier(em, findTracking) },
    findTracking,
    createGroup: createGroupCommit(em, observeGroups, maxWaitMs),
    observeGroups,
    secretSeal,
    versionFees: createVersionFees(em),
    slots: createSlots(em, (outcome, { schedule, startMs }) => {
      instruments.countSlot(outcome);
      if (outcome === "filled") log.info({ schedule, start: isoTime(startMs) }, "slot full");
    }),
    quoteKeys: createQuoteKeys(secretSeal, log),
    bucket: config.pictures && createS3Client(config.pictures),
    providers: createPaymentProviders({
      apiUrl: config.stripe?.apiUrl,
      platforms: config.stripe?.platforms ?? {},
      installation: loadOnce(() => findInstallation(em)).get,
      onCall(call) {
        if (call.mode === "live") instruments.observeProviderCall(call);
        log[call.outcome === "ok" ? "debug" : "warn"](call, "payment provider called");
      },
      onUnknownStatus(unknown) {
        instruments.countUnknownStatus(unknown);
        log.error(unknown, "unknown status from the payment provider");
      },
    }),
    usage: createUsageCounter(),
    requestLog: createRequestLog(instruments.countUnlogged),
    testTimes: createTestTimes(),
    overviews: createReportCache<Overview>(),
    platformOverviews: createReportCache<GetPlatformOverviewResponse>(),
    backlogs: createReportCache<WebhookBacklog>(),
  };
}

/** Creates the JSON encoder of webhook events, in the dialect of `/v1`. */
function createEventJson(): DispatchDeps["eventJson"] {
  const encode = compileEncodeJson(EventSchema);
  return (event, of) => JSON.stringify(encode(eventMessage(event, of)));
}

/** Creates a rate limiter. With Redis, all replicas count calls together. Otherwise each process counts separately. */
function createLimiter(
  { redisUrl }: AppConfig,
  { monotonicMs = () => performance.now(), maxWaitMs }: AppOverrides,
  log: Logger,
  onFallback: () => void,
): Limiter {
  return redisUrl === undefined
    ? createMemoryLimiter(monotonicMs)
    : createRedisLimiter(redisUrl, log, onFallback, maxWaitMs);
}
