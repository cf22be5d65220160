import { collectDefaultMetrics, Gauge, type Registry } from "@prometheus-io/client";
import manifest from "../../package.json" with { type: "json" };
import { MEMORY } from "../pipeline/bounds/limits.ts";
import type { TariffCache } from "../features/tariffs/versions/tariff-cache.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { DatabaseContact } from "./database-contact.ts";
import type { DatabaseFigures } from "./database-figures.ts";
import type { Readiness } from "./readiness.ts";
import type { Servers } from "./servers.ts";

/** Where the figures come from that are read when `/metrics` is. */
export interface MetricSources {
  readonly readiness: Pick<Readiness, "unreadyBecause">;
  readonly contact: Pick<DatabaseContact, "ageSeconds">;
  readonly databaseClock: Pick<DatabaseClock, "aheadSeconds">;
  readonly tariffs: Pick<TariffCache, "currentVersion" | "lagSeconds">;
  readonly databaseFigures: Pick<DatabaseFigures, "latest">;
  readonly servers: Servers;
  readonly now: () => Date;
}

/** Adds what `/metrics` tells beside what `createInstruments` counts; reading it asks no database. */
export function addMetrics(registry: Registry, sources: MetricSources): void {
  const { servers } = sources;
  collectDefaultMetrics({ register: registry });
  const addGauge = createAddGauge(registry);
  addStateGauges(addGauge, sources);
  addDatabaseGauges(addGauge, sources);
  addGauge(
    "shipments_open_connections",
    "Connections to the service that are open, by server; 10,000 may be on each.",
    () =>
      byLabel("server", {
        http: servers.http.openConnections(),
        grpc: servers.grpc.openConnections(),
        operations: servers.operations.openConnections(),
      }),
    ["server"],
  );
  addGauge(
    "shipments_memory_reserved_bytes",
    "Memory that large requests and answers in flight have taken of their budget, by kind.",
    () => byLabel("kind", servers.reservedBytes()),
    ["kind"],
  );
  addGauge(
    "shipments_memory_budget_bytes",
    "Memory that large requests and answers may take; beyond it calls are UNAVAILABLE.",
    () => byLabel("kind", MEMORY),
    ["kind"],
  );
}

function addStateGauges(
  addGauge: AddGauge,
  { readiness, contact, databaseClock, tariffs }: MetricSources,
): void {
  const { version } = manifest;
  addGauge(
    "shipments_build_info",
    "Always 1; its labels tell which versions run.",
    () => [[{ version, node: process.versions.node }, 1]],
    ["version", "node"],
  );
  addGauge("shipments_ready", "1 while /readyz is 200, else 0.", () =>
    single(readiness.unreadyBecause() === undefined ? 1 : 0),
  );
  addGauge(
    "shipments_database_contact_age_seconds",
    "How long ago the database last answered; at most about 1 while it is reached.",
    () => single(contact.ageSeconds()),
  );
  addGauge(
    "shipments_database_clock_ahead_seconds",
    "By how much the clock of the process is ahead of the database's; not ready from 30 on.",
    () => single(databaseClock.aheadSeconds()),
  );
  addGauge(
    "shipments_tariff_version",
    "Version of the tariff that prices are of; 0 while there is none.",
    () => single(tariffs.currentVersion() ?? 0),
  );
  addGauge(
    "shipments_tariff_lag_seconds",
    "For how long prices have been of another tariff than the one in force; 0 when they are not.",
    () => single(tariffs.lagSeconds()),
  );
}

/** What is not known yet is NaN. */
function addDatabaseGauges(addGauge: AddGauge, { databaseFigures, now }: MetricSources): void {
  const secondsSince = (ms: number) => Math.max(0, now().getTime() - ms) / 1_000;
  addGauge(
    "shipments_event_newest_age_seconds",
    "Age of the newest event; grows when nothing happens, too.",
    () => {
      const newestMs = databaseFigures.latest()?.newestEventMs ?? undefined;
      return single(newestMs === undefined ? Number.NaN : secondsSince(newestMs));
    },
  );
  addGauge(
    "shipments_webhook_backlog",
    "Webhook deliveries that have not ended, retries that wait included; 100,000 at most.",
    () => single(databaseFigures.latest()?.backlog.pending ?? Number.NaN),
  );
  addGauge(
    "shipments_webhook_backlog_age_seconds",
    "Age of the oldest of them; 0 for none. Receivers that fail are tried for days.",
    () => {
      const backlog = databaseFigures.latest()?.backlog;
      if (backlog === undefined) return single(Number.NaN);
      return single(backlog.oldestMs === null ? 0 : secondsSince(backlog.oldestMs));
    },
  );
  addGauge(
    "shipments_mails_waiting",
    "Mails that have not been sent, retries that wait included; 10,000 at most.",
    () => single(databaseFigures.latest()?.mails.waiting ?? Number.NaN),
  );
  addGauge("shipments_mails_waiting_age_seconds", "Age of the oldest of them; 0 for none.", () => {
    const mails = databaseFigures.latest()?.mails;
    if (mails === undefined) return single(Number.NaN);
    return single(mails.oldestMs === null ? 0 : secondsSince(mails.oldestMs));
  });
  addGauge(
    "shipments_payments_overdue",
    "Work on payments not done for ten minutes, by kind; 10,000 of each at most.",
    () => {
      const overdue = databaseFigures.latest()?.overdue;
      const { payments = NaN, notices = NaN, accounts = NaN } = overdue ?? {};
      return byLabel("kind", { payments, notices, accounts });
    },
    ["kind"],
  );
  addGauge(
    "shipments_table_rows",
    "About how many rows the tables have that grow; kept_answer holds the stored responses.",
    () => (databaseFigures.latest()?.tables ?? []).map(({ table, rows }) => [{ table }, rows]),
    ["table"],
  );
  addGauge(
    "shipments_database_figures_age_seconds",
    "How long ago the database was asked for backlogs, newest event and rows.",
    () => {
      const readMs = databaseFigures.latest()?.readMs;
      return single(readMs === undefined ? Number.NaN : secondsSince(readMs));
    },
  );
}

/** Values, each with its labels. */
type Values = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

type AddGauge = (
  name: string,
  help: string,
  read: () => Values,
  labelNames?: readonly string[],
) => void;

function createAddGauge(registry: Registry): AddGauge {
  return (name, help, read, labelNames = []) => {
    const gauge = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
    registry.registerMetric(gauge);
  };
}

function single(value: number): Values {
  return [[{}, value]];
}

function byLabel(name: string, values: Readonly<Record<string, number>>): Values {
  return Object.entries(values).map(([label, value]) => [{ [name]: label }, value]);
}
