import { Server, type AddressInfo } from "node:net";

export interface TransportServer {
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Takes no new connections, and tells callers to go elsewhere; what they still send is served. */
  drain(): void;
  /** Drains, closes idle connections, waits for calls in flight, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>;
  /** How many calls have come and not been answered, on all connections. */
  openCalls(): number;
  openConnections(): number;
}

/** A port of 0 is any free one. */
export function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/**
 * Takes no new connections. Node's own `close` of a server that speaks HTTP does more: it closes idle
 * connections, on which a call may be coming.
 */
export function stopListening(server: Server): void {
  Server.prototype.close.call(server);
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
