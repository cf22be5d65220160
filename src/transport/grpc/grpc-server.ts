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
import { closeServer, listen, stopListening, type TransportServer } from "../connections/transport-server.ts";
import { IDLE_STREAM_MS, type RpcHandler } from "../connect/connect-options.ts";
import type { ConnectionCalls } from "../connections/connection-calls.ts";
import { CONNECTIONS, STREAM_RESETS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";
import { refuseSocket } from "../connect/refuse-socket.ts";
import { createConnections } from "../connections/connections.ts";
import type { HandleStream } from "./fast-path.ts";

const LIMITS = {
  maxSessionMemory: 32,
  maxHeaderListPairs: 128,
  // A connection that exceeds these rates is closed. This limits reset floods, but also callers that cancel many calls
  // at once.
  streamResetBurst: STREAM_RESETS.burst,
  streamResetRate: STREAM_RESETS.rate,
  settings: {
    // Node counts a reset stream until the end of the tick. A lower limit would refuse callers that
    // cancel calls and immediately make new ones. In practice `maxServed` limits the work.
    maxConcurrentStreams: 10_000,
    // Maximum data that a waiting call can send, in bytes.
    initialWindowSize: 16 * 1024,
    maxHeaderListSize: 16 * 1024,
    enablePush: false,
  },
} as const;
/** Matches the start of an HTTP/1.1 request. HTTP/2 starts with `PRI`. */
const HTTP1 = /^(?!PRI )[A-Z]{3,7} [/*h]/;
const NOT_HTTP2 = refuse(
  "REQUEST_MALFORMED",
  "This port serves gRPC over HTTP/2. The JSON API and the dashboard are on the HTTP port (setting PORT).",
);
/** Time until a connection is closed after GOAWAY, in milliseconds. */
const GO_AWAY_MS = 1_000;
/**
 * A GOAWAY frame that stops new streams and keeps all open ones (RFC 9113, 6.8). After Node's own
 * GOAWAY, streams that are still arriving would get no response.
 */
const GO_AWAY_FRAME = Buffer.from("0000080700000000007fffffff00000000", "hex");

/**
 * Creates an HTTP/2 server without listening. Each stream is offered to `handleStream` first. `handle`
 * serves the remaining streams.
 */
export function createGrpcServer(
  handle: RpcHandler,
  handleStream: HandleStream,
  limits: Partial<ConnectionLimits> = {},
): TransportServer {
  const serve = createServeStream(handle, handleStream);
  /** Sessions of open connections. `undefined` before the first byte. */
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
    // Without a listener, a broken connection would terminate the process.
    session.on("error", () => session.destroy());
    sessions.set(socket, session);
    serveStreams(session, calls, serve);
    // GOAWAY must follow the server's SETTINGS frame, which Node sends in a `setImmediate` callback.
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
        // Sockets are destroyed, because closing a session waits indefinitely for its caller.
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

/** Closes a session after its calls. Destroys a connection without a session. */
function endSession(socket: Socket, session: ServerHttp2Session | undefined): void {
  if (session === undefined) socket.destroy();
  else session.close();
}

/** Writes GOAWAY directly to the socket. This is safe, because Node writes only whole frames. */
function sendElsewhere(socket: Socket): void {
  if (!socket.destroyed) socket.write(GO_AWAY_FRAME);
}

/**
 * Inspects the first bytes of a connection, refuses HTTP/1.1, and calls `begin` for HTTP/2. A session
 * would send SETTINGS first, after which an HTTP/1.1 response is impossible.
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
    // With unread data, the kernel would reset the connection and drop the refusal.
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

function createServeStream(handle: RpcHandler, handleStream: HandleStream): ServeStream {
  // This server never listens. It creates Node's request and response objects for single streams. The
  // main server would create them for every stream.
  const compatibility = createServer(handle);
  return (stream, headers, flags, rawHeaders, calls) => {
    if (handleStream(stream, headers, rawHeaders, calls)) return;
    // Exempt, because some of these streams have unlimited duration.
    calls.exempt(stream);
    compatibility.emit("stream", stream, headers, flags, rawHeaders);
  };
}

function serveStreams(session: ServerHttp2Session, calls: ConnectionCalls, serve: ServeStream): void {
  function onClose(this: ServerHttp2Stream): void {
    calls.end(this);
  }
  session.on("stream", (stream: ServerHttp2Stream, headers, flags, rawHeaders) => {
    stream.on("close", onClose);
    if (calls.begin(stream)) return serve(stream, headers, flags, rawHeaders, calls);
    // Without a listener, a stream that breaks while waiting would terminate the process.
    stream.on("error", () => undefined);
    const refuseStream = () => stream.close(constants.NGHTTP2_REFUSED_STREAM);
    stream.setTimeout(IDLE_STREAM_MS, refuseStream);
    const waits = calls.wait(stream, () => {
      // Once started, a call must not be refused as unstarted, because clients would repeat it.
      stream.setTimeout(0, refuseStream);
      serve(stream, headers, flags, rawHeaders, calls);
    });
    if (!waits) stream.close(constants.NGHTTP2_REFUSED_STREAM);
  });
}

/** Closes a connection without a call: immediately if it never sent HTTP/2, otherwise after GOAWAY. */
function closeSilent(socket: Socket, session: ServerHttp2Session | undefined): void {
  if (session === undefined) return void socket.destroy();
  if (session.closed) return;
  session.close();
  setTimeout(() => socket.destroy(), GO_AWAY_MS).unref();
}
