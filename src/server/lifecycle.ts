import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { migrateWhenReachable } from "../db/migrate.ts";
import type { TransportServer } from "../transport/connections/transport-server.ts";
import type { Background } from "./background.ts";
import { listenAs } from "./ports.ts";
import type { Readiness } from "./readiness.ts";

/** How a process that serves begins and ends. */
export interface Lifecycle {
  /**
   * Opens every port, that of operators first; calls are refused as unavailable until `prepare` has
   * resolved.
   */
  listen(): Promise<ListeningAddresses>;
  /**
   * Migrates the database, waiting for it while it is away, and starts the background work. Resolves
   * when that is done; rejects when the database cannot be migrated or the service closes meanwhile.
   */
  prepare(): Promise<void>;
  /**
   * Drains: readiness turns 503, calls in flight finish, every port closes, that of operators last.
   * Takes about 9 seconds at most, and at least half a second, so that a probe can see it.
   */
  close(): Promise<void>;
}

/** Where the servers listen. */
export interface ListeningAddresses {
  readonly http: AddressInfo;
  readonly grpc: AddressInfo;
  /** Undefined when operators have no server of their own. */
  readonly operations: AddressInfo | undefined;
}

/** How long calls in flight may take to finish after `close`, in milliseconds. */
const DRAIN_MS = 7_000;
/** How long the ports stay open for probes to see that the service is closing, in milliseconds. */
const LINGER_MS = 500;
/** How long webhook deliveries may take to finish after `close`, in milliseconds. */
const DELIVERIES_MS = 4_000;
/** How long the answers to operators may take to be read at the end, in milliseconds. */
const OPERATIONS_MS = 200;
/** How long disconnecting from a database that may not answer takes at most, in milliseconds. */
const DISCONNECT_MS = 1_000;

/** Builds the lifecycle of a service from its parts. */
export function createLifecycle(options: {
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number;
  readonly operationsPort?: number | undefined;
  readonly databaseUrl: string;
  readonly http: TransportServer;
  readonly grpc: TransportServer;
  readonly operations: TransportServer;
  readonly readiness: Readiness;
  readonly background: Background;
  /** How many calls are in flight. */
  readonly inFlight: () => number;
  /** Closes every connection, to the database and elsewhere. */
  readonly disconnect: () => Promise<unknown>;
  /** Sends the spans that wait, for half a second at most. */
  readonly closeTracing: () => Promise<void>;
  readonly log: Logger;
}): Lifecycle {
  const { host, http, grpc, operations, operationsPort, readiness, background, log } = options;
  const { shutdownSignal } = readiness;

  async function untilCallsEnd(): Promise<void> {
    const deadlineMs = performance.now() + DRAIN_MS;
    await sleep(LINGER_MS);
    while (options.inFlight() > 0 && performance.now() < deadlineMs) await sleep(20);
  }

  return {
    async listen() {
      const forOperators =
        operationsPort === undefined
          ? undefined
          : await listenAs("OPERATIONS_PORT", host, operationsPort, operations.listen);
      return {
        operations: forOperators,
        http: await listenAs("PORT", host, options.port, http.listen),
        grpc: await listenAs("GRPC_PORT", host, options.grpcPort, grpc.listen),
      };
    },
    async prepare() {
      const applied = await migrateWhenReachable(options.databaseUrl, {
        onWaiting: (reason) => log.warn(`waiting for the database: ${reason}`),
        signal: shutdownSignal,
      });
      if (applied.length > 0) log.info({ applied }, "migrated");
      shutdownSignal.throwIfAborted();
      await background.start();
      readiness.open();
    },
    async close() {
      const startedMs = performance.now();
      readiness.shutDown();
      const delivered = background.stopDeliveries();
      await untilCallsEnd();
      await Promise.all([http.close(LINGER_MS), grpc.close(LINGER_MS)]);
      const leftMs = Math.max(DISCONNECT_MS, startedMs + DELIVERIES_MS - performance.now());
      await Promise.race([
        delivered.then(() => background.close()).then(options.disconnect),
        sleep(leftMs, undefined, { ref: false }),
      ]);
      // Spans are sent even when what is waited for above does not end.
      await Promise.all([operations.close(OPERATIONS_MS), options.closeTracing()]);
    },
  };
}
