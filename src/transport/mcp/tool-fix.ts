import { REASONS } from "../../domain/refusal-reasons.ts";
import type { Refusal, RefusalReason } from "../../domain/refusal.ts";

const ASK_ADMIN = "Ask an admin of the workspace";

/** Remedies for agents, used if the usual remedy is only for programs or people. */
const FOR_AGENTS: Readonly<Partial<Record<RefusalReason, string>>> = {
  SCOPE_INSUFFICIENT: `${ASK_ADMIN} for a key with that scope.`,
  ROUTE_NOT_COVERED: "Check whether latitude and longitude are swapped, or use other points.",
  ETAG_STALE: "Call `GetShipment`, reapply your change, and send the new `etag`.",
  PAYMENT_PROVIDER_NOT_CONNECTED: `${ASK_ADMIN} to connect a payment provider.`,
  PAYMENT_PROVIDER_NOT_READY: `${ASK_ADMIN} to complete the connection to the payment provider.`,
  PAYMENT_PROVIDER_NOT_CONFIGURED: `${ASK_ADMIN} to connect a payment provider.`,
  CHECKOUT_UNAVAILABLE: `${ASK_ADMIN} to record the payment.`,
  GEOCODER_NOT_CONFIGURED: "Send coordinates.",
  IDEMPOTENCY_KEY_IN_USE: "Retry the call with the same arguments in a moment.",
  RATE_LIMITED: "Make fewer calls.",
  UNAVAILABLE: "Retry the call later with the same arguments.",
  INTERNAL: `${ASK_ADMIN} to report the \`request_id\`.`,
  DEADLINE_EXCEEDED: "Retry the call with the same arguments.",
};

/** Returns the remedies for a refusal, naming tools instead of RPCs. */
export function fixOf({ violations, retryAfterSeconds }: Refusal): string {
  if (retryAfterSeconds !== undefined) {
    return `Call again with the same arguments after ${retryAfterSeconds} s.`;
  }
  return [...new Set(violations.map(({ reason }) => remedyOf(reason)))].join(" ");
}

/** Returns the remedy for one reason, naming tools instead of RPCs. */
export function remedyOf(reason: RefusalReason): string {
  const remedy = FOR_AGENTS[reason] ?? REASONS[reason].remedy;
  return remedy.replace(/`([A-Z][a-z]\w+)`/g, (_, rpc: string) => toolNameOf(rpc));
}

/** Returns the tool name of an RPC: `create_quote` for `CreateQuote`. */
export function toolNameOf(rpc: string): string {
  return rpc.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
