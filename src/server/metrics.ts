import { collectDefaultMetrics, Gauge, type Registry } from "@prometheus-io/client";
import type { MikroORM } from "@mikro-orm/postgresql";

/**
 * Adds what `/metrics` tells beside calls: the connection pool, the tariff in force, the delay of
 * events, and Node's own figures.
 */
export function addMetrics(
  registry: Registry,
  sources: {
    readonly orm: MikroORM;
    readonly tariffVersion: () => number | undefined;
    readonly eventDelaySeconds: () => number;
  },
): void {
  const { orm, tariffVersion, eventDelaySeconds } = sources;
  collectDefaultMetrics({ register: registry });
  registry.registerMetric(
    new Gauge({
      name: "shipments_event_delay_seconds",
      help: "Age of the oldest event that an open transaction keeps from being shown; 0 for none.",
      registers: [],
      collect() {
        this.set(eventDelaySeconds());
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "shipments_tariff_version",
      help: "Version of the tariff in force; 0 while there is none.",
      registers: [],
      collect() {
        this.set(tariffVersion() ?? 0);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "shipments_database_connections",
      help: "Connections in the pool, by state, and calls that wait for one.",
      labelNames: ["state"] as const,
      registers: [],
      async collect() {
        const pool = await orm.driver.getConnection().getNativeClient();
        this.set({ state: "busy" }, pool.totalCount - pool.idleCount);
        this.set({ state: "idle" }, pool.idleCount);
        this.set({ state: "waiting" }, pool.waitingCount);
      },
    }),
  );
}
