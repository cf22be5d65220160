import type { Socket } from "node:net";
import {
  CALL_LIMITS,
  createConnectionCalls,
  type CallLimits,
  type ConnectionCalls,
} from "./connection-calls.ts";
import { createUnreadAnswers, type Answer, type UnreadLimits } from "./unread-responses.ts";

/** Bounds on the connections of one server. */
export interface ConnectionLimits extends CallLimits, UnreadLimits {
  /** How many connections may be open. */
  readonly maxConnections: number;
  /** How many of them may come from one address. */
  readonly maxConnectionsOfAddress: number;
  /** How long a connection may take to bring its first request, in milliseconds. */
  readonly silentMs: number;
  /** How often connections are looked at, in milliseconds. */
  readonly sweepMs: number;
}

/** The bounds of the two servers. An address may be that of a proxy, so it is allowed many. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  ...CALL_LIMITS,
  stallMs: 30_000,
  maxConnections: 10_000,
  maxConnectionsOfAddress: 5_000,
  silentMs: 10_000,
  sweepMs: 1_000,
};

/** The open connections of one server. */
export interface Connections {
  /**
   * Takes a new connection. When there are as many as may be, one without a call in flight is closed
   * for it: the oldest that never brought a call, else the oldest, else the oldest with nothing but
   * streams; when there is none, the new one.
   */
  add(socket: Socket): ConnectionCalls;
  /** The calls of a connection that was added and is open. */
  callsOf(socket: Socket): ConnectionCalls | undefined;
  /** How many are open. */
  count(): number;
  /** Begins to look for connections that are silent and answers that are not read. */
  start(): void;
  stop(): void;
}

/** How a server does to its connections what each protocol does otherwise. */
export interface ConnectionActions {
  /** Closes a connection that has not brought a call in time. */
  readonly closeSilent: (socket: Socket) => void;
  /** Drops an answer that is not read. */
  readonly cutAnswer: (answer: Answer) => void;
  /** Looks at a connection, now and then. */
  readonly look?: (socket: Socket) => void;
}

/** Builds the record of a server's connections. */
export function createConnections(
  limits: ConnectionLimits,
  { closeSilent, cutAnswer, look }: ConnectionActions,
): Connections {
  const all = new Map<Socket, Connection>();
  const byAddress = new Map<string, Map<Socket, Connection>>();
  const cutUnread = createUnreadAnswers(limits, cutAnswer);
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
      look?.(socket);
    }
    cutUnread(openAnswers(all.values()), nowMs);
  }

  return {
    add(socket) {
      const address = socket.remoteAddress ?? "";
      const connection = {
        address,
        calls: createConnectionCalls(limits, ofServer, { remoteAddress: address }),
        sinceMs: performance.now(),
      };
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
      return connection.calls;
    },
    callsOf: (socket) => all.get(socket)?.calls,
    count: () => all.size,
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

/** The one whose closing harms least, if there is one that may be closed. */
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

function* openAnswers(connections: Iterable<Connection>): Iterable<[Answer, number]> {
  for (const { calls } of connections) yield* calls.open();
}
