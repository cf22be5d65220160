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

/** Returns the context of a call: in its caller's trace, or empty. */
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

/** Returns the context of a span's children. `undefined` for no parent. */
export function contextBelow(parent: SpanContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

/** Returns the headers with which another service continues a span's trace (W3C Trace Context, section 3). */
export function traceHeaders(span: Span): Record<string, string> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, "0");
  const state = traceState?.serialize() ?? "";
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state === "" ? {} : { tracestate: state }),
  };
}

/** Converts a time of `performance.now()` to the time of day in seconds and nanoseconds. */
export type TimeOfDay = (ms: number) => HrTime;

/** Interval of comparing the two clocks, in milliseconds, because one is adjusted at run time. */
const COMPARE_MS = 60_000;

/**
 * Creates the conversion, shared by all spans of a process. Separate comparisons, with one clock in
 * whole milliseconds, could make spans appear to start before their parents.
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

/** Maximum number of remembered events, about half a KiB each. */
const MAX_EVENTS = 10_000;

export type EventCauses = ReturnType<typeof createEventCauses>;

/**
 * Remembers which calls caused events, so that webhook attempts can join their traces. Not stored in the database:
 * most first attempts follow within a second in the same process. Others start a new trace that names the event.
 */
export function createEventCauses() {
  const causes = new LRUCache<string, SpanContext>({ max: MAX_EVENTS });
  return {
    set: (event: TracedEvent, call: SpanContext) => void causes.set(keyOf(event), call),
    /** `undefined` for events of other processes and old events. */
    get: (event: TracedEvent) => causes.get(keyOf(event)),
  };
}

function keyOf({ workspace, subject, number }: TracedEvent): string {
  return `${workspace} ${subject} ${number}`;
}
