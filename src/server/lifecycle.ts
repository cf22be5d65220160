import type { AddressInfo } from "node:net";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { migrateWhenReachable } from "../db/migrate.ts";
import type { TransportServer } from "../transport/connections/transport-server.ts";
import type { Background } from "./background.ts";
import { listenAs } from "./ports.ts";
import type { Readiness } from "./readiness.ts";

interface ListeningAddresses {
  readonly http: AddressInfo;
  readonly grpc: AddressInfo;
}

/** Time for calls in flight to finish after the ports have closed, in milliseconds. */
export const DRAIN_MS = 7_000;
/** Time for which the public ports stay open after the service is no longer ready, in milliseconds. */
const LINGER_MS = 500;
/** Time for idle callers to disconnect, in milliseconds. */
const HANG_UP_MS = 500;
/** Time for webhook deliveries to finish after `close`, in milliseconds. */
const DELIVERIES_MS = 4_000;
/** Time for operators to read the last responses, in milliseconds. */
const OPERATIONS_MS = 200;
/** Maximum time for closing the connections to the database, which may be unresponsive, in milliseconds. */
const DISCONNECT_MS = 1_000;

interface LifecycleOptions {
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number;
  readonly operationsPort?: number | undefined;
  readonly reusePort?: boolean | undefined;
  readonly databaseUrl: string;
  readonly http: TransportServer;
  readonly grpc: TransportServer;
  readonly operations: TransportServer;
  readonly readiness: Readiness;
  readonly background: Background;
  /** Closes the connections to the database and other services. */
  readonly disconnect: () => Promise<unknown>;
  /** Exports pending spans within half a second. */
  readonly closeTracing: () => Promise<void>;
  readonly log: Logger;
}

/** Creates the functions that start and shut down a serving process. */
export function createLifecycle(options: LifecycleOptions) {
  const { host, http, grpc, operations, operationsPort, reusePort } = options;
  const { readiness, background, log } = options;
  const { shutdownSignal } = readiness;

  return {
    /** Opens the operations port, if configured. It serves probes until the process exits. */
    listenForOperators: async () =>
      operationsPort === undefined
        ? undefined
        : listenAs("OPERATIONS_PORT", { host, port: operationsPort }, operations.listen),
    /**
     * Migrates the database and starts background work. Waits while the database is unreachable. Rejects
     * if the database cannot be migrated or the service closes first.
     */
    async prepare(): Promise<void> {
      const applied = await migrateWhenReachable(options.databaseUrl, {
        onWaiting: (reason) => log.warn(`waiting for the database: ${reason}`),
        signal: shutdownSignal,
      });
      if (applied.length > 0) log.info({ applied }, "migrated");
      shutdownSignal.throwIfAborted();
      await background.start();
    },
    /**
     * Opens the public ports. Call it after `prepare`, because proxies forward any response of an open
     * port. Rejects if the service closes first.
     */
    async listen(): Promise<ListeningAddresses> {
      shutdownSignal.throwIfAborted();
      const addresses = {
        http: await listenAs("PORT", { host, port: options.port, reusePort }, http.listen),
        grpc: await listenAs("GRPC_PORT", { host, port: options.grpcPort, reusePort }, grpc.listen),
      };
      if (shutdownSignal.aborted) await Promise.all([http.close(0), grpc.close(0)]);
      shutdownSignal.throwIfAborted();
      readiness.open();
      return addresses;
    },
    /**
     * Shuts down. Becomes not ready, closes the public ports, makes callers with open connections reconnect to another
     * server while serving their calls, and waits for calls in flight. Closes the operations port last. Takes at most
     * about 9 seconds, and at least half a second so that probes can notice.
     *
     * @param idleMs maximum time for which idle connections stay open, in milliseconds. Proxies may be
     *   sending calls on them
     */
    async close(idleMs: number = 0): Promise<void> {
      if (readiness.leave()) await sleep(LINGER_MS);
      const startedMs = performance.now();
      readiness.shutDown();
      const delivered = background.stopQueues();
      await drain(options, idleMs);
      const leftMs = Math.max(DISCONNECT_MS, startedMs + DELIVERIES_MS - performance.now());
      await Promise.race([
        delivered.then(() => background.close()).then(options.disconnect),
        sleep(leftMs, undefined, { ref: false }),
      ]);
      // Spans are exported even if an earlier step hangs.
      await Promise.all([operations.close(OPERATIONS_MS), options.closeTracing()]);
    },
  };
}

/**
 * Closes the ports of the public servers. Then closes connections, once their calls have ended or take too long. Data
 * that arrives while a connection closes is lost, so connections are closed right after the event loop has polled for
 * data.
 */
async function drain(
  { http, grpc, readiness, log }: Pick<LifecycleOptions, "http" | "grpc" | "readiness" | "log">,
  idleMs: number,
): Promise<void> {
  const openCalls = () => http.openCalls() + grpc.openCalls();
  const openConnections = () => http.openConnections() + grpc.openConnections();
  const startedMs = performance.now();
  await Promise.all([http.drain(), grpc.drain()]);
  const tookMs = () => performance.now() - startedMs;
  const mayCome = () => tookMs() < idleMs && openConnections() > 0;
  while (tookMs() < DRAIN_MS && (openCalls() > 0 || mayCome())) {
    await sleep(20);
    await immediate();
  }
  const calls = openCalls();
  if (calls > 0) {
    log.warn({ calls }, `calls were aborted because they did not finish within ${DRAIN_MS / 1_000} s`);
    readiness.end();
  }
  const graceMs = calls > 0 ? 0 : HANG_UP_MS;
  await Promise.all([http.close(graceMs), grpc.close(graceMs)]);
  readiness.end();
}
