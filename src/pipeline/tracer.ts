export interface WorkSpan {
  /** Ends the span. Call once; with the error that the work failed with, if it failed. */
  end(error?: unknown): void;
}

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
  readonly eventId: string;
  readonly attempts: number;
  readonly url: string;
}

export interface RequestSpan {
  end(result: AttemptResult): void;
}

export interface AttemptResult {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
}

export interface AttemptSpan extends RequestSpan {
  /** What the request carries, so that its receiver can go on with the trace. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Begins the span of an attempt, below the call that caused the event if that is known. */
export type TraceAttempt = (attempt: TracedAttempt) => AttemptSpan;
