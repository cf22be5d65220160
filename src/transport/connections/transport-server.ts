import { Server, type AddressInfo } from "node:net";
import { setImmediate as immediate } from "node:timers/promises";

export interface ListenAddress {
  readonly host: string;
  /** Port number, 0 for any free port. */
  readonly port: number;
  /** Whether other processes may listen on the port. The kernel then distributes connections. */
  readonly reusePort?: boolean | undefined;
}

export interface TransportServer {
  listen(at: ListenAddress): Promise<AddressInfo>;
  /**
   * Stops accepting connections and makes callers reconnect to another server. Requests that still arrive are served.
   */
  drain(): Promise<void>;
  /**
   * Drains the server, closes idle connections and waits for calls in flight. Aborts the remaining
   * calls after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
  openCalls(): number;
  openConnections(): number;
}

/** Starts listening. Resolves with the listening address. */
export function listen(server: Server, at: ListenAddress): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** In an event loop turn shorter than this, in milliseconds, most likely no connection arrived. */
const QUIET_TURN_MS = 0.05;
/** Maximum time to wait for such a turn, in milliseconds. Under full load, no turn is that short. */
const QUIET_WITHIN_MS = 500;

/**
 * Stops accepting connections. When the port closes, the kernel resets the connections in the accept queue. Node
 * accepts one connection per event loop turn, so the port closes after a short turn, in which no connection arrived.
 *
 * `close` of Node's HTTP server is not used, because it also closes idle connections, on which a call
 * may be arriving.
 */
export async function stopListening(server: Server): Promise<void> {
  let isQuiet: boolean;
  const onConnection = () => (isQuiet = false);
  server.on("connection", onConnection);
  const endMs = performance.now() + QUIET_WITHIN_MS;
  do {
    isQuiet = true;
    const turnedMs = performance.now();
    await immediate();
    isQuiet &&= performance.now() - turnedMs < QUIET_TURN_MS;
  } while (!isQuiet && performance.now() < endMs);
  Server.prototype.close.call(server);
  server.off("connection", onConnection);
}

/** Closes a server and its idle connections. Calls `cut` if connections are still open after `graceMs`. */
export function closeServer(server: Server, graceMs: number, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    const cutting = setTimeout(cut, graceMs);
    server.close(() => {
      clearTimeout(cutting);
      resolve();
    });
  });
}
