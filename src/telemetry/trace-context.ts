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

/** The time of day at an instant on the clock of `performance.now()`, in seconds and nanoseconds. */
export type TimeOfDay = (ms: number) => HrTime;

/** How often the two clocks are compared, in milliseconds; one is corrected while the process runs. */
const COMPARE_MS = 60_000;

/**
 * Builds the conversion. All spans of a process share it, since spans that each compared the clocks,
 * of which one counts whole milliseconds, could seem to begin before their parents.
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

/** How many events are remembered; each takes about half a KiB. */
const MAX_EVENTS = 10_000;

export type EventCauses = ReturnType<typeof createEventCauses>;

/**
 * Remembers which calls caused events, so that webhook attempts can join their traces. It is not stored with events: most first attempts follow within a
 * second, by the process that answered the call if there is but one, and others begin a trace of their
 * own, which names the event.
 */
export function createEventCauses() {
  const causes = new LRUCache<string, SpanContext>({ max: MAX_EVENTS });
  return {
    set: (event: TracedEvent, call: SpanContext) => void causes.set(keyOf(event), call),
    /** Undefined for an event of another process, or one of long ago. */
    get: (event: TracedEvent) => causes.get(keyOf(event)),
  };
}

function keyOf({ workspace, subject, number }: TracedEvent): string {
  return `${workspace} ${subject} ${number}`;
}
