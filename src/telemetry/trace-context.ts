import {
  createTraceState,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanContext,
  type HrTime,
} from "@opentelemetry/api";
import { readTraceparent, type CallHeaders } from "../pipeline/call-headers.ts";
import { LRUCache } from "lru-cache";
import type { TracedEvent } from "../pipeline/tracer.ts";

/** Returns the context of a call. It contains the caller's trace, or is empty. */
export function contextOf({ traceparent, tracestate }: Pick<CallHeaders, "traceparent" | "tracestate">): Context {
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

/** Returns the context for children of a span. Without a parent, returns the root context. */
export function contextBelow(parent: SpanContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

/** Returns the headers that let another service continue a span's trace (W3C Trace Context, section 3). */
export function traceHeaders(span: Span): Record<string, string> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, "0");
  const state = traceState?.serialize() ?? "";
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state === "" ? {} : { tracestate: state }),
  };
}

/** Converts a time on the clock of `performance.now()` to the time of day, in seconds and nanoseconds. */
export type TimeOfDay = (ms: number) => HrTime;

/**
 * Interval between comparisons of the two clocks, in milliseconds. Comparisons are repeated because the
 * system clock is adjusted at run time.
 */
const COMPARE_MS = 60_000;

/**
 * Creates the conversion that all spans of a process share. With separate comparisons, spans could seem
 * to start before their parents, because one clock is in whole milliseconds.
 */
export function createTimeOfDay(): TimeOfDay {
  let comparedMs = -Infinity;
  let offsetMs = 0;
  return (ms) => {
    const nowMs = performance.now();
    if (nowMs - comparedMs > COMPARE_MS) {
      comparedMs = nowMs;
      offsetMs = Date.now() - nowMs;
    }
    const epochMs = ms + offsetMs;
    const seconds = Math.floor(epochMs / 1_000);
    return [seconds, Math.floor((epochMs - seconds * 1_000) * 1_000_000)];
  };
}

/** Maximum number of cached events, about half a KiB each. */
const MAX_EVENTS = 10_000;

export type EventCauses = ReturnType<typeof createEventCauses>;

/**
 * Caches the calls that caused events, so that webhook attempts can join their traces. The cache is not in the
 * database, because most first attempts follow within a second in the same process. Other attempts start a new trace
 * that contains the event id.
 */
export function createEventCauses() {
  const causes = new LRUCache<string, SpanContext>({ max: MAX_EVENTS });
  return {
    set: (event: TracedEvent, call: SpanContext) => void causes.set(keyOf(event), call),
    /** Returns the span that caused an event. `undefined` for old events and those from other processes. */
    get: (event: TracedEvent) => causes.get(keyOf(event)),
  };
}

function keyOf({ workspace, subject, number }: TracedEvent): string {
  return `${workspace} ${subject} ${number}`;
}
