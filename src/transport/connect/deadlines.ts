import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { parseTimeout as parseConnect } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpc } from "@connectrpc/connect/protocol-grpc";
import { MAX_TIMER_MS } from "../../pipeline/stages/deadline.ts";

const TIMEOUTS = [
  ["grpc-timeout", parseGrpc],
  ["connect-timeout-ms", parseConnect],
] as const;

/**
 * Removes timeouts that exceed the range of timers from a request's headers, because Connect's timer would fire
 * immediately. Malformed timeouts are kept, and refused later.
 */
export function dropTimeoutBeyondTimers(header: Headers): void {
  for (const [name, parse] of TIMEOUTS) {
    // `timeoutMs` is undefined if the header is absent or malformed, and set if it is out of range.
    const { timeoutMs = 0 } = parse(header.get(name), MAX_TIMER_MS);
    if (timeoutMs > MAX_TIMER_MS) header.delete(name);
  }
}

export function isPastDeadline({ reason }: AbortSignal): boolean {
  return reason instanceof ConnectError && reason.code === Code.DeadlineExceeded;
}

/** Grammar of `Timeout` in the gRPC protocol over HTTP/2. */
const GRPC = {
  name: "grpc-timeout",
  form: /^\d{1,8}[HMSmun]$/,
  words: "1 to 8 digits and a unit, one of H, M, S, m, u and n",
};

/** Grammar of `Timeout` in the Connect protocol. */
const CONNECT = { name: "connect-timeout-ms", form: /^\d{1,10}$/, words: "1 to 10 digits" };

/** Returns the refusal of a call with a malformed timeout. `undefined` if the timeout is valid. */
export function malformedTimeoutError({
  protocolName,
  requestHeader,
}: Pick<HandlerContext, "protocolName" | "requestHeader">): Refusal | undefined {
  const { name, form, words } = protocolName === "connect" ? CONNECT : GRPC;
  const value = requestHeader.get(name);
  return value === null || form.test(value) ? undefined : timeoutError(name, words);
}

/** Returns the refusal of a call to `/v1` with a malformed timeout. The header is the same as Connect's. */
export function malformedConnectTimeoutError(): Refusal {
  return timeoutError(CONNECT.name, CONNECT.words);
}

function timeoutError(name: string, words: string): Refusal {
  return refuse("FIELD_INVALID", `${name} must be ${words}.`, {
    subject: name.replaceAll("-", "_"),
  });
}
