import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { makeAnyClient, type Transport } from "@connectrpc/connect";
import { isPaged, toPages, type Answer } from "./pages.ts";
import { IDEMPOTENCY_KEY } from "./retry-calls.ts";
import { ShipmentsError } from "./shipments-error.ts";
import { MAX_TIMER_MS } from "./wait.ts";

export interface CallOptions {
  /** Aborts the call, with the code `Canceled`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Timeout of the call including retries, in milliseconds. 0 or more than 24 days means no timeout. Default: 30,000,
   * and 0 for streams.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Idempotency key of a call that writes: 1 to 255 visible characters. By default, a key is generated. To retry the
   * call even after a restart, store the key with your order.
   */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  readonly onHeader?: ((headers: Headers) => void) | undefined;
}

/** The RPCs of a service. Each returns a promise of the response, pages of a list, or a stream of messages. */
export type Calls<S extends DescService> = {
  readonly [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options?: CallOptions) => Answer<O>
    : S["method"][K] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageInitShape<I>, options?: CallOptions) => AsyncGenerator<MessageShape<O>>
      : never;
};

/** Creates the calls of a service over a transport. Calls throw only `ShipmentsError`. */
export function createCalls<S extends DescService>(service: S, transport: Transport): Calls<S> {
  return makeAnyClient(service, (method) => {
    if (method.methodKind === "unary") return unaryCall(method, transport);
    if (method.methodKind === "server_streaming") return streamCall(method, transport);
    return null;
  }) as Calls<S>;
}

type Fields = Record<string, unknown>;

function unaryCall(method: DescMethodUnary, transport: Transport) {
  const call = async (request: Fields, options: CallOptions = {}) => {
    const { signal, onHeader } = options;
    const send = async () => transport.unary(method, signal, timeoutOf(options), headersOf(options), request);
    const response = await send().catch(throwShipmentsError);
    onHeader?.(response.header);
    return response.message;
  };
  if (!isPaged(method.output)) return call;
  return (request: Fields, options?: CallOptions) => {
    const load = (more: Fields) => call({ ...request, ...more }, options) as Promise<never>;
    return toPages(load({}), (pageToken) => load({ pageToken }));
  };
}

function streamCall(method: DescMethodServerStreaming, transport: Transport) {
  return async function* (request: Fields, options: CallOptions = {}) {
    const { signal, onHeader } = options;
    // Aborts the stream when the caller stops reading.
    const reader = new AbortController();
    const ends = signal === undefined ? reader.signal : AbortSignal.any([signal, reader.signal]);
    try {
      const one = (async function* () {
        yield request;
      })();
      const timeoutMs = timeoutOf(options) ?? 0;
      const response = await transport.stream(method, ends, timeoutMs, headersOf(options), one);
      onHeader?.(response.header);
      yield* response.message;
    } catch (thrown) {
      throwShipmentsError(thrown);
    } finally {
      reader.abort();
    }
  };
}

function timeoutOf({ timeoutMs }: CallOptions): number | undefined {
  return timeoutMs! > MAX_TIMER_MS ? 0 : timeoutMs;
}

function headersOf({ headers, idempotencyKey }: CallOptions): Headers {
  const all = new Headers(headers);
  if (idempotencyKey !== undefined) all.set(IDEMPOTENCY_KEY, idempotencyKey);
  return all;
}

function throwShipmentsError(thrown: unknown): never {
  throw ShipmentsError.from(thrown);
}
