import { Counter, Gauge, Histogram, type Registry } from "@prometheus-io/client";
import type { ObserveGroups } from "../db/group-queue.ts";
import type { ObserveQueue } from "../db/leased-queue.ts";
import { MAX_CONNECTIONS, type PoolObserver } from "../db/orm.ts";
import { LIMIT_CLASSES, type LimitClass } from "../domain/rate-limit.ts";
import type { CompletedLookup } from "../features/addresses/geocoder-client.ts";
import { GEOCODER_OUTCOMES } from "../features/addresses/geocoder.ts";
import type { CompletedCall } from "../features/payments/stripe/stripe-calls.ts";
import type { UnknownStatus } from "../features/payments/stripe/stripe-payment.ts";
import { type ObserveSlot, PLACE_OUTCOMES } from "../features/slots/slots.ts";
import { type Purged, PURGES } from "./purges.ts";

/** Functions that record metrics for `/metrics`. They are called throughout the service. */
export type Instruments = ReturnType<typeof createInstruments>;

/** Histogram bucket bounds, in seconds. Waits for writes and connections take at most 2 s. */
const WAIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];
/** Histogram bucket bounds, in seconds. A payment provider call takes at most 10 s. */
const PROVIDER_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Histogram bucket bounds, in seconds. A geocoder request takes at most 1 s. */
const GEOCODER_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
/** Histogram bucket bounds, in members. The maximum group size is 64 to 200, depending on the kind. */
const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128];

export function createInstruments(registry: Registry) {
  const { counter, histogram } = createMetrics(registry);
  const fallbacks = counter(
    "shipments_limiter_fallbacks_total",
    "Calls admitted without rate limiting because Redis did not respond.",
  );
  const refused = counter("shipments_rate_limited_total", "Calls refused by rate limits, by class.", "class");
  const unlogged = counter(
    "shipments_unlogged_requests_total",
    "Calls missing from the request log because there were too many or the database was unavailable.",
  );
  const rows = counter("shipments_purged_rows_total", "Rows deleted because they had expired, by kind.", "kind");
  const failures = counter(
    "shipments_purge_failures_total",
    "Failed purges by kind. Each is retried after 10 minutes.",
    "kind",
  );
  // All series exist from the start, so that the first count is visible as an increase.
  for (const limitClass of LIMIT_CLASSES) refused.inc({ class: limitClass }, 0);
  for (const kind of Object.keys(PURGES)) for (const each of [rows, failures]) each.inc({ kind }, 0);
  return {
    observeGroups: createObserveGroups(histogram),
    poolObserver: createPoolObserver(registry, histogram),
    observeQueue: createObserveQueue(registry, counter),
    observeProviderCall: createObserveProviderCall(histogram),
    countUnknownStatus: createCountUnknownStatus(counter),
    observeLookup: createObserveLookup(histogram),
    countUnlogged: (count: number) => unlogged.inc(count),
    countFallback: () => fallbacks.inc(),
    countSlot: createCountSlot(counter),
    countRateLimited: (limitClass: LimitClass) => refused.inc({ class: limitClass }),
    /** @param count number of deleted rows, undefined if the purge failed */
    countPurge(kind: Purged, count: number | undefined) {
      if (count === undefined) failures.inc({ kind });
      else rows.inc({ kind }, count);
    },
  };
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string = never>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  };
}

type CreateCounter = ReturnType<typeof createMetrics>["counter"];
type CreateHistogram = ReturnType<typeof createMetrics>["histogram"];

function createObserveQueue(registry: Registry, counter: CreateCounter): ObserveQueue {
  const running = new Map<string, () => number>();
  registry.registerMetric(
    new Gauge({
      name: "shipments_queue_in_progress",
      help: "Items of background work in progress, by queue.",
      labelNames: ["queue"] as const,
      registers: [],
      collect() {
        for (const [queue, inProgress] of running) this.set({ queue }, inProgress());
      },
    }),
  );
  const processed = counter(
    "shipments_queue_processed_total",
    "Processed items of background work, by queue and outcome.",
    "queue",
    "outcome",
  );
  const errors = counter(
    "shipments_queue_errors_total",
    "Failed searches for background work, and items that failed unexpectedly, by queue.",
    "queue",
  );
  return ({ name: queue, outcomes }, inProgress) => {
    running.set(queue, inProgress);
    errors.inc({ queue }, 0);
    for (const outcome of outcomes) processed.inc({ queue, outcome }, 0);
    return (outcome) => (outcome === undefined ? errors.inc({ queue }) : processed.inc({ queue, outcome }));
  };
}

