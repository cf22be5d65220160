import { collectDefaultMetrics, Gauge, Registry } from "@prometheus-io/client";
import manifest from "../../package.json" with { type: "json" };
import { MEMORY } from "../pipeline/bounds/limits.ts";
import type { DueWork } from "../features/reports/load-due-work.ts";
import type { TariffCache } from "../features/tariffs/versions/tariff-cache.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { DatabaseContact } from "./database-contact.ts";
import type { DatabaseFigures } from "./database-figures.ts";
import type { Readiness } from "./readiness.ts";
import type { Servers } from "./servers.ts";

/** Sources of the metrics that are read for each scrape. */
export interface MetricSources {
  readonly readiness: Pick<Readiness, "unreadyReason">;
  readonly contact: Pick<DatabaseContact, "ageSeconds">;
  readonly databaseClock: Pick<DatabaseClock, "aheadSeconds">;
  readonly tariffs: Pick<TariffCache, "currentVersion" | "lagSeconds">;
  readonly databaseFigures: Pick<DatabaseFigures, "latest">;
  readonly servers: Servers;
  readonly now: () => Date;
}

let processMetrics: Registry | undefined;

/**
 * Returns a registry with the metrics of Node and of the process. All services of a process share these metrics, because
 * each collection starts timers of 10 and 100 ms that never end.
 */
export function createRegistry(): Registry {
  if (processMetrics === undefined) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics });
  }
  return Registry.merge([processMetrics]);
}

/**
 * Adds the metrics that are read for each scrape, without querying the database. `createInstruments` creates the other
 * metrics.
 */
export function addMetrics(registry: Registry, sources: MetricSources): void {
  const { servers } = sources;
  const addGauge = createAddGauge(registry);
  addStateGauges(addGauge, sources);
  addDatabaseGauges(addGauge, sources);
  addGauge(
    "shipments_open_connections",
    "Open connections to the service, by server. Maximum 10,000 each.",
    () => ({
      http: servers.http.openConnections(),
      grpc: servers.grpc.openConnections(),
      operations: servers.operations.openConnections(),
    }),
    "server",
  );
  addGauge(
    "shipments_memory_reserved_bytes",
    "Memory reserved for large requests and responses in flight, by kind.",
    servers.reservedBytes,
    "kind",
  );
  addGauge(
    "shipments_memory_budget_bytes",
    "Memory limit for large requests and responses, by kind. Beyond it, calls return UNAVAILABLE.",
    () => MEMORY,
    "kind",
  );
}

function addStateGauges(addGauge: AddGauge, { readiness, contact, databaseClock, tariffs }: MetricSources): void {
  addGauge(
    "shipments_build_info",
    "Always 1. The labels contain the version of the service and of Node.js.",
    () => ({ [manifest.version]: 1 }),
    "version",
    { node: process.versions.node },
  );
  addGauge("shipments_ready", "1 while /readyz returns 200, else 0.", () =>
    readiness.unreadyReason() === undefined ? 1 : 0,
  );
  addGauge(
    "shipments_database_contact_age_seconds",
    "Time since the database last responded. About 1 at most while the database is reachable.",
    contact.ageSeconds,
  );
  addGauge(
    "shipments_database_clock_ahead_seconds",
    "Local clock minus the database's clock. From 30, the replica is not ready.",
    databaseClock.aheadSeconds,
  );
  addGauge(
    "shipments_tariff_version",
    "Version of the tariff used for prices. 0 before the first version.",
    () => tariffs.currentVersion() ?? 0,
  );
  addGauge(
    "shipments_tariff_lag_seconds",
    "Time since a newer tariff version took effect. 0 if prices use the tariff in force.",
    tariffs.lagSeconds,
  );
}

function addDatabaseGauges(addGauge: AddGauge, { databaseFigures, now }: MetricSources): void {
  const { latest } = databaseFigures;
  const secondsSince = (ms: number | null | undefined) =>
    ms === null || ms === undefined ? undefined : Math.max(0, now().getTime() - ms) / 1_000;
  const byQueue = <Value>(read: (work: DueWork) => Value) =>
    Object.fromEntries((latest()?.due ?? []).map((work) => [work.queue, read(work)]));
  addGauge("shipments_event_newest_age_seconds", "Age of the newest event. Grows while there is no traffic.", () =>
    secondsSince(latest()?.newestEventMs),
  );
  addGauge(
    "shipments_queue_due",
    "Due items of live workspaces that are not in progress, by queue. Counted up to 10,000.",
    () => byQueue(({ count }) => count),
    "queue",
  );
  addGauge(
    "shipments_queue_due_age_seconds",
    "Time since the oldest due item of the queue became due. 0 if none is due.",
    () => byQueue(({ oldestMs }) => (oldestMs === null ? 0 : secondsSince(oldestMs))),
    "queue",
  );
  addGauge(
    "shipments_payments_overdue",
    "Payment tasks overdue by ten minutes or more, by kind. Counted up to 10,000 each.",
    () => {
      const { payments, events, accounts } = latest()?.overdue ?? {};
      return { payments, notices: events, accounts };
    },
    "kind",
  );
  addGauge(
    "shipments_table_rows",
    "Approximate number of rows in growing tables. kept_answer contains the stored responses.",
    () => Object.fromEntries((latest()?.tables ?? []).map(({ table, rows }) => [table, rows])),
    "table",
  );
  addGauge(
    "shipments_database_figures_age_seconds",
    "Time since backlogs, newest event and rows were last queried.",
    () => secondsSince(latest()?.readMs),
  );
}

/** Adds a gauge. `read` returns a value, or values by label. `undefined` means not yet known and becomes NaN. */
type AddGauge = (
  name: string,
  help: string,
  read: () => number | undefined | Readonly<Record<string, number | undefined>>,
  label?: string,
  fixed?: Readonly<Record<string, string>>,
) => void;

function createAddGauge(registry: Registry): AddGauge {
  return (name, help, read, label, fixed = {}) => {
    const gauge = new Gauge({
      name,
      help,
      labelNames: [...(label === undefined ? [] : [label]), ...Object.keys(fixed)],
      registers: [],
      collect() {
        const values = read();
        if (label === undefined || typeof values !== "object") return this.set(Number(values));
        for (const [each, value] of Object.entries(values)) {
          this.set({ [label]: each, ...fixed }, value ?? NaN);
        }
      },
    });
    registry.registerMetric(gauge);
  };
}
