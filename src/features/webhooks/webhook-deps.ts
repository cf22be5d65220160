import type { EntityManager } from "../../db/orm.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";

/** What the functions of the webhook service need. */
export interface WebhookDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** Whether webhooks may go to this machine by plain http, for local development. */
  readonly allowLoopbackHttp: boolean;
  readonly secretSeal: SecretSeal;
}
