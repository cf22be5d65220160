import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "@prometheus-io/client";
import type { Logger } from "pino";
import { Health } from "../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { CustomerService } from "../../gen/shipments/v1/customer_service_pb.js";
import { EventSchema } from "../../gen/shipments/v1/event_pb.js";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { QuoteShipmentRequestSchema } from "../../gen/shipments/v1/quote_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { WebhookService } from "../../gen/shipments/v1/webhook_service_pb.js";
import { WorkspaceService } from "../../gen/shipments/v1/workspace_service_pb.js";
import type { Config } from "../config.ts";
import { customerService } from "../features/customers/customer-service.ts";
import { followChanges, type ChangeFeed } from "../db/change-feed.ts";
import { isTransientDatabaseError } from "../db/database-error.ts";
import { migrate } from "../db/migrate.ts";
import { createOrm, type EntityManager } from "../db/orm.ts";
import { ENTITIES } from "./entities.ts";
import { eventService } from "../features/events/event-service.ts";
import { createEventSignal } from "../features/events/event-signal.ts";
import { eventMessage } from "../features/events/event-message.ts";
import { addMetrics } from "./metrics.ts";
import { compileEncodeJson } from "../json/encode-json.ts";
import { createJsonGateway } from "../transport/http/json-gateway.ts";
import { createHttpServer } from "../transport/http/http-server.ts";
import { createProbes } from "../transport/http/probes.ts";
import { purgeStoredResponses } from "../features/idempotency/purge-stored-responses.ts";
import { createMemoryLimiter } from "../pipeline/memory-limiter.ts";
import { createRedisLimiter } from "../pipeline/redis-limiter.ts";
import { createTariffCache } from "../features/tariffs/tariff-cache.ts";
import { createRpcHandler } from "../transport/connect/connect-handler.ts";
import { createPipeline } from "../pipeline/pipeline.ts";
import { createGrpcServer } from "../transport/grpc/grpc-server.ts";
import { addHealth } from "../transport/connect/health.ts";
import { createGrpcFastPath } from "../transport/grpc/fast-path.ts";
import { createObserver } from "../pipeline/observe.ts";
import { addReflection } from "../transport/connect/reflection.ts";
import { listRpcs, listStreams } from "../pipeline/rpc.ts";
import { createTickBatcher } from "../pipeline/tick-batcher.ts";
import { answerUnknownRpc } from "../transport/connect/unknown-rpc.ts";
import { compileValidateRequest } from "../pipeline/validate-request.ts";
import { shipmentService } from "../features/shipments/shipment-service.ts";
import { runDeliveries, type Deliveries } from "../features/webhooks/run-deliveries.ts";
import { createSender, type ResolveName } from "../features/webhooks/send-webhook.ts";
import { webhookService } from "../features/webhooks/webhook-service.ts";
import { createApiKeyCache } from "../features/workspaces/api-key-cache.ts";
import { workspaceService } from "../features/workspaces/workspace-service.ts";
import { recentKeyChanges } from "../features/workspaces/recent-key-changes.ts";

/** The service as a whole: both doors on one database. */
export interface App {
  /** Opens both doors; calls are refused as unavailable until `ready`. */
  listen(): Promise<{ http: AddressInfo; grpc: AddressInfo }>;
  /**
   * Migrates the database, waiting for it if it is away, and begins to follow changes. Resolves
   * when that is done; rejects when the database cannot be migrated or the app closes meanwhile.
   */
  prepare(): Promise<void>;
  /** Why calls are refused now; undefined while they are served. */
  closedBecause(): string | undefined;
  /**
   * Drains: readiness goes to 503, calls under way finish, both doors close. Takes no longer than 9
   * seconds, and no less than half a second, so that a probe can see it.
   */
  close(): Promise<void>;
  readonly em: EntityManager;
}

/** How long calls under way may take to finish once the app closes, in milliseconds. */
const DRAIN_MS = 7_000;
/** How long the doors stay open for probes to see that the app is closing, in milliseconds. */
const LINGER_MS = 500;
/** How often answers kept for retries are purged, in milliseconds. */
const PURGE_MS = 10 * 60 * 1_000;
/** How long deliveries of webhooks may take to finish once the app closes, in milliseconds. */
const DELIVERIES_MS = 4_000;
/** How long to take leave of a database that may not answer, in milliseconds. */
const FAREWELL_MS = 1_000;
/** How long to wait before trying an absent database again, in milliseconds. */
const RETRY_MS = 500;

/** How the world outside is reached; tests put another in its place. */
export interface Outside {
  /** The addresses of a webhook's host. */
  readonly resolve?: ResolveName;
  /** How long a webhook may take to answer, in milliseconds. */
  readonly webhookTimeoutMs?: number;
  /** From 0 to 1; spreads retries. */
  readonly random?: () => number;
}

