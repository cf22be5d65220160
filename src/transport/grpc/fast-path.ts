import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag, type Compression } from "@connectrpc/connect/protocol";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { DocumentResponse, messageOf, type RpcResponse } from "../../pipeline/rpc-response.ts";
import type { ReceivedCall } from "../../pipeline/call.ts";
import type { Pipeline } from "../../pipeline/stages/pipeline.ts";
import { rateLimitHeaders } from "../../pipeline/bounds/rate-limiter.ts";
import type { Rpc } from "../../pipeline/rpc.ts";
import type { UnaryExchange } from "../../pipeline/stages/serve-unary.ts";
import { isAnswerLost } from "../../pipeline/stages/simulate.ts";
import { closeStreamAfterGrace, loseStreamAnswer, sendInChunks } from "../connections/write-response.ts";
import { grpcError } from "../connect/connect-error.ts";
import { IDLE_STREAM_MS, CONNECT_OPTIONS } from "../connect/connect-options.ts";
import type { ConnectionCalls } from "../connections/connection-calls.ts";
import { frame } from "../connect/frames.ts";
import { readUnaryBody } from "./unary-body.ts";
import { createUnaryHeadersReader, type UnaryCodec } from "./unary-headers.ts";

/**
 * Serves the call of a new HTTP/2 stream. Returns false and leaves the stream untouched if the call is not
 * served here. `rawHeaders` alternates names and values. `calls` are the calls of the stream's connection.
 */
export type HandleStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
  calls: ConnectionCalls,
) => boolean;

type Trailers = Readonly<Record<string, string>>;

const WITH_TRAILERS = { waitForTrailers: true };
const OK: Trailers = { "grpc-status": "0" };

/**
 * Serves ordinary unary gRPC calls directly on their HTTP/2 streams. The responses are the same as
 * Connect's. Connect's handlers are several times as expensive, because they create signals, `Headers`
 * and a chain of async iterables for each call. Connect serves all other calls.
 */
export function createGrpcFastPath(rpcs: readonly Rpc[], pipeline: Pipeline): HandleStream {
  const readUnaryHeaders = createUnaryHeadersReader(rpcs);
  return (stream, headers, rawHeaders, calls) => {
    const codec = readUnaryHeaders(headers);
    if (codec === undefined) return false;
    const call = pipeline.receive(rawHeaders, calls.peer);
    call.method = codec.rpc.name;
    // The gRPC timeout takes precedence over Connect's timeout.
    const { timeoutMs } = codec;
    call.deadlineMs = timeoutMs === undefined ? undefined : call.startedMs + timeoutMs;
    stream.setTimeout(IDLE_STREAM_MS, () => stream.close(constants.NGHTTP2_CANCEL));
    // Without a listener, a broken stream would terminate the process.
    stream.on("error", () => undefined);
    stream.on("close", () => pipeline.finish(call, stream.headersSent ? 200 : 0));
    pipeline.serveUnary(codec.rpc, call, exchangeOn({ stream, call, codec, pipeline, calls }));
    return true;
  };
}

interface ExchangeOptions {
  readonly stream: ServerHttp2Stream;
  readonly call: ReceivedCall;
  readonly codec: UnaryCodec;
  readonly pipeline: Pipeline;
  readonly calls: ConnectionCalls;
}

