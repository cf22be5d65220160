import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { createGroupCommit } from "../../../src/db/group-commit.ts";
import { runStatement } from "../../../src/db/statement.ts";
import { loadOnce } from "../../../src/domain/load-once.ts";
import { createSecretSeal } from "../../../src/domain/secret-seal.ts";
import { createPaymentQueues } from "../../../src/features/payments/payment-jobs.ts";
import { createPaymentProviders } from "../../../src/features/payments/payment-providers.ts";
import { createSlots } from "../../../src/features/slots/slots.ts";
import { createVersionFees } from "../../../src/features/tariffs/versions/version-fees.ts";
import { findInstallation } from "../../../src/features/workspaces/installation.entity.ts";
import { createMemoryLimiter } from "../../../src/pipeline/bounds/rate-limiter.ts";
import { createPayments } from "../../../src/server/payments.ts";
import { TEST_MS } from "../../support/limits.ts";
import { SEALING_KEY, type StripeService } from "../../support/stripe-service.ts";
import { workOff } from "../../support/work-off.ts";

/** Poll interval in milliseconds, and maximum number of polls. */
const POLL_MS = 2;
const MAX_POLLS = 5_000;

/**
 * Creates a worker that processes all payments due now, including follow-up work, as a replica
 * does. Tests then need not wait for the service's own worker.
 */
export function createPaymentWorker({ service, clock, settings }: StripeService) {
  const { em } = service.app;
  const now = () => new Date(clock.ms);
  const { paymentJobs } = createPayments({
    em,
    createGroup: createGroupCommit(em, () => () => undefined, TEST_MS),
    versionFees: createVersionFees(em),
    slots: createSlots(em),
    events: { announce: () => undefined },
    providers: createPaymentProviders({
      ...settings.stripe,
      installation: loadOnce(() => findInstallation(em)).get,
      onCall: () => undefined,
      onUnknownStatus: () => undefined,
    }),
    secretSeal: createSecretSeal([SEALING_KEY]),
    now,
    log: pino({ level: "silent" }),
    limiter: createMemoryLimiter(() => performance.now()),
    findTracking: async () => ({ trackingUrlOf: undefined, notifiesRecipients: false }),
  });
  const queues = createPaymentQueues(paymentJobs);
  return async () => {
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      for (const queue of queues) await workOff(queue);
      if ((await runStatement(em, OUTSTANDING_WORK, [now().toISOString()])).length === 0) return;
      await sleep(POLL_MS);
    }
    throw new Error("payments are still due after the maximum number of polls");
  };
}

/**
 * SQL that returns payments that are due, or that the service has leased. It leases an event or
 * account for two minutes.
 */
const OUTSTANDING_WORK = `
  select 1 from provider_payment where due_at <= $1 or leased_until > $1
  union all
  select 1 from payment_notice
  where due_at <= $1 or due_at = $1::timestamptz + interval '2 minutes'
  union all
  select 1 from payment_connection
  where check_at <= $1 or check_at = $1::timestamptz + interval '2 minutes' limit 1`;
