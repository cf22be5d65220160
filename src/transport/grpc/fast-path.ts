import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Pipeline } from "../../pipeline/pipeline.ts";
import { frame } from "./frame.ts";
import { closeStreamAfterGrace } from "../connect/close-stream-after-grace.ts";
import type { Exchange, Observer } from "../../pipeline/observe.ts";
import { createUnaryHeadersReader, type PlainCall } from "./unary-headers.ts";
import { rateLimitHeaders } from "../../pipeline/rate-limit-headers.ts";
import { connectError } from "../connect/connect-error.ts";
import type { Rpc } from "../../pipeline/rpc.ts";
import type { TickBatcher } from "../../pipeline/tick-batcher.ts";
import { readUnaryBody, type UnaryBody } from "./unary-body.ts";
import { whenResolved } from "../../pipeline/when-resolved.ts";
import { IDLE_STREAM_MS, WIRE } from "../connect/wire.ts";

/**
 * Serves the call that a new HTTP/2 stream brings, or returns false and leaves the stream alone.
 * `rawHeaders` are all its headers, names and values in turn.
 */
export type TakeStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => boolean;

/** One call, from its headers to its answer. */
interface UnaryCall {
  readonly stream: ServerHttp2Stream;
  readonly plain: PlainCall;
  readonly headers: CallHeaders;
  readonly exchange: Exchange;
  /** Set once the caller is known and may call. */
  call: Call | undefined;
  /** Whether the caller has sent all that it will. */
  bodyEnded: boolean;
  answered: boolean;
}

type Trailers = Readonly<Record<string, string>>;

const WITH_TRAILERS = { waitForTrailers: true };
const OK: Trailers = { "grpc-status": "0" };

/**
 * Serves plain unary gRPC calls straight on their HTTP/2 streams, with the answers that Connect
 * gives, but at the cost of a few events: its handlers make signals, `Headers` and a pipeline of
 * async iterables for each call. Serves nothing else.
 */
export function createGrpcFastPath(options: {
  readonly rpcs: readonly Rpc[];
  readonly pipeline: Pipeline;
  readonly observer: Observer;
  readonly tickBatcher: TickBatcher;
}): TakeStream {
  const { pipeline, observer, tickBatcher } = options;
  const readPlainCall = createUnaryHeadersReader(options.rpcs);

  function begin(stream: ServerHttp2Stream, plain: PlainCall, headers: CallHeaders): UnaryCall {
    const exchange = observer.begin(headers.requestId);
    exchange.rpc = plain.rpc.name;
    stream.setTimeout(IDLE_STREAM_MS, () => stream.close(constants.NGHTTP2_CANCEL));
    // A broken stream ends by itself; without a listener it would end the process.
    stream.on("error", ignore);
    stream.on("close", () => observer.end(exchange, stream.headersSent ? 200 : 0));
    const call = undefined;
    return { stream, plain, headers, exchange, call, bodyEnded: false, answered: false };
  }

  function receive(unary: UnaryCall, call: Call): void {
    const { stream, plain, exchange } = unary;
    unary.call = call;
    exchange.workspaceId = call.caller.workspaceId;
    const body = readUnaryBody(plain.parse);
    stream.on("data", (piece: Buffer) => {
      if (!unary.answered) orRefuse(unary, () => body.take(piece));
    });
    stream.on("end", () => {
      unary.bodyEnded = true;
      tickBatcher.perform(() => perform(unary, call, body));
    });
  }

  function perform(unary: UnaryCall, call: Call, body: UnaryBody): void {
    const { stream, plain } = unary;
    if (unary.answered || stream.aborted) return;
    orRefuse(unary, () =>
      whenResolved(pipeline.perform(plain.rpc, body.end(), call), (message) =>
        respond(unary, message),
      ),
    );
  }

  /** Takes a step of a call; what it throws, or rejects with, is the answer. */
  function orRefuse(unary: UnaryCall, step: () => void | Promise<void>): void {
    try {
      step()?.catch((error: unknown) => refuse(unary, error));
    } catch (error) {
      refuse(unary, error);
    }
  }

  /** Never throws: nobody would be there to catch it, and the process would end. */
  function refuse(unary: UnaryCall, error: unknown): void {
    const { stream, headers, exchange } = unary;
    // Nothing more can be said where an answer could not be sent.
    if (unary.answered) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    const refused =
      error instanceof ConnectError
        ? error
        : connectError(pipeline.refusalFor(error, headers.requestId));
    exchange.code = refused.code;
    try {
      send(unary, undefined, Object.fromEntries(setTrailerStatus(new Headers(), refused)));
    } catch (defect) {
      pipeline.refusalFor(defect, headers.requestId);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }

  return (stream, headers, rawHeaders) => {
    const plain = readPlainCall(headers);
    if (plain === undefined) return false;
    const unary = begin(stream, plain, withTimeout(readCallHeaders(rawHeaders), plain.timeoutMs));
    orRefuse(unary, () =>
      whenResolved(pipeline.admit(plain.rpc, unary.headers), (call) => receive(unary, call)),
    );
    return true;
  };
}

/** Of the timeouts a caller may send, gRPC's own is the one that counts. */
function withTimeout(headers: CallHeaders, timeoutMs: number | undefined): CallHeaders {
  return headers.timeoutMs === timeoutMs ? headers : { ...headers, timeoutMs };
}

function respond(unary: UnaryCall, message: Message): void | Promise<void> {
  const { plain, exchange } = unary;
  exchange.code = 0;
  const bytes = plain.serialize(message);
  if (plain.compression === null || bytes.length < WIRE.compressMinBytes) {
    return send(unary, frame(0, bytes), OK);
  }
  return plain.compression
    .compress(bytes)
    .then((compressed) => send(unary, frame(compressedFlag, compressed), OK));
}

function send(unary: UnaryCall, message: Buffer | undefined, trailers: Trailers): void {
  const { stream, bodyEnded } = unary;
  unary.answered = true;
  if (stream.closed || stream.destroyed) return;
  if (!bodyEnded) stream.once("finish", () => leaveOff(stream));
  stream.respond(answerHeaders(unary), WITH_TRAILERS);
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(message);
}

/** Names and values in turn, which Node sends faster than an object. */
function answerHeaders({ headers, plain, call }: UnaryCall): string[] {
  const fields = [
    ":status",
    "200",
    "x-request-id",
    headers.requestId,
    "content-type",
    "application/grpc+proto",
  ];
  if (plain.compression !== null) fields.push("grpc-encoding", plain.compression.name);
  if (call === undefined) return fields;
  const limits = rateLimitHeaders(call.rateLimit);
  fields.push("ratelimit-policy", limits["ratelimit-policy"], "ratelimit", limits.ratelimit);
  if (call.replayed) fields.push("idempotency-replayed", "true");
  return fields;
}

/**
 * Throws away what is left of the body of a call that was answered early, since a stream with unread
 * data never closes, and soon closes the stream of a caller that stops in the middle.
 */
function leaveOff(stream: ServerHttp2Stream): void {
  stream.resume();
  closeStreamAfterGrace(stream);
}

function ignore(): void {}
