import type { AddressInfo } from "node:net";

/** A server of the service, on one port. */
export interface TransportServer {
  /** Starts to listen; a port of 0 is any free one. */
  listen(host: string, port: number): Promise<AddressInfo>;
  /**
   * Takes no new connections, tells callers to go elsewhere, waits for calls in flight, and cuts what
   * is left after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
  /** How many connections are open. */
  openConnections(): number;
}
