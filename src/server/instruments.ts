import { Counter, Gauge, Histogram, type Registry } from "@prometheus-io/client";
import type { ObserveGroups } from "../db/group-queue.ts";
import { MAX_CONNECTIONS, type PoolObserver } from "../db/orm.ts";
import { LIMIT_CLASSES, type LimitClass } from "../domain/rate-limit.ts";
import type { EndedLookUp } from "../features/addresses/geocoder-client.ts";
import { GEOCODER_OUTCOMES } from "../features/addresses/geocoder.ts";
import { MAIL_OUTCOMES, type MailOutcome } from "../features/people/send-mails.ts";
import type { EndedCall } from "../features/payments/stripe/stripe-calls.ts";
import { isSuccess, type SendResult } from "../features/webhooks/send-webhook.ts";

/** What parts of the service call as they work, so that `/metrics` can tell of it. */
export interface Instruments {
  readonly observeGroups: ObserveGroups;
  readonly poolObserver: PoolObserver;
  readonly countAttempt: (result: SendResult) => void;
  readonly countMailAttempt: (outcome: MailOutcome) => void;
  readonly countFailedMail: () => void;
  readonly observeProviderCall: (call: EndedCall) => void;
  readonly observeLookUp: (ended: EndedLookUp) => void;
  readonly countFallback: () => void;
  readonly countRateLimited: (limitClass: LimitClass) => void;
  /** Called with how many rows of a kind a purge deleted; undefined when it failed. */
  readonly countPurge: (kind: Purged, rows: number | undefined) => void;
}

export type Purged = (typeof PURGED)[number];

/** In seconds; what waits is written within 2, and a connection had within 2. */
const WAIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];
/** In seconds; a call of a payment provider takes 10 at most. */
const PROVIDER_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** In seconds; a request to the geocoder takes 1 at most. */
const GEOCODER_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
/** Groups have at most 64 to 200 members. */
const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128];

const PURGED = [
  "stored_responses",
  "keys",
  "deliveries",
  "used_quotes",
  "payment_notices",
  "sign_ins",
  "mails",
  "usage",
  "test_data",
  "events",
] as const;

export function createInstruments(registry: Registry): Instruments {
  const registers = [registry];
  const fallbacks = new Counter({
    name: "shipments_limiter_fallbacks_total",
    help: "Calls let through uncounted, because Redis did not answer.",
    registers,
  });
  const attempts = new Counter({
    name: "shipments_webhook_attempts_total",
    help: "Attempts at webhooks: delivered (2xx), rejected (another status), unanswered (none).",
    labelNames: ["outcome"] as const,
    registers,
  });
  const refused = new Counter({
    name: "shipments_rate_limited_total",
    help: "Calls refused because the caller's limit of the class was used up.",
    labelNames: ["class"] as const,
    registers,
  });
  const rows = new Counter({
    name: "shipments_purged_rows_total",
    help: "Rows deleted because they had expired, by kind.",
    labelNames: ["kind"] as const,
    registers,
  });
  const failures = new Counter({
    name: "shipments_purge_failures_total",
    help: "Purges that failed, by kind; each is tried again after 10 minutes.",
    labelNames: ["kind"] as const,
    registers,
  });
  // Series that have not counted yet are there from the start, so that a first count is an increase.
  for (const outcome of ["delivered", "rejected", "unanswered"]) attempts.inc({ outcome }, 0);
  for (const limitClass of LIMIT_CLASSES) refused.inc({ class: limitClass }, 0);
  for (const kind of PURGED) for (const counter of [rows, failures]) counter.inc({ kind }, 0);
  return {
    observeGroups: createObserveGroups(registry),
    poolObserver: createPoolObserver(registry),
    countAttempt(result) {
      const rejected = result.status === undefined ? "unanswered" : "rejected";
      attempts.inc({ outcome: isSuccess(result) ? "delivered" : rejected });
    },
    ...createMailCounters(registry),
    observeLookUp: createObserveLookUp(registry),
    observeProviderCall: createObserveProviderCall(registry),
    countFallback: () => fallbacks.inc(),
    countRateLimited: (limitClass) => refused.inc({ class: limitClass }),
    countPurge(kind, count) {
      if (count === undefined) failures.inc({ kind });
      else rows.inc({ kind }, count);
    },
  };
}

