import { Server, type AddressInfo } from "node:net";
import { setImmediate as immediate } from "node:timers/promises";

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 is any free one. */
  readonly port: number;
  /** Whether other processes may listen there too: the system shares new connections out between them. */
  readonly reusePort?: boolean | undefined;
}

export interface TransportServer {
  listen(at: ListenAddress): Promise<AddressInfo>;
  /** Takes no new connections, and tells callers to go elsewhere; what they still send is served. */
  drain(): Promise<void>;
  /** Drains, closes idle connections, waits for calls in flight, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>;
  /** How many calls have come and not been answered, on all connections. */
  openCalls(): number;
  openConnections(): number;
}

/** Resolves with where the server listens. */
export function listen(server: Server, at: ListenAddress): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** How short a turn of the event loop is in which hardly anybody can have come since it polled, in milliseconds. */
const QUIET_TURN_MS = 0.05;
/** How long such a turn is waited for at most, in milliseconds: under full load there is none. */
const QUIET_WITHIN_MS = 500;

/**
 * Takes no new connections. The system resets those that wait to be accepted, of which Node accepts one in a turn
 * of its event loop, so the port closes after a short turn in which none came.
 *
 * Node's own `close` of a server that speaks HTTP does more: it closes idle connections, on which a call may be coming.
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

/** Closes a server with its idle connections, and calls `cut` when others are still open after `graceMs`. */
export function closeServer(server: Server, graceMs: number, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    const cutting = setTimeout(cut, graceMs);
    server.close(() => {
      clearTimeout(cutting);
      resolve();
    });
  });
}
