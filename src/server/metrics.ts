import { collectDefaultMetrics, Gauge, type Registry } from "@prometheus-io/client";
import manifest from "../../package.json" with { type: "json" };
import { MEMORY } from "../pipeline/bounds/limits.ts";
import type { TariffCache } from "../features/tariffs/versions/tariff-cache.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { DatabaseContact } from "./database-contact.ts";
import type { DatabaseFigures } from "./database-figures.ts";
import type { Readiness } from "./readiness.ts";
import type { Servers } from "./servers.ts";

/** Sources of figures that are read with `/metrics`. */
export interface MetricSources {
  readonly readiness: Pick<Readiness, "unreadyBecause">;
  readonly contact: Pick<DatabaseContact, "ageSeconds">;
  readonly databaseClock: Pick<DatabaseClock, "aheadSeconds">;
  readonly tariffs: Pick<TariffCache, "currentVersion" | "lagSeconds">;
  readonly databaseFigures: Pick<DatabaseFigures, "latest">;
  readonly servers: Servers;
  readonly now: () => Date;
}

/** Adds metrics besides the counters of `createInstruments`. Scrapes do not query the database. */
export function addMetrics(registry: Registry, sources: MetricSources): void {
  const { servers } = sources;
  collectDefaultMetrics({ register: registry });
  const addGauge = createAddGauge(registry);
  addStateGauges(addGauge, sources);
  addDatabaseGauges(addGauge, sources);
  addGauge(
    "shipments_open_connections",
    "Connections to the service that are open, by server; 10,000 may be on each.",
    () => ({
      http: servers.http.openConnections(),
      grpc: servers.grpc.openConnections(),
      operations: servers.operations.openConnections(),
    }),
    "server",
  );
  addGauge(
    "shipments_memory_reserved_bytes",
    "Memory that large requests and answers in flight have taken of their budget, by kind.",
    servers.reservedBytes,
    "kind",
  );
  addGauge(
    "shipments_memory_budget_bytes",
    "Memory that large requests and answers may take; beyond it calls are UNAVAILABLE.",
    () => MEMORY,
    "kind",
  );
}

function addStateGauges(
  addGauge: AddGauge,
  { readiness, contact, databaseClock, tariffs }: MetricSources,
): void {
  addGauge(
    "shipments_build_info",
    "Always 1; its labels tell which versions run.",
    () => ({ [manifest.version]: 1 }),
    "version",
    { node: process.versions.node },
  );
  addGauge("shipments_ready", "1 while /readyz is 200, else 0.", () =>
    readiness.unreadyBecause() === undefined ? 1 : 0,
  );
  addGauge(
    "shipments_database_contact_age_seconds",
    "How long ago the database last answered; at most about 1 while it is reached.",
    contact.ageSeconds,
  );
  addGauge(
    "shipments_database_clock_ahead_seconds",
    "By how much the clock of the process is ahead of the database's; not ready from 30 on.",
    databaseClock.aheadSeconds,
  );
  addGauge(
    "shipments_tariff_version",
    "Version of the tariff that prices are of; 0 while there is none.",
    () => tariffs.currentVersion() ?? 0,
  );
  addGauge(
    "shipments_tariff_lag_seconds",
    "For how long prices have been of another tariff than the one in force; 0 when they are not.",
    tariffs.lagSeconds,
  );
}

function addDatabaseGauges(addGauge: AddGauge, { databaseFigures, now }: MetricSources): void {
  const { latest } = databaseFigures;
  const secondsSince = (ms: number | null | undefined) =>
    ms === null || ms === undefined ? undefined : Math.max(0, now().getTime() - ms) / 1_000;
  /** 0 if none is waiting. */
  const ageOf = (backlog: { readonly oldestMs: number | null } | undefined) =>
    backlog?.oldestMs === null ? 0 : secondsSince(backlog?.oldestMs);
  addGauge(
    "shipments_event_newest_age_seconds",
    "Age of the newest event; grows when nothing happens, too.",
    () => secondsSince(latest()?.newestEventMs),
  );
  addGauge(
    "shipments_webhook_backlog",
    "Webhook deliveries that have not ended, retries that wait included; 100,000 at most.",
    () => latest()?.backlog.pending,
  );
  addGauge(
    "shipments_webhook_backlog_age_seconds",
    "Age of the oldest of them; 0 for none. Receivers that fail are tried for days.",
    () => ageOf(latest()?.backlog),
  );
  addGauge(
    "shipments_mails_waiting",
    "Mails that have not been sent, retries that wait included; 10,000 at most.",
    () => latest()?.mails.waiting,
  );
  addGauge("shipments_mails_waiting_age_seconds", "Age of the oldest of them; 0 for none.", () =>
    ageOf(latest()?.mails),
  );
  addGauge(
    "shipments_payments_overdue",
    "Work on payments not done for ten minutes, by kind; 10,000 of each at most.",
    () => {
      const { payments, notices, accounts } = latest()?.overdue ?? {};
      return { payments, notices, accounts };
    },
    "kind",
  );
  addGauge(
    "shipments_table_rows",
    "About how many rows the tables have that grow; kept_answer holds the stored responses.",
    () => Object.fromEntries((latest()?.tables ?? []).map(({ table, rows }) => [table, rows])),
    "table",
  );
  addGauge(
    "shipments_database_figures_age_seconds",
    "How long ago the database was asked for backlogs, newest event and rows.",
    () => secondsSince(latest()?.readMs),
  );
}

/** `read` returns a value, or values by label. `undefined`, for values not yet known, is NaN. */
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