/** Puts the service together. Nothing is opened yet. */
export function createApp(
  config: Pick<Config, "host" | "port" | "grpcPort"> &
    Partial<Pick<Config, "redisUrl" | "webhookAllowLoopbackHttp">> & {
      readonly databaseUrl: string;
    },
  log: Logger,
  now: () => Date = () => new Date(),
  outside: Outside = {},
): App {
  const { databaseUrl } = config;
  const orm = createOrm(databaseUrl, { entities: ENTITIES, log });
  const tariffs = createTariffCache(orm.em);
  const callers = createApiKeyCache(orm.em, () => now().getTime());
  const shutdown = new AbortController();
  const registry = new Registry();
  const tickBatcher = createTickBatcher();
  const observer = createObserver(log, registry, tickBatcher);
  addMetrics(registry, orm, tariffs.currentVersion);

  let phase: "starting" | "open" | "shutting down" = "starting";
  let feed: ChangeFeed | undefined;
  const closedBecause = () => {
    if (phase !== "open") return phase;
    return tariffs.currentVersion() === undefined ? "waiting for its first tariff" : undefined;
  };

  const { em } = orm;
  const validateQuote = compileValidateRequest(QuoteShipmentRequestSchema);
  const events = createEventSignal({ em, databaseUrl, log });
  em.getEventManager().registerSubscriber(events.subscriber);
  const allowLoopbackHttp = config.webhookAllowLoopbackHttp ?? false;
  const sender = createSender({
    allowLoopbackHttp,
    resolve: outside.resolve,
    timeoutMs: outside.webhookTimeoutMs,
  });
  const encodeEvent = compileEncodeJson(EventSchema);
  let deliveries: Deliveries | undefined;
  const eventFunctions = eventService({ em, events });
  const services = [
    ShipmentService,
    CustomerService,
    WorkspaceService,
    EventService,
    WebhookService,
  ];
  const rpcs = [
    ...listRpcs(ShipmentService, shipmentService({ em, tariffs, now, validateQuote })),
    ...listRpcs(CustomerService, customerService(em)),
    ...listRpcs(WorkspaceService, workspaceService(em)),
    ...listRpcs(EventService, eventFunctions),
    ...listRpcs(WebhookService, webhookService({ em, now, allowLoopbackHttp })),
  ];
  const limiter =
    config.redisUrl === undefined
      ? createMemoryLimiter(() => performance.now())
      : createRedisLimiter(config.redisUrl, log);
  const streams = listStreams(EventService, eventFunctions);
  const pipeline = createPipeline({
    rpcs,
    streams,
    callers,
    closedBecause,
    isTransient: isTransientDatabaseError,
    limiter,
    log,
  });
  const rpcHandler = (grpc: boolean) =>
    createRpcHandler({
      rpcs,
      streams,
      pipeline,
      observer,
      grpc,
      addServices(router) {
        const names = services.map((service) => service.typeName);
        addHealth(router, names, () => closedBecause() === undefined);
        addReflection(router, [...services, Health, ServerReflection]);
      },
      fallback: answerUnknownRpc,
      shutdownSignal: shutdown.signal,
    });
  const httpServer = createHttpServer({
    serviceNames: [...services, Health, ServerReflection].map((service) => service.typeName),
    handleRpc: rpcHandler(false),
    gateway: createJsonGateway({ rpcs, pipeline, observer, tickBatcher }),
    probes: createProbes({ closedBecause, registry }),
  });
  const grpcServer = createGrpcServer(
    rpcHandler(true),
    createGrpcFastPath({ rpcs, pipeline, observer, tickBatcher }),
  );

  async function migrateWhenReachable(): Promise<void> {
    for (;;) {
      shutdown.signal.throwIfAborted();
      try {
        const applied = await migrate(databaseUrl);
        if (applied.length > 0) log.info({ applied }, "migrated");
        return;
      } catch (error) {
        if (!isTransientDatabaseError(error)) throw error;
        log.warn({ err: error }, "waiting for the database");
        await sleep(RETRY_MS);
      }
    }
  }

  function follow(): Promise<void> {
    return new Promise((resolve) => {
      feed = followChanges({
        databaseUrl,
        log,
        reconnected: callers.forgetAll,
        async look(client) {
          callers.forget(await recentKeyChanges(client));
          await tariffs.refresh(client);
          resolve();
        },
      });
    });
  }

  async function purgeNowAndThen(): Promise<void> {
    while (!shutdown.signal.aborted) {
      await purgeStoredResponses(em).catch((error: unknown) => log.warn({ err: error }, "purge failed"));
      await sleep(PURGE_MS, undefined, { ref: false, signal: shutdown.signal }).catch(
        () => undefined,
      );
    }
  }

  async function untilCallsEnd(): Promise<void> {
    const deadline = performance.now() + DRAIN_MS;
    await sleep(LINGER_MS);
    while (observer.underWay() > 0 && performance.now() < deadline) await sleep(20);
  }

  async function leaveDatabase(): Promise<void> {
    await feed?.close();
    await events.close();
    await limiter.close();
    await orm.close();
  }

  return {
    em: orm.em,
    closedBecause,
    async listen() {
      const http = await httpServer.listen(config.host, config.port);
      const grpc = await grpcServer.listen(config.host, config.grpcPort);
      return { http, grpc };
    },
    async prepare() {
      await migrateWhenReachable();
      shutdown.signal.throwIfAborted();
      await follow();
      shutdown.signal.throwIfAborted();
      events.open();
      deliveries = runDeliveries(databaseUrl, log, {
        em,
        now,
        random: outside.random ?? Math.random,
        sender,
        eventJson: (event) => JSON.stringify(encodeEvent(eventMessage(event))),
      });
      phase = "open";
      void purgeNowAndThen();
    },
    async close() {
      const begunMs = performance.now();
      phase = "shutting down";
      shutdown.abort();
      const delivered = deliveries?.close();
      await untilCallsEnd();
      await Promise.all([httpServer.close(LINGER_MS), grpcServer.close(LINGER_MS)]);
      const farewellMs = Math.max(FAREWELL_MS, begunMs + DELIVERIES_MS - performance.now());
      await Promise.race([
        Promise.resolve(delivered).then(leaveDatabase),
        sleep(farewellMs, undefined, { ref: false }),
      ]);
      await sender.close();
    },
  };
}
