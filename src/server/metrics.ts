import { collectDefaultMetrics, Gauge, type Registry } from "@prometheus-io/client";
import type { MikroORM } from "@mikro-orm/postgresql";

/**
 * Adds what `/metrics` tells beside calls: the connection pool, the tariff in force, and Node's own
 * figures.
 */
export function addMetrics(
  registry: Registry,
  orm: MikroORM,
  tariffVersion: () => number | undefined,
): void {
  collectDefaultMetrics({ register: registry });
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
