import {
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { RpcHandler } from "../connect/node-adapter.ts";
import type { TakeStream } from "./fast-path.ts";

/** The cleartext HTTP/2 door, for gRPC. */
export interface GrpcServer {
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Tells callers to go away, waits for calls under way, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** Bounds on what one connection may ask for. */
const LIMITS = {
  maxSessionMemory: 16,
  maxHeaderListPairs: 128,
  settings: { maxConcurrentStreams: 1_000, maxHeaderListSize: 16 * 1024, enablePush: false },
} as const;
/** How many connections may be open at once. */
const MAX_CONNECTIONS = 10_000;

/**
 * Opens an HTTP/2 server; it does not listen yet. Each stream is offered to `takeStream`, and what
 * that leaves alone goes to `handle`.
 */
export function createGrpcServer(handle: RpcHandler, takeStream: TakeStream): GrpcServer {
  const server: Http2Server = createServer(LIMITS);
  // Never listens: it is there to make Node's request and response objects of a stream, which the
  // server itself would make of every stream.
  const compatibility = createServer(handle);
  server.on("stream", (stream: ServerHttp2Stream, headers, flags, rawHeaders) => {
    if (takeStream(stream, headers, rawHeaders)) return;
    compatibility.emit("stream", stream, headers, flags, rawHeaders);
  });
  server.maxConnections = MAX_CONNECTIONS;
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A broken connection ends by itself; without a listener it would end the process.
    session.on("error", () => session.destroy());
  });
  server.on("sessionError", () => undefined);

  return {
    listen: (host, port) => listen(server, host, port),
    close: (graceMs) =>
      new Promise((resolve) => {
        // Sockets, since a session that closes waits without end for its caller to hang up.
        const cut = setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        for (const session of sessions) session.close();
      }),
  };
}

function listen(server: Http2Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}
