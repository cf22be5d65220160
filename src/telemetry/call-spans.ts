import { SpanKind, SpanStatusCode, type Span, type SpanContext, type Tracer as OtelTracer } from "@opentelemetry/api";
import type { ClientAddress } from "../pipeline/client-address.ts";
import type { CallSpan, ReceivedCall, Tracer } from "../pipeline/call.ts";
import type { RequestSpan, TracedEvent, WorkSpan } from "../pipeline/tracer.ts";
import type { StartRequest } from "./attempt-spans.ts";
import { describeHttpCall, describeRpcCall, type HttpRequest } from "./call-attributes.ts";
import { contextOf, type EventCauses, type TimeOfDay } from "./trace-context.ts";
import type { BeginTransaction } from "./transaction-spans.ts";

export interface CallSpanDeps {
  readonly otel: OtelTracer;
  readonly timeOfDay: TimeOfDay;
  readonly beginTransaction: BeginTransaction;
  readonly startRequest: StartRequest;
  readonly causes: EventCauses;
  readonly clientAddress: ClientAddress;
}

export function createCallTracer(deps: CallSpanDeps): Tracer {
  return {
    begin({ headers, peer, startedMs }) {
      const options = { kind: SpanKind.SERVER, startTime: deps.timeOfDay(startedMs) };
      // The span is renamed at its end, when the method is known.
      const span = deps.otel.startSpan("call", options, contextOf(headers));
      // The address is read now, because a closed connection has none.
      return new TracedCall(span, peer.remoteAddress, deps);
    },
  };
}

class TracedCall implements CallSpan {
  readonly span: Span;
  readonly context: SpanContext;
  readonly isRecorded: boolean;
  readonly #peerAddress: string | undefined;
  readonly #deps: CallSpanDeps;
  #http: HttpRequest | undefined;

  constructor(span: Span, peerAddress: string | undefined, deps: CallSpanDeps) {
    this.span = span;
    this.context = span.spanContext();
    this.isRecorded = span.isRecording();
    this.#peerAddress = peerAddress;
    this.#deps = deps;
  }

  get traceId(): string {
    return this.context.traceId;
  }

  setHttpRequest(method: string, path: string, route: string | undefined): void {
    this.#http = { method, path, route };
  }

  beginTransaction(others: readonly CallSpan[]): WorkSpan {
    const spans = (others as readonly TracedCall[]).map(({ span }) => span);
    return this.#deps.beginTransaction(this.span, spans);
  }

  beginRequest(method: string, url: string): RequestSpan {
    return this.#deps.startRequest(method, url, this.context);
  }

  setCauseOf(event: TracedEvent): void {
    this.#deps.causes.set(event, this.context);
  }

  end(call: ReceivedCall, httpStatus: number, endedMs: number): void {
    if (this.isRecorded) this.#describe(call, httpStatus);
    this.span.end(this.#deps.timeOfDay(endedMs));
  }

  #describe(call: ReceivedCall, httpStatus: number): void {
    const { name, attributes, isFailure } =
      this.#http === undefined ? describeRpcCall(call) : describeHttpCall(call, this.#http, httpStatus);
    this.span.updateName(name).setAttributes(attributes);
    if (this.#peerAddress) this.span.setAttribute("network.peer.address", this.#peerAddress);
    if (this.#peerAddress && this.#http !== undefined) {
      const address = this.#deps.clientAddress(this.#peerAddress, call.headers.forwardedFor);
      this.span.setAttribute("client.address", address);
    }
    if (isFailure) this.span.setStatus({ code: SpanStatusCode.ERROR });
  }
}
