import { refuse } from "../../domain/refusal.ts";
import { webhookUrlFault } from "../../domain/webhook/webhook-address.ts";
import type { WebhookDeps } from "./webhook-deps.ts";

/**
 * The URL to store for one that a caller names: as it is parsed, so that what is shown is where
 * events are sent.
 *
 * @throws Refusal FIELD_INVALID when events may not be sent there
 */
export function storedUrl(
  named: string,
  { allowLoopbackHttp }: Pick<WebhookDeps, "allowLoopbackHttp">,
): string {
  const fault = webhookUrlFault(named, allowLoopbackHttp);
  if (fault !== undefined) throw refuse("FIELD_INVALID", `url ${fault}.`, { subject: "url" });
  return new URL(named).href;
}

/** The event types to store for those a caller names; none, or `*` among them, means all. */
export function storedTypes(named: readonly string[]): readonly string[] {
  return named.length === 0 || named.includes("*") ? ["*"] : [...new Set(named)];
}
