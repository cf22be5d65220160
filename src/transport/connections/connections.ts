import type { Socket } from "node:net";
import type { ConnectionLimits } from "../../pipeline/bounds/limits.ts";
import { createConnectionCalls, type ConnectionCalls } from "./connection-calls.ts";
import { createStalledSockets, createUnreadResponses, type PendingResponse } from "./unread-responses.ts";

export interface ConnectionActions {
  readonly closeSilent: (socket: Socket) => void;
  readonly cutResponse: (response: PendingResponse) => void;
  /**
   * Time without progress after which a response on an active connection is dropped, in milliseconds.
   * Defaults to `stallMs` of the limits.
   */
  readonly responseStallMs?: number;
}

export function createConnections(
  limits: ConnectionLimits,
  { closeSilent, cutResponse, responseStallMs: stallMs = limits.stallMs }: ConnectionActions,
) {
  const all = new Map<Socket, Connection>();
  const byAddress = new Map<string, Map<Socket, Connection>>();
  const cutUnread = createUnreadResponses({ ...limits, stallMs }, cutResponse);
  const checkStalled = createStalledSockets(limits.stallMs, (socket: Socket) => socket.destroy());
  const ofServer = { waiting: 0, heldBytes: 0 };
  let sweeping: NodeJS.Timeout | undefined;

  function forget(socket: Socket, { address, calls }: Connection): void {
    calls.clear();
    if (!all.delete(socket)) return;
    const ofAddress = byAddress.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) byAddress.delete(address);
  }

  /** Evicts a connection. Returns false if none can be evicted. */
  function makeRoom(among: ReadonlyMap<Socket, Connection>): boolean {
    const found = findDispensable(among);
    if (found === undefined) return false;
    forget(...found);
    found[0].destroy();
    return true;
  }

  function sweep(): void {
    const nowMs = performance.now();
    for (const [socket, { calls, sinceMs }] of all) {
      if (!calls.hasCome() && nowMs - sinceMs >= limits.silentMs) closeSilent(socket);
      checkStalled(socket, nowMs);
    }
    cutUnread(openResponses(all.values()), nowMs);
  }

  return {
    /**
     * Adds a connection. At the limit, evicts the oldest connection that never had a call, else the oldest idle one,
     * else the oldest whose calls are all exempt. If there is none, refuses the new connection.
     */
    add(socket: Socket): ConnectionCalls {
      const address = socket.remoteAddress ?? "";
      const calls = createConnectionCalls(limits, ofServer, { remoteAddress: address });
      const connection = { address, calls, sinceMs: performance.now() };
      const ofAddress = byAddress.getOrInsertComputed(address, () => new Map());
      const hasRoom =
        (ofAddress.size < limits.maxConnectionsOfAddress || makeRoom(ofAddress)) &&
        (all.size < limits.maxConnections || makeRoom(all));
      // Sets the map again, because evicting the last other connection of the address removed it.
      if (hasRoom) {
        byAddress.set(address, ofAddress.set(socket, connection));
        all.set(socket, connection);
        socket.once("close", () => forget(socket, connection));
      } else {
        if (ofAddress.size === 0) byAddress.delete(address);
        socket.destroy();
      }
      return calls;
    },
    callsOf: (socket: Socket) => all.get(socket)?.calls,
    count: () => all.size,
    openCalls: () => all.values().reduce((sum, { calls }) => sum + calls.open().size, 0),
    /** Starts regular checks for silent connections, stalled connections and unread responses. */
    start: () => void (sweeping = setInterval(sweep, limits.sweepMs).unref()),
    stop: () => clearInterval(sweeping),
  };
}

interface Connection {
  readonly address: string;
  readonly calls: ConnectionCalls;
  /** Time when the connection was opened, on the clock of `performance.now()`. */
  readonly sinceMs: number;
}

/** Returns the connection to evict. `undefined` if all connections have calls in flight. */
function findDispensable(among: ReadonlyMap<Socket, Connection>) {
  return (
    first(among, ({ calls }) => !calls.hasCome()) ??
    first(among, ({ calls }) => calls.isIdle()) ??
    first(among, ({ calls }) => calls.isExempt())
  );
}

function first(
  among: ReadonlyMap<Socket, Connection>,
  isWanted: (connection: Connection) => boolean,
): [Socket, Connection] | undefined {
  return among.entries().find(([, connection]) => isWanted(connection));
}

function* openResponses(connections: Iterable<Connection>): Iterable<[PendingResponse, number]> {
  for (const { calls } of connections) yield* calls.open();
}
