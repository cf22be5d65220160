import { Gauge, type Registry } from "@prometheus-io/client";
import type { ObserveGroups } from "../db/group-queue.ts";
import { MAX_CONNECTIONS, type PoolObserver } from "../db/orm.ts";
import type { LimitClass } from "../domain/rate-limit.ts";
import { isSuccess, type SendResult } from "../features/webhooks/send-webhook.ts";
import { addCounter, addHistogram } from "../pipeline/stages/metric-series.ts";

/** What parts of the service call as they work, so that `/metrics` can tell of it. */
export interface Instruments {
  readonly observeGroups: ObserveGroups;
  readonly poolObserver: PoolObserver;
  /** Called with what came of each attempt at a webhook. */
  readonly countAttempt: (result: SendResult) => void;
  /** Called for each call that is let through because Redis fails. */
  readonly countFallback: () => void;
  /** Called for each call that is refused for its limit. */
  readonly countRateLimited: (limitClass: LimitClass) => void;
  /** Called with how many rows of a kind a purge deleted; undefined when it failed. */
  readonly countPurge: (kind: Purged, rows: number | undefined) => void;
}

/** What is purged regularly. */
export type Purged = "stored_responses" | "keys" | "deliveries" | "sign_ins" | "usage" | "events";

/** In seconds; what waits is written within 2, and a connection had within 2. */
const WAIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];
/** Groups have at most 64 to 200 members. */
const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128];

/** Builds instruments that count into a registry. */
export function createInstruments(registry: Registry): Instruments {
  const countFallback = addCounter(registry, {
    name: "shipments_limiter_fallbacks_total",
    help: "Calls let through uncounted, because Redis did not answer.",
  })();
  return {
    observeGroups: createObserveGroups(registry),
    poolObserver: createPoolObserver(registry),
    countAttempt: createCountAttempt(registry),
    countFallback: () => countFallback(),
    countRateLimited: createCountRateLimited(registry),
    countPurge: createCountPurge(registry),
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
  const observeWait = addHistogram(registry, {
    name: "shipments_database_wait_seconds",
    help: "Time that work waited for a connection of the pool, new connections included.",
    buckets: WAIT_BUCKETS,
  })();
  return {
    created(...made) {
      [pool, shares] = made;
    },
    waited: (ms) => observeWait(ms / 1_000),
  };
}

const NO_POOL = { totalCount: 0, idleCount: 0, waitingCount: 0 };
const NO_SHARES = { waiting: () => 0 };

function createObserveGroups(registry: Registry): ObserveGroups {
  const labelNames = ["group"];
  const sizes = addHistogram(registry, {
    name: "shipments_group_size",
    help: "Members that shared a transaction or a statement, by what they are.",
    labelNames,
    buckets: SIZE_BUCKETS,
  });
  const waits = addHistogram(registry, {
    name: "shipments_group_wait_seconds",
    help: "Time that the first member of a group waited before the group was taken.",
    labelNames,
    buckets: WAIT_BUCKETS,
  });
  return (name) => {
    const [observeSize, observeWait] = [sizes(name), waits(name)];
    return (members, waitedMs) => {
      observeSize(members);
      observeWait(waitedMs / 1_000);
    };
  };
}

function createCountAttempt(registry: Registry): (result: SendResult) => void {
  const attempts = addCounter(registry, {
    name: "shipments_webhook_attempts_total",
    help: "Attempts at webhooks: delivered (2xx), rejected (another status), unanswered (none).",
    labelNames: ["outcome"],
  });
  const [delivered, rejected] = [attempts("delivered"), attempts("rejected")];
  const unanswered = attempts("unanswered");
  return (result) => {
    if (isSuccess(result)) delivered();
    else if (result.status !== undefined) rejected();
    else unanswered();
  };
}

function createCountRateLimited(registry: Registry): (limitClass: LimitClass) => void {
  const refused = addCounter(registry, {
    name: "shipments_rate_limited_total",
    help: "Calls refused because the caller's limit of the class was used up.",
    labelNames: ["class"],
  });
  const ofClass: Readonly<Record<LimitClass, () => void>> = {
    quote: refused("quote"),
    read: refused("read"),
    write: refused("write"),
  };
  return (limitClass) => ofClass[limitClass]();
}

function createCountPurge(registry: Registry): Instruments["countPurge"] {
  const labelNames = ["kind"];
  const rows = addCounter(registry, {
    name: "shipments_purged_rows_total",
    help: "Rows deleted because they had expired, by kind.",
    labelNames,
  });
  const failures = addCounter(registry, {
    name: "shipments_purge_failures_total",
    help: "Purges that failed, by kind; each is tried again after 10 minutes.",
    labelNames,
  });
  const counters = (kind: Purged) => ({ add: rows(kind), fail: failures(kind) });
  const ofKind: Readonly<Record<Purged, ReturnType<typeof counters>>> = {
    stored_responses: counters("stored_responses"),
    keys: counters("keys"),
    deliveries: counters("deliveries"),
    sign_ins: counters("sign_ins"),
    usage: counters("usage"),
    events: counters("events"),
  };
  return (kind, count) => {
    if (count === undefined) ofKind[kind].fail();
    else ofKind[kind].add(count);
  };
}
