import type { AddressInfo, Server } from "node:net";

/** A server of the service, on one port. */
export interface TransportServer {
  /** Starts to listen; a port of 0 is any free one. */
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Takes no new connections, and tells callers to go elsewhere; what they still send is served. */
  drain(): void;
  /** Drains, closes idle connections, waits for calls in flight, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>;
  /** How many calls have come and not been answered, on all connections. */
  openCalls(): number;
  /** How many connections are open. */
  openConnections(): number;
}

/**
 * Starts to listen; a port of 0 is any free one.
 *
 * @throws the server's error when the address cannot be had
 */
export function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}
