import type { SpanContext } from "@opentelemetry/api";
import { LRUCache } from "lru-cache";
import type { TracedEvent } from "../pipeline/tracer.ts";

/** Remembers which calls caused events, so that webhook attempts can join their traces. */
export interface EventCauses {
  set(event: TracedEvent, call: SpanContext): void;
  /** Undefined for an event of another process, or one of long ago. */
  get(event: TracedEvent): SpanContext | undefined;
}

/** How many events are remembered; each takes about half a KiB. */
const MAX_EVENTS = 10_000;

/**
 * Builds the memory of one process. It is not stored with events: most first attempts follow within a
 * second, by the process that answered the call if there is but one, and others begin a trace of their
 * own, which names the event.
 */
export function createEventCauses(): EventCauses {
  const causes = new LRUCache<string, SpanContext>({ max: MAX_EVENTS });
  return {
    set: (event, call) => void causes.set(keyOf(event), call),
    get: (event) => causes.get(keyOf(event)),
  };
}

function keyOf({ workspace, subject, number }: TracedEvent): string {
  return `${workspace} ${subject} ${number}`;
}
