import type { EntityManager } from "../../db/orm.ts";

/** What the functions of the webhook service need. */
export interface WebhookDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** Whether webhooks may go to this machine by plain http, for local development. */
  readonly allowLoopbackHttp: boolean;
}