function exchangeOn(options: ExchangeOptions): UnaryExchange {
  const { stream, call, codec, pipeline, calls } = options;
  let bodyEnded = false;
  let answered = false;

  function send(message: Buffer | undefined, trailers: Trailers): void {
    answered = true;
    if (stream.closed || stream.destroyed) return;
    if (!calls.send(stream, message?.length ?? 0)) {
      call.code = Code.ResourceExhausted;
      return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
    if (!bodyEnded) stream.once("finish", () => discardRest(stream));
    stream.respond(responseHeaders(call, codec), WITH_TRAILERS);
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    sendInChunks(stream, message, calls);
  }

  /**
   * Sends an error. Must not throw, not even from `makeError`, because an exception here would terminate the process.
   */
  function sendError(makeError: () => ConnectError): void {
    // Once the response has started, an error can no longer be sent.
    if (answered) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    try {
      const error = makeError();
      call.code = error.code;
      send(undefined, Object.fromEntries(setTrailerStatus(new Headers(), error)));
    } catch (defect) {
      pipeline.refuseCall(defect, call);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }

  return {
    read(received, failed) {
      const body = readUnaryBody({
        parse: codec.parse,
        maxBytes: codec.rpc.maxRequestBytes,
        reserve: (bytes) => pipeline.reserveRequest(call, bytes),
      });
      // Protocol errors are ConnectErrors. They have no refusal.
      const fail = (error: unknown) => (error instanceof ConnectError ? sendError(() => error) : failed(error));
      const end = () => {
        bodyEnded = true;
        const request = answered ? undefined : attempt(() => body.end(), fail);
        if (request) received(() => ({ request }));
      };
      // An empty body may have ended during authentication. It then emits no further `end` event.
      if (stream.readableEnded) return end();
      stream.on("data", (chunk: Buffer) => {
        if (!answered) attempt(() => body.append(chunk), fail);
      });
      stream.on("end", end);
    },
    isGone: () => answered || stream.aborted,
    respond(response, admitted) {
      if (isAnswerLost(admitted)) return loseStreamAnswer(stream);
      const framed = frameOf(codec, response);
      if (framed instanceof Promise) return framed.then((it) => send(it, OK));
      return framed instanceof ConnectError ? sendError(() => framed) : send(framed, OK);
    },
    refuse: (refusal) => sendError(() => grpcError(refusal)),
  };
}

function attempt<T>(step: () => T, fail: (error: unknown) => void): T | undefined {
  try {
    return step();
  } catch (error) {
    fail(error);
    return undefined;
  }
}

/**
 * Returns the frame of a response, or Connect's error if the response is too large. Synchronous unless
 * the response is compressed.
 */
function frameOf(codec: UnaryCodec, response: RpcResponse): Buffer | ConnectError | Promise<Buffer> {
  if (response instanceof DocumentResponse) return documentFrame(codec, response);
  const bytes = encode(codec, messageOf(response));
  if (bytes instanceof ConnectError) return bytes;
  return isCompressed(codec, bytes) ? compressedFrame(codec, bytes) : frame(0, bytes);
}

/** Returns the frame of a document. All calls that request the same form share it. */
function documentFrame(codec: UnaryCodec, response: DocumentResponse): Promise<Buffer> {
  return response.form(`gRPC ${codec.compression?.name}`, async () => {
    const bytes = codec.serialize(response.message());
    return isCompressed(codec, bytes) ? compressedFrame(codec, bytes) : frame(0, bytes);
  });
}

type CompressingCodec = UnaryCodec & { readonly compression: Compression };

function isCompressed(codec: UnaryCodec, { length }: Uint8Array): codec is CompressingCodec {
  return codec.compression !== null && length >= CONNECT_OPTIONS.compressMinBytes;
}

async function compressedFrame(codec: CompressingCodec, bytes: Uint8Array): Promise<Buffer> {
  return frame(compressedFlag, await codec.compression.compress(bytes));
}

/** Encodes a response. Returns Connect's error if it is too large. */
function encode(codec: UnaryCodec, message: Message): Uint8Array | ConnectError {
  try {
    return codec.serialize(message);
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}

/** Returns response headers as alternating names and values, which Node sends faster than an object. */
function responseHeaders({ headers, admitted, rateLimit, simulation }: ReceivedCall, codec: UnaryCodec): string[] {
  const fields = [":status", "200", "x-request-id", headers.requestId, "content-type", "application/grpc+proto"];
  if (codec.compression !== null) fields.push("grpc-encoding", codec.compression.name);
  const limits = rateLimitHeaders(rateLimit);
  for (const name in limits) fields.push(name, limits[name]!);
  if (simulation !== undefined) fields.push("simulated", simulation.result);
  if (admitted?.replayed) fields.push("idempotency-replayed", "true");
  return fields;
}

/** Discards the remaining body after an early response, because a stream with unread data never closes. */
function discardRest(stream: ServerHttp2Stream): void {
  stream.resume();
  closeStreamAfterGrace(stream);
}
