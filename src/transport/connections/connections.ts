import type { Socket } from "node:net";
import type { ConnectionLimits } from "../../pipeline/bounds/limits.ts";
import { createConnectionCalls, type ConnectionCalls } from "./connection-calls.ts";
import {
  createStalledSockets,
  createUnreadResponses,
  type PendingResponse,
} from "./unread-responses.ts";

export interface ConnectionActions {
  readonly closeSilent: (socket: Socket) => void;
  readonly cutResponse: (response: PendingResponse) => void;
  /** How long a response may stall whose connection does not; as that unless given. */
  readonly responseStallMs?: number;
}

export function createConnections(
  limits: ConnectionLimits,
  { closeSilent, cutResponse, responseStallMs: stallMs = limits.stallMs }: ConnectionActions,
) {
  const all = new Map<Socket, Connection>();
  const byAddress = new Map<string, Map<Socket, Connection>>();
  const cutUnread = createUnreadResponses({ ...limits, stallMs }, cutResponse);
  const lookAt = createStalledSockets(limits.stallMs, (socket: Socket) => socket.destroy());
  const ofServer = { waiting: 0, heldBytes: 0 };
  let sweeping: NodeJS.Timeout | undefined;

  function forget(socket: Socket, { address, calls }: Connection): void {
    calls.clear();
    if (!all.delete(socket)) return;
    const ofAddress = byAddress.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) byAddress.delete(address);
  }

  /** Closes one that has no call in flight; false when there is none. */
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
      lookAt(socket, nowMs);
    }
    cutUnread(openResponses(all.values()), nowMs);
  }

  return {
    /**
     * Takes a new connection. When there are as many as may be, one without a call in flight is closed
     * for it: the oldest that never brought a call, else the oldest, else the oldest with nothing but
     * streams; when there is none, the new one.
     */
    add(socket: Socket): ConnectionCalls {
      const address = socket.remoteAddress ?? "";
      const calls = createConnectionCalls(limits, ofServer, { remoteAddress: address });
      const connection = { address, calls, sinceMs: performance.now() };
      const ofAddress = byAddress.getOrInsertComputed(address, () => new Map());
      const hasRoom =
        (ofAddress.size < limits.maxConnectionsOfAddress || makeRoom(ofAddress)) &&
        (all.size < limits.maxConnections || makeRoom(all));
      // Making room may have taken the last other connection of the address, and its map with it.
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
    /** Begins to look for connections that are silent or stall and responses that are not read. */
    start: () => void (sweeping = setInterval(sweep, limits.sweepMs).unref()),
    stop: () => clearInterval(sweeping),
  };
}

interface Connection {
  readonly address: string;
  readonly calls: ConnectionCalls;
  /** When it opened, on the clock of `performance.now()`. */
  readonly sinceMs: number;
}

/** Cheapest connection to evict; undefined when none may be. */
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
