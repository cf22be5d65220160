import type { ReceivedCall } from "./call.ts";

/** Traces calls; there is none while tracing is off. */
export interface Tracer {
  /** Begins the span of a call, in the trace that its caller names, if it names one. */
  begin(call: ReceivedCall): CallSpan;
}

/** The span of one call. */
export interface CallSpan {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** Whether the trace is sampled. What is not recorded costs a call next to nothing. */
  readonly isRecorded: boolean;
  /**
   * Says that the call is a plain HTTP request; without this it is an RPC.
   *
   * @param path without the query
   * @param route the template that the path follows; undefined when it leads nowhere
   */
  setHttpRequest(method: string, path: string, route: string | undefined): void;
  /**
   * Begins a database transaction that is done for this call.
   *
   * @param others the spans of the other calls that it is done for
   */
  beginTransaction(others: readonly CallSpan[]): WorkSpan;
  /** Says that the call is why an event is delivered, so that the attempts join its trace. */
  setCauseOf(event: TracedEvent): void;
  /**
   * Ends the span. Call once, when the record of the call is complete.
   *
   * @param httpStatus 0 when there was no answer
   * @param endedMs on the clock of `performance.now()`
   */
  end(call: ReceivedCall, httpStatus: number, endedMs: number): void;
}

/** The span of a piece of work. */
export interface WorkSpan {
  /** Ends the span. Call once; with the error that the work failed with, if it failed. */
  end(error?: unknown): void;
}

/** What tells an event from all others. */
export interface TracedEvent {
  readonly workspace: number;
  /** The shipment's reference, or the webhook's id. */
  readonly subject: string;
  /** From 1 within the subject. */
  readonly number: number;
}

/** An attempt at delivering an event to a webhook, as a trace tells of it. */
export interface TracedAttempt extends TracedEvent {
  readonly webhook: string;
  /** The public id of the event. */
  readonly eventId: string;
  /** How many attempts came before this one. */
  readonly attempts: number;
  readonly url: string;
}

/** What came of an attempt: a status, or why there was none. */
export interface AttemptResult {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
}

/** The span of an attempt. */
export interface AttemptSpan {
  /** What the request carries, so that its receiver can go on with the trace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the span. Call once. */
  end(result: AttemptResult): void;
}

/** Begins the span of an attempt, below the call that caused the event if that is known. */
export type TraceAttempt = (attempt: TracedAttempt) => AttemptSpan;
