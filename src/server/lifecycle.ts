import type { AddressInfo } from "node:net";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { migrateWhenReachable } from "../db/migrate.ts";
import type { TransportServer } from "../transport/connections/transport-server.ts";
import type { Background } from "./background.ts";
import { listenAs } from "./ports.ts";
import type { Readiness } from "./readiness.ts";

/** How a process that serves begins and ends. */
export interface Lifecycle {
  /** Opens the port of operators, if they have one: it answers probes from the start to the end. */
  listenForOperators(): Promise<AddressInfo | undefined>;
  /**
   * Migrates the database, waiting for it while it is away, and starts the background work. Resolves
   * when that is done; rejects when the database cannot be migrated or the service closes meanwhile.
   */
  prepare(): Promise<void>;
  /**
   * Opens the public ports: to be called once prepared, since a proxy passes on whatever is answered.
   * Rejects when the service closes meanwhile.
   */
  listen(): Promise<ListeningAddresses>;
  /**
   * Drains: readiness turns 503; then the public ports close, callers on open connections are told to
   * connect elsewhere and answered meanwhile, and calls in flight finish. The port of operators closes
   * last. Takes about 9 seconds at most, and at least half a second, so that a probe can see it.
   *
   * @param idleMs how long idle connections stay open at most, for calls that proxies may be sending
   */
  close(idleMs?: number): Promise<void>;
}

export interface ListeningAddresses {
  readonly http: AddressInfo;
  readonly grpc: AddressInfo;
}

/** How long calls in flight may take to finish once the ports have closed, in milliseconds. */
export const DRAIN_MS = 7_000;
/** How long the ports stay open for probes to see that the service is closing, in milliseconds. */
const LINGER_MS = 500;
/** How long callers without a call in flight may take to hang up, in milliseconds. */
const HANG_UP_MS = 500;
/** How long webhook deliveries may take to finish after `close`, in milliseconds. */
const DELIVERIES_MS = 4_000;
/** How long the answers to operators may take to be read at the end, in milliseconds. */
const OPERATIONS_MS = 200;
/** How long disconnecting from a database that may not answer takes at most, in milliseconds. */
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
  /** Closes every connection, to the database and elsewhere. */
  readonly disconnect: () => Promise<unknown>;
  /** Sends the spans that wait, for half a second at most. */
  readonly closeTracing: () => Promise<void>;
  readonly log: Logger;
}

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { host, http, grpc, operations, operationsPort, reusePort } = options;
  const { readiness, background, log } = options;
  const { shutdownSignal } = readiness;

  return {
    listenForOperators: async () =>
      operationsPort === undefined
        ? undefined
        : listenAs("OPERATIONS_PORT", { host, port: operationsPort }, operations.listen),
    async prepare() {
      const applied = await migrateWhenReachable(options.databaseUrl, {
        onWaiting: (reason) => log.warn(`waiting for the database: ${reason}`),
        signal: shutdownSignal,
      });
      if (applied.length > 0) log.info({ applied }, "migrated");
      shutdownSignal.throwIfAborted();
      await background.start();
    },
    async listen() {
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
    async close(idleMs = 0) {
      if (readiness.leave()) await sleep(LINGER_MS);
      const startedMs = performance.now();
      readiness.shutDown();
      const delivered = background.stopDeliveries();
      await drain(options, idleMs);
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

/**
 * Closes the public servers: their ports, then, when calls have ended or have taken too long, their
 * connections. What arrives while a connection closes is lost. So they are closed right after the event loop
 * has polled, when all that had arrived by then has been read.
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
    log.warn({ calls }, `calls were cut: they had not ended after ${DRAIN_MS / 1_000} s`);
    readiness.end();
  }
  const graceMs = calls > 0 ? 0 : HANG_UP_MS;
  await Promise.all([http.close(graceMs), grpc.close(graceMs)]);
  readiness.end();
}
