import { refuse } from "../../domain/refusal.ts";
import { webhookUrlFault } from "../../domain/webhook/webhook-address.ts";
import type { WebhookDeps } from "./webhook-deps.ts";

/**
 * Checks that events may be sent to a URL.
 *
 * @throws Refusal FIELD_INVALID
 */
export function assertWebhookUrl(
  url: string,
  { allowLoopbackHttp }: Pick<WebhookDeps, "allowLoopbackHttp">,
): void {
  const fault = webhookUrlFault(url, allowLoopbackHttp);
  if (fault !== undefined) throw refuse("FIELD_INVALID", `url ${fault}.`, { subject: "url" });
}

/** The event types to store for those a caller names; none, or `*` among them, means all. */
export function storedTypes(named: readonly string[]): readonly string[] {
  return named.length === 0 || named.includes("*") ? ["*"] : [...new Set(named)];
}
