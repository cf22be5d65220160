import {
  createTraceState,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanContext,
} from "@opentelemetry/api";
import { readTraceparent, type CallHeaders } from "../pipeline/call-headers.ts";

/** The context of a call: in its caller's trace, or, when none is named, in none. */
export function contextOf({
  traceparent,
  tracestate,
}: Pick<CallHeaders, "traceparent" | "tracestate">): Context {
  const parent = traceparent === undefined ? undefined : readTraceparent(traceparent);
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  return contextBelow({
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  });
}

/** The context of a span's children; undefined stands for no span. */
export function contextBelow(parent: SpanContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

/** The headers that let another service go on with a span's trace (W3C Trace Context, section 3). */
export function traceHeaders(span: Span): Record<string, string> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, "0");
  const state = traceState?.serialize() ?? "";
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state === "" ? {} : { tracestate: state }),
  };
}
