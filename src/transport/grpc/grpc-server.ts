import {
  constants,
  createServer,
  performServerHandshake,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createTcpServer, type Socket } from "node:net";
import { refuse } from "../../domain/refusal.ts";
import {
  closeServer,
  listen,
  stopListening,
  type TransportServer,
} from "../connections/transport-server.ts";
import { IDLE_STREAM_MS, type RpcHandler } from "../connect/connect-options.ts";
import type { ConnectionCalls } from "../connections/connection-calls.ts";
import { CONNECTIONS, STREAM_RESETS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";
import { refuseSocket } from "../connect/refuse-socket.ts";
import { createConnections } from "../connections/connections.ts";
import type { TakeStream } from "./fast-path.ts";

const LIMITS = {
  maxSessionMemory: 32,
  maxHeaderListPairs: 128,
  // Above these a caller that cancels many calls at once would lose its connection; a flood of
  // resets does.
  streamResetBurst: STREAM_RESETS.burst,
  streamResetRate: STREAM_RESETS.rate,
  settings: {
    // Node counts a stream that was reset until the tick is over, so that a caller at this bound
    // which cancels and calls again is refused. Nobody should reach it: `maxServed` bounds the work.
    maxConcurrentStreams: 10_000,
    // What a call that waits may have sent, in bytes.
    initialWindowSize: 16 * 1024,
    maxHeaderListSize: 16 * 1024,
    enablePush: false,
  },
} as const;
/** How a request by HTTP/1.1 begins; HTTP/2 begins with `PRI`. */
const HTTP1 = /^(?!PRI )[A-Z]{3,7} [/*h]/;
const NOT_HTTP2 = refuse(
  "REQUEST_MALFORMED",
  "This port speaks gRPC, by HTTP/2; the JSON API and the dashboard are at the port PORT.",
);
/** How long a connection that is told to go away may take, in milliseconds. */
const GO_AWAY_MS = 1_000;
/**
 * A GOAWAY frame by which a caller is to open no more streams here, and that leaves none out which it has
 * opened already (RFC 9113, section 6.8). After the one that Node sends, such streams are not answered.
 */
const GO_ELSEWHERE = Buffer.from("0000080700000000007fffffff00000000", "hex");

/**
 * Opens an HTTP/2 server; it does not listen yet. Each stream is offered to `takeStream`, and what
 * that leaves alone goes to `handle`.
 */
export function createGrpcServer(
  handle: RpcHandler,
  takeStream: TakeStream,
  limits: Partial<ConnectionLimits> = {},
): TransportServer {
  const serve = createServeStream(handle, takeStream);
  /** Of each open connection; undefined before its first byte. */
  const sessions = new Map<Socket, ServerHttp2Session | undefined>();
  const connections = createConnections(
    { ...CONNECTIONS, ...limits },
    {
      closeSilent: (socket) => closeSilent(socket, sessions.get(socket)),
      cutResponse: (response) => (response as ServerHttp2Stream).close(constants.NGHTTP2_CANCEL),
    },
  );

  let isDraining = false;
  const beginSession = (socket: Socket, calls: ConnectionCalls) => {
    const session = performServerHandshake(socket, LIMITS);
    // A broken connection ends by itself; without a listener it would end the process.
    session.on("error", () => session.destroy());
    sessions.set(socket, session);
    serveStreams(session, calls, serve);
    // After the greeting, which Node sends in an immediate of its own.
    if (isDraining) setImmediate(() => sendElsewhere(socket));
  };
  const listener = createTcpServer((socket) => {
    const calls = connections.add(socket);
    sessions.set(socket, undefined);
    socket.once("close", () => sessions.delete(socket));
    refuseHttp1(socket, () => beginSession(socket, calls));
  });

  return {
    async listen(at) {
      const address = await listen(listener, at);
      connections.start();
      return address;
    },
    async drain() {
      await stopListening(listener);
      isDraining = true;
      for (const [socket, session] of sessions) if (session) sendElsewhere(socket);
    },
    async close(graceMs) {
      const closed = closeServer(listener, graceMs, () => {
        // Sockets, since a session that closes waits without end for its caller to hang up.
        for (const socket of sessions.keys()) socket.destroy();
      });
      for (const [socket, session] of sessions) endSession(socket, session);
      await closed;
      connections.stop();
    },
    openCalls: connections.openCalls,
    openConnections: connections.count,
  };
}

/** Ends a session once its calls have, or a connection that has none yet. */
function endSession(socket: Socket, session: ServerHttp2Session | undefined): void {
  if (session === undefined) socket.destroy();
  else session.close();
}

/** Node writes whole frames, so that another one fits between any two. */
function sendElsewhere(socket: Socket): void {
  if (!socket.destroyed) socket.write(GO_ELSEWHERE);
}

/**
 * Looks at the first bytes of a connection: refuses HTTP/1.1, and leaves all else to `begin`. A session greets
 * at once, after which HTTP/1.1 could not be answered any more.
 */
function refuseHttp1(socket: Socket, begin: () => void): void {
  socket.on("error", () => socket.destroy());
  socket.once("readable", () => {
    const head = socket.read() as Buffer | null;
    if (head === null) return;
    if (!HTTP1.test(head.toString("latin1", 0, 16))) {
      socket.unshift(head);
      return begin();
    }
    // What is left unread would reset the connection, and with it the refusal.
    socket.resume();
    refuseSocket(socket, NOT_HTTP2);
  });
}

type ServeStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: readonly string[],
  calls: ConnectionCalls,
) => void;

function createServeStream(handle: RpcHandler, takeStream: TakeStream): ServeStream {
  // Never listens: it is there to make Node's request and response objects of a stream, which the
  // server itself would make of every stream.
  const compatibility = createServer(handle);
  return (stream, headers, flags, rawHeaders, calls) => {
    if (takeStream(stream, headers, rawHeaders, calls)) return;
    // Some of these last as long as they like.
    calls.exempt(stream);
    compatibility.emit("stream", stream, headers, flags, rawHeaders);
  };
}

function serveStreams(
  session: ServerHttp2Session,
  calls: ConnectionCalls,
  serve: ServeStream,
): void {
  function onClose(this: ServerHttp2Stream): void {
    calls.end(this);
  }
  session.on("stream", (stream: ServerHttp2Stream, headers, flags, rawHeaders) => {
    stream.on("close", onClose);
    if (calls.begin(stream)) return serve(stream, headers, flags, rawHeaders, calls);
    // Without a listener a stream that breaks while it waits would end the process.
    stream.on("error", () => undefined);
    const refuseStream = () => stream.close(constants.NGHTTP2_REFUSED_STREAM);
    stream.setTimeout(IDLE_STREAM_MS, refuseStream);
    const waits = calls.wait(stream, () => {
      // A call that has begun must not be refused as one that has not: clients would repeat it.
      stream.setTimeout(0, refuseStream);
      serve(stream, headers, flags, rawHeaders, calls);
    });
    if (!waits) stream.close(constants.NGHTTP2_REFUSED_STREAM);
  });
}

/** Closes a connection without a call: at once if it never spoke HTTP/2, else after saying so. */
function closeSilent(socket: Socket, session: ServerHttp2Session | undefined): void {
  if (session === undefined) return void socket.destroy();
  if (session.closed) return;
  session.close();
  setTimeout(() => socket.destroy(), GO_AWAY_MS).unref();
}