function createObserveProviderCall(registry: Registry): Instruments["observeProviderCall"] {
  const providerCalls = new Histogram({
    name: "shipments_provider_call_seconds",
    help: "Calls of payment providers, by outcome: ok, refused, or unanswered in 10 s.",
    labelNames: ["outcome"] as const,
    buckets: PROVIDER_BUCKETS,
    registers: [registry],
  });
  for (const outcome of ["ok", "refused", "unanswered"]) providerCalls.zero({ outcome });
  return ({ outcome, durationMs }) => providerCalls.observe({ outcome }, durationMs / 1_000);
}

function createObserveLookUp(registry: Registry): Instruments["observeLookUp"] {
  const lookUps = new Histogram({
    name: "shipments_geocoder_request_seconds",
    help: "Requests to the geocoder: ok, limited (429), failed (of no use), unanswered in 1 s.",
    labelNames: ["geocoder", "outcome"] as const,
    buckets: GEOCODER_BUCKETS,
    registers: [registry],
  });
  const zeroed = new Set<string>();
  return ({ geocoder, outcome, durationMs }) => {
    if (!zeroed.has(geocoder)) {
      for (const each of GEOCODER_OUTCOMES) lookUps.zero({ geocoder, outcome: each });
      zeroed.add(geocoder);
    }
    lookUps.observe({ geocoder, outcome }, durationMs / 1_000);
  };
}

function createMailCounters(
  registry: Registry,
): Pick<Instruments, "countMailAttempt" | "countFailedMail"> {
  const registers = [registry];
  const mailAttempts = new Counter({
    name: "shipments_mail_attempts_total",
    help: "Attempts at mails: sent, refused (for good), deferred, unreachable (nothing is taken).",
    labelNames: ["outcome"] as const,
    registers,
  });
  const failedMails = new Counter({
    name: "shipments_mails_failed_total",
    help: "Mails given up: refused, or not sent for as long as they were worth it.",
    registers,
  });
  for (const outcome of MAIL_OUTCOMES) mailAttempts.inc({ outcome }, 0);
  return {
    countMailAttempt: (outcome) => mailAttempts.inc({ outcome }),
    countFailedMail: () => failedMails.inc(),
  };
}

function createPoolObserver(registry: Registry): PoolObserver {
  let [pool, shares]: Parameters<PoolObserver["created"]> = [NO_POOL, NO_SHARES];
  const connections = new Gauge({
    name: "shipments_database_connections",
    help: `Connections of the pool, by state, at most ${MAX_CONNECTIONS}; and what waits for one.`,
    labelNames: ["state"] as const,
    registers: [],
    collect() {
      this.set({ state: "busy" }, pool.totalCount - pool.idleCount);
      this.set({ state: "idle" }, pool.idleCount);
      this.set({ state: "waiting" }, pool.waitingCount + shares.waiting());
    },
  });
  registry.registerMetric(connections);
  const waits = new Histogram({
    name: "shipments_database_wait_seconds",
    help: "Time that work waited for a connection of the pool, new connections included.",
    buckets: WAIT_BUCKETS,
    registers: [registry],
  });
  return {
    created(...made) {
      [pool, shares] = made;
    },
    waited: (ms) => waits.observe(ms / 1_000),
  };
}

const NO_POOL = { totalCount: 0, idleCount: 0, waitingCount: 0 };
const NO_SHARES = { waiting: () => 0 };

function createObserveGroups(registry: Registry): ObserveGroups {
  const labelNames = ["group"] as const;
  const sizes = new Histogram({
    name: "shipments_group_size",
    help: "Members that shared a transaction or a statement, by what they are.",
    labelNames,
    buckets: SIZE_BUCKETS,
    registers: [registry],
  });
  const waits = new Histogram({
    name: "shipments_group_wait_seconds",
    help: "Time that the first member of a group waited before the group was taken.",
    labelNames,
    buckets: WAIT_BUCKETS,
    registers: [registry],
  });
  return (group) => {
    for (const histogram of [sizes, waits]) histogram.zero({ group });
    return (members, waitedMs) => {
      sizes.observe({ group }, members);
      waits.observe({ group }, waitedMs / 1_000);
    };
  };
}
