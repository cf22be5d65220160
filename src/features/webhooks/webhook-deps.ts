import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { webhookUrlFault } from "../../domain/webhook/webhook-address.ts";

/** What the functions of the webhook service work with. */
export interface WebhookDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** Whether http to this machine is allowed, for trying things out. */
  readonly allowLoopbackHttp: boolean;
}

/**
 * Refuses an address that events may not be sent to.
 *
 * @throws Refusal FIELD_INVALID
 */
export function refuseUrl(url: string, { allowLoopbackHttp }: WebhookDeps): void {
  const fault = webhookUrlFault(url, allowLoopbackHttp);
  if (fault !== undefined) throw refuse("FIELD_INVALID", `url ${fault}.`, { subject: "url" });
}

/** The types that a webhook takes, for those that a caller names: none, or `*`, is all of them. */
export function typesOf(named: readonly string[]): readonly string[] {
  return named.length === 0 || named.includes("*") ? ["*"] : [...new Set(named)];
}
