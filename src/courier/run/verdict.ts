import type { Conflict } from "./queue.ts";

/** Response of the service, if any. */
export interface Answer {
  readonly status: number;
  /** Parsed body. `undefined` if it is not JSON, for example from a hotspot's sign-in page. */
  readonly body: (Partial<Conflict> & { readonly data?: unknown }) | undefined;
  readonly retryAfterMs: number | undefined;
}

/** Connection to the service after the last call. */
export type Connection = "online" | "offline" | "signed_out" | "suspended";

/** Meaning of a response to an act. */
type Verdict = "sent" | "conflict" | "retry" | "signed_out" | "suspended";

/**
 * Returns the meaning of a response. Only errors with a code come from the service. Errors of proxies and hotspots have
 * none, and the act is sent again.
 */
export function verdictOf(answer: Answer | undefined): Verdict {
  if (answer === undefined) return "retry";
  const { status, body } = answer;
  if (status < 300) return body?.data === undefined ? "retry" : "sent";
  if (body?.code === undefined) return "retry";
  if (status === 401) return "signed_out";
  if (status === 403) return "suspended";
  if (body.code === "IDEMPOTENCY_KEY_IN_USE") return "retry";
  return status < 500 && status !== 408 && status !== 429 ? "conflict" : "retry";
}

/** Connection state that follows from each verdict. */
export const CONNECTIONS: Readonly<Record<Verdict, Connection>> = {
  sent: "online",
  conflict: "online",
  retry: "offline",
  signed_out: "signed_out",
  suspended: "suspended",
};