function createObserveProviderCall(histogram: CreateHistogram) {
  const providerCalls = histogram(
    "shipments_provider_call_seconds",
    "Payment provider calls by outcome: ok, refused, unanswered (no response within 10 s).",
    PROVIDER_BUCKETS,
    "outcome",
  );
  for (const outcome of ["ok", "refused", "unanswered"]) providerCalls.zero({ outcome });
  return ({ outcome, durationMs }: CompletedCall) => providerCalls.observe({ outcome }, durationMs / 1_000);
}

function createCountUnknownStatus(counter: CreateCounter) {
  const unknown = counter(
    "shipments_provider_unknown_statuses_total",
    "Unknown statuses from the payment provider, by object.",
    "object",
  );
  for (const object of ["payment_intent", "refund", "dispute"]) unknown.inc({ object }, 0);
  return ({ object }: UnknownStatus) => unknown.inc({ object });
}

function createCountSlot(counter: CreateCounter): (outcome: Parameters<ObserveSlot>[0]) => void {
  const places = counter(
    "shipments_slot_places_total",
    "Requested places in counted slots by outcome: booked, held (by a quote), refused (slot full).",
    "outcome",
  );
  const filled = counter("shipments_slots_filled_total", "Slots that became full.");
  for (const outcome of PLACE_OUTCOMES) places.inc({ outcome }, 0);
  return (outcome) => (outcome === "filled" ? filled.inc() : places.inc({ outcome }));
}

function createObserveLookup(histogram: CreateHistogram) {
  const lookups = histogram(
    "shipments_geocoder_request_seconds",
    "Geocoder requests by outcome: ok, limited (HTTP 429), failed (unusable response), unanswered (no response within 1 s).",
    GEOCODER_BUCKETS,
    "geocoder",
    "outcome",
  );
  const zeroed = new Set<string>();
  return ({ geocoder, outcome, durationMs }: CompletedLookup) => {
    if (!zeroed.has(geocoder)) {
      for (const each of GEOCODER_OUTCOMES) lookups.zero({ geocoder, outcome: each });
      zeroed.add(geocoder);
    }
    lookups.observe({ geocoder, outcome }, durationMs / 1_000);
  };
}

function createPoolObserver(registry: Registry, histogram: CreateHistogram): PoolObserver {
  let [pool, shares]: Parameters<PoolObserver["created"]> = [NO_POOL, NO_SHARES];
  const connections = new Gauge({
    name: "shipments_database_connections",
    help: `Database connections by state, at most ${MAX_CONNECTIONS}, and calls that wait for one.`,
    labelNames: ["state"] as const,
    registers: [],
    collect() {
      this.set({ state: "busy" }, pool.totalCount - pool.idleCount);
      this.set({ state: "idle" }, pool.idleCount);
      this.set({ state: "waiting" }, pool.waitingCount + shares.waiting());
    },
  });
  registry.registerMetric(connections);
  const waits = histogram(
    "shipments_database_wait_seconds",
    "Wait time for a database connection, including the time to open it.",
    WAIT_BUCKETS,
  );
  return {
    created(...made) {
      [pool, shares] = made;
    },
    waited: (ms) => waits.observe(ms / 1_000),
  };
}

const NO_POOL = { totalCount: 0, idleCount: 0, waitingCount: 0 };
const NO_SHARES = { waiting: () => 0 };

function createObserveGroups(histogram: CreateHistogram): ObserveGroups {
  const sizes = histogram(
    "shipments_group_size",
    "Calls that shared a transaction or statement, by group.",
    SIZE_BUCKETS,
    "group",
  );
  const waits = histogram(
    "shipments_group_wait_seconds",
    "Wait time of a group's first call, by group.",
    WAIT_BUCKETS,
    "group",
  );
  return (group) => {
    for (const each of [sizes, waits]) each.zero({ group });
    return (members, waitedMs) => {
      sizes.observe({ group }, members);
      waits.observe({ group }, waitedMs / 1_000);
    };
  };
}
