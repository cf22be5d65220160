import type { SendResult } from "./send-webhook.ts";

/** An attempt at a delivery, as a trace tells of it. */
export interface TracedAttempt {
  readonly workspace: number;
  readonly webhook: string;
  /** The public id of the event. */
  readonly eventId: string;
  /** What the event is about: a shipment's reference, or a webhook's id. */
  readonly subject: string;
  /** From 1 within the subject. */
  readonly number: number;
  /** How many attempts came before this one. */
  readonly attempts: number;
  readonly url: string;
}

/** The span of an attempt. */
export interface AttemptSpan {
  /** What the request carries, so that its receiver can go on with the trace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the span. Call once. */
  end(result: SendResult): void;
}

/** Begins the span of an attempt. */
export type TraceAttempt = (attempt: TracedAttempt) => AttemptSpan;
