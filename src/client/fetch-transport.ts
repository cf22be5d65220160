import { fromBinary, toBinary, type DescMessage, type DescMethod } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type StreamRequest,
  type Transport,
  type UnaryRequest,
} from "@connectrpc/connect";
import {
  createEnvelopeReadableStream,
  createMethodUrl,
  encodeEnvelope,
  runStreamingCall,
  runUnaryCall,
} from "@connectrpc/connect/protocol";
import {
  endStreamFlag,
  endStreamFromJson,
  errorFromJsonBytes,
  requestHeader,
  trailerDemux,
  validateResponse,
} from "@connectrpc/connect/protocol-connect";

/** Address and credential of the service. */
export interface Endpoint {
  /** URL of the HTTP server, such as `https://shipments.example.org`. */
  readonly url: string;
  /** Secret key of the workspace: `shp_...` in live mode, `shp_test_...` in test mode. */
  readonly key: string;
  /** Sends requests. Defaults to the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

type RequestHeaders = Parameters<Transport["unary"]>[3];

type Send = (request: UnaryRequest | StreamRequest, body: Uint8Array) => Promise<Response>;

/**
 * Creates a transport for the Connect protocol over `fetch`, with binary messages.
 * `@connectrpc/connect-web` does the same but adds 14 kB (gzip) for JSON messages. This transport uses
 * parts of Connect that do not follow semantic versioning, so `package.json` pins the version.
 *
 * A `timeoutMs` of 0 means no timeout.
 */
export function createFetchTransport({ url, key, fetch = globalThis.fetch }: Endpoint): Transport {
  const authorization = `Bearer ${key.trim()}`;
  const send: Send = async ({ url: to, header, signal }, bytes) => {
    const body = bytes as Uint8Array<ArrayBuffer>;
    // Cloudflare Workers do not support "error". The caller refuses any status except 200.
    const redirect = "manual";
    const init = { method: "POST", headers: header, signal, body, redirect } as const;
    const response = await fetch(to, init).catch(throwBroken);
    if (response.type === "opaqueredirect") throw new ConnectError("HTTP redirect");
    return response;
  };

  function requestTo(method: DescMethod, timeoutMs: number | undefined, headers: RequestHeaders) {
    const to = createMethodUrl(url, method);
    assertSendable(to, authorization);
    // The service refuses fractions, such as the time left until a deadline.
    const wholeMs = timeoutMs && Math.ceil(timeoutMs);
    const header = requestHeader(method.methodKind, true, wholeMs, headers, false);
    header.set("authorization", authorization);
    return {
      service: method.parent,
      requestMethod: "POST",
      url: to,
      header,
      contextValues: createContextValues(),
    };
  }

  return {
    unary(method, signal, limitMs, header, message) {
      const timeoutMs = limitMs || undefined;
      const req = {
        stream: false,
        method,
        message,
        ...requestTo(method, timeoutMs, header),
      } as const;
      return runUnaryCall({
        signal,
        timeoutMs,
        req,
        next: async (request) => ({ ...request, ...(await callUnary(request, send)) }),
      });
    },
    stream(method, signal, limitMs, header, message) {
      const timeoutMs = limitMs || undefined;
      const req = {
        stream: true,
        method,
        message,
        ...requestTo(method, timeoutMs, header),
      } as const;
      return runStreamingCall({
        signal,
        timeoutMs,
        req,
        next: async (request) => ({ ...request, ...(await openStream(request, send)) }),
      });
    },
  };
}

async function callUnary<I extends DescMessage, O extends DescMessage>(request: UnaryRequest<I, O>, send: Send) {
  const { input, output } = request.method;
  const response = await send(request, toBinary(input, request.message));
  const { status, headers } = response;
  const { isUnaryError, unaryError } = validateResponse("unary", true, status, headers);
  const bytes = new Uint8Array(await response.arrayBuffer().catch(throwBroken));
  if (isUnaryError) throw errorFromJsonBytes(bytes, headers, unaryError);
  const [header, trailer] = trailerDemux(headers);
  try {
    return { header, trailer, message: fromBinary(output, bytes) };
  } catch (cause) {
    // The response was damaged in transit, because the service always encodes valid messages.
    throw new ConnectError("damaged response", Code.Unavailable, headers, undefined, cause);
  }
}

async function openStream<I extends DescMessage, O extends DescMessage>(request: StreamRequest<I, O>, send: Send) {
  const { input, output, methodKind } = request.method;
  const { value } = await request.message[Symbol.asyncIterator]().next();
  const response = await send(request, encodeEnvelope(0, toBinary(input, value)));
  const { status, headers, body } = response;
  validateResponse(methodKind, true, status, headers);
  const message = readMessages(body!, headers, (data) => fromBinary(output, data));
  return { header: headers, trailer: new Headers(), message };
}

/**
 * Rejects a URL or key that `fetch` cannot send, because the failure would look like a broken connection.
 *
 * @throws TypeError that contains neither the key nor the URL, which can contain a password, because
 *   errors are logged
 */
function assertSendable(url: string, authorization: string): void {
  if (!/^[\x20-\x7e]+$/.test(authorization)) {
    throw new TypeError("key must not contain line breaks or characters outside ASCII");
  }
  let sent: string | undefined;
  try {
    sent = new Request(url).url;
  } catch {
    // The text is not a URL, or the URL contains a user name and password.
  }
  if (!/^https?:/.test(sent ?? "")) {
    throw new TypeError("url must be an http or https URL without a user name and a password");
  }
}

/** Converts a connection error to an error with the code that Connect uses for a proxy without a backend. */
function throwBroken(cause: unknown): never {
  throw ConnectError.from(cause, Code.Unavailable);
}

/**
 * Yields the messages of a stream.
 *
 * @throws ConnectError from the stream, or if the stream ends without an end message
 */
async function* readMessages<M>(
  body: ReadableStream<Uint8Array>,
  headers: Headers,
  parse: (data: Uint8Array) => M,
): AsyncGenerator<M> {
  const envelopes = createEnvelopeReadableStream(body).getReader();
  for (;;) {
    const { done, value } = await envelopes.read().catch(throwBroken);
    if (done) throwBroken("the stream broke");
    if ((value.flags & endStreamFlag) === 0) {
      yield parse(value.data);
      continue;
    }
    const { error } = endStreamFromJson(value.data);
    if (error === undefined) return;
    headers.forEach((text, name) => error.metadata.append(name, text));
    throw error;
  }
}
