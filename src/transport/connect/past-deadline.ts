import { Code, ConnectError } from "@connectrpc/connect";

/** Whether a call's signal was aborted because its deadline has passed. */
export function isPastDeadline({ reason }: AbortSignal): boolean {
  return reason instanceof ConnectError && reason.code === Code.DeadlineExceeded;
}
