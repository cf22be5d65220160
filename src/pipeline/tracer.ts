export interface WorkSpan {
  /** Ends the span. Call it once, with the error if the work failed. */
  end(error?: unknown): void;
}

export interface TracedEvent {
  readonly workspace: number;
  /** Shipment reference or webhook id. */
  readonly subject: string;
  /** Number of the event within its subject, starting at 1. */
  readonly number: number;
}

/** A webhook delivery attempt, for tracing. */
export interface TracedAttempt extends TracedEvent {
  readonly webhook: string;
  readonly eventId: string;
  readonly attempts: number;
  readonly url: string;
}

export interface RequestSpan {
  end(result: AttemptResult): void;
}

interface AttemptResult {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
}

export interface AttemptSpan extends RequestSpan {
  /** Request headers with which the receiver can continue the trace. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Starts the span of an attempt, as a child of the call that caused the event if that call is known. */
export type TraceAttempt = (attempt: TracedAttempt) => AttemptSpan;
