import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { readCallHeaders, type CallHeaders } from "./call-headers.ts";
import type { Call } from "./caller.ts";
import type { Corridor } from "./corridor.ts";
import { frame } from "./frame.ts";
import type { Exchange, Observer } from "./observe.ts";
import { createPlainCallReader, type PlainCall } from "./plain-call.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { refusalToError } from "./refusal-to-error.ts";
import type { Rpc } from "./rpc.ts";
import { readUnaryBody } from "./unary-body.ts";
import { IDLE_STREAM_MS, LEAVE_OFF_MS, WIRE } from "./wire.ts";

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
  /** Names and values in turn, which Node sends faster than an object. */
  readonly answerHeaders: string[];
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
export function createUnaryGrpc(options: {
  readonly rpcs: readonly Rpc[];
  readonly corridor: Corridor;
  readonly observer: Observer;
}): TakeStream {
  const { corridor, observer } = options;
  const readPlainCall = createPlainCallReader(options.rpcs);

  function begin(stream: ServerHttp2Stream, plain: PlainCall, headers: CallHeaders): UnaryCall {
    const exchange = observer.begin(headers.requestId);
    exchange.rpc = plain.rpc.name;
    stream.setTimeout(IDLE_STREAM_MS, () => stream.close());
    // A broken stream ends by itself; without a listener it would end the process.
    stream.on("error", () => undefined);
    stream.on("close", () => observer.end(exchange, stream.headersSent ? 200 : 0));
    const answerHeaders = beginHeaders(headers.requestId, plain);
    return { stream, plain, headers, exchange, answerHeaders, bodyEnded: false, answered: false };
  }

  function receive(unary: UnaryCall, call: Call): void {
    const { stream, plain, exchange, answerHeaders } = unary;
    exchange.workspaceId = call.caller.workspaceId;
    const limits = rateLimitHeaders(call.rateLimit);
    answerHeaders.push("ratelimit-policy", limits["ratelimit-policy"]);
    answerHeaders.push("ratelimit", limits.ratelimit);
    const body = readUnaryBody(plain.parse);
    stream.on("data", (piece: Buffer) => {
      if (!unary.answered) orRefuse(unary, () => body.take(piece));
    });
    stream.on("end", () => {
      unary.bodyEnded = true;
      if (unary.answered || stream.aborted) return;
      orRefuse(unary, () =>
        then(corridor.perform(plain.rpc, body.end(), call), (message) =>
          respond(unary, call, message),
        ),
      );
    });
  }

  /** Takes a step of a call; what it throws, or rejects with, is the answer. */
  function orRefuse(unary: UnaryCall, step: () => void | Promise<void>): void {
    try {
      step()?.catch((error: unknown) => refuse(unary, error));
    } catch (error) {
      refuse(unary, error);
    }
  }

  function refuse(unary: UnaryCall, error: unknown): void {
    const { stream, headers, exchange } = unary;
    // Nothing more can be said where an answer could not be sent.
    if (unary.answered) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    const refused =
      error instanceof ConnectError
        ? error
        : refusalToError(corridor.refusalFor(error, headers.requestId));
    exchange.code = refused.code;
    send(unary, undefined, Object.fromEntries(setTrailerStatus(new Headers(), refused)));
  }

  return (stream, headers, rawHeaders) => {
    const plain = readPlainCall(headers);
    if (plain === undefined) return false;
    const unary = begin(stream, plain, withTimeout(readCallHeaders(rawHeaders), plain.timeoutMs));
    orRefuse(unary, () =>
      then(corridor.admit(plain.rpc, unary.headers), (call) => receive(unary, call)),
    );
    return true;
  };
}

function beginHeaders(requestId: string, { compression }: PlainCall): string[] {
  const headers = [":status", "200", "x-request-id", requestId];
  headers.push("content-type", "application/grpc+proto");
  if (compression !== null) headers.push("grpc-encoding", compression.name);
  return headers;
}

/** Of the timeouts a caller may send, gRPC's own is the one that counts. */
function withTimeout(headers: CallHeaders, timeoutMs: number | undefined): CallHeaders {
  return headers.timeoutMs === timeoutMs ? headers : { ...headers, timeoutMs };
}

/** Goes on at once where there is nothing to wait for: a promise costs more than most steps. */
function then<T, U>(value: T | Promise<T>, step: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(step) : step(value);
}

function respond(unary: UnaryCall, call: Call, message: Message): void | Promise<void> {
  const { plain, exchange, answerHeaders } = unary;
  exchange.code = 0;
  if (call.replayed) answerHeaders.push("idempotency-replayed", "true");
  const bytes = plain.serialize(message);
  if (plain.compression === null || bytes.length < WIRE.compressMinBytes) {
    return send(unary, frame(0, bytes), OK);
  }
  return plain.compression
    .compress(bytes)
    .then((compressed) => send(unary, frame(compressedFlag, compressed), OK));
}

function send(unary: UnaryCall, message: Buffer | undefined, trailers: Trailers): void {
  const { stream, answerHeaders, bodyEnded } = unary;
  unary.answered = true;
  if (stream.closed || stream.destroyed) return;
  if (!bodyEnded) stream.once("finish", () => leaveOff(stream));
  stream.respond(answerHeaders, WITH_TRAILERS);
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(message);
}

/**
 * Throws away what is left of the body of a call that was answered early, since a stream with unread
 * data never closes, and soon closes the stream of a caller that stops in the middle.
 */
function leaveOff(stream: ServerHttp2Stream): void {
  stream.resume();
  const cut = setTimeout(() => stream.close(), LEAVE_OFF_MS);
  stream.once("close", () => clearTimeout(cut));
}
