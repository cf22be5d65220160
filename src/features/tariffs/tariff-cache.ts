import type { Client } from "pg";
import type { Logger } from "pino";
import type { EntityManager } from "../../db/orm.ts";
import type { Pricing } from "../../domain/pricing/pricing.ts";
import { loadTariff } from "./load-tariff.ts";
import type { TariffTasks } from "./run-tariff-task.ts";
import { noTariffError } from "./tariff-refusals.ts";

/** A published tariff, ready for quoting. */
export interface PricedTariff {
  readonly version: number;
  readonly pricing: Pricing;
}

/** The tariff in force, in memory. */
export interface TariffCache {
  /**
   * The newest version this process knows, at most a second behind while the database is reachable.
   *
   * @throws Refusal UNAVAILABLE while no tariff has been published
   */
  current(): PricedTariff;
  /** Its version, or undefined while there is none. */
  currentVersion(): number | undefined;
  /**
   * The version in force now, read in the caller's transaction.
   *
   * @throws Refusal UNAVAILABLE while no tariff has been published
   */
  inForce(em: EntityManager): Promise<PricedTariff>;
  /**
   * The tariff of a version that the caller's transaction has read as the one in force.
   *
   * @param version null when no tariff has been published
   * @throws Refusal UNAVAILABLE while no tariff has been published
   */
  byVersion(version: number | null): Promise<PricedTariff>;
  /**
   * Begins to load the version in force if it is newer than `current`, and waits for it if it is the
   * first. A later one takes effect when it is loaded; the changes of keys do not wait for it.
   */
  refresh(client: Client): Promise<void>;
}

/** How long the version before the newest is kept for transactions that have read it as in force. */
const KEEP_PREVIOUS_MS = 10_000;

/**
 * Builds the cache. Versions are immutable, so a loaded version never becomes stale. A version is
 * loaded once, however many wait for it.
 */
export function createTariffCache(options: {
  readonly em: EntityManager;
  readonly tasks: TariffTasks;
  readonly log: Pick<Logger, "warn">;
}): TariffCache {
  const { em, tasks, log } = options;
  const loads = new Map<number, Promise<PricedTariff>>();
  let newest: PricedTariff | undefined;
  let previous: PricedTariff | undefined;

  async function load(version: number): Promise<PricedTariff> {
    const loaded = { version, pricing: await loadTariff(em, tasks, version) };
    if (version > (newest?.version ?? 0)) replaceNewest(loaded);
    return loaded;
  }

  function replaceNewest(loaded: PricedTariff): void {
    const replaced = newest;
    newest = loaded;
    previous = replaced;
    const drop = () => {
      if (previous === replaced) previous = undefined;
    };
    setTimeout(drop, KEEP_PREVIOUS_MS).unref();
  }

  function loadOnce(version: number): Promise<PricedTariff> {
    const loading = loads.get(version) ?? load(version).finally(() => loads.delete(version));
    loads.set(version, loading);
    return loading;
  }

  async function byVersion(version: number | null): Promise<PricedTariff> {
    if (version === null) throw noTariffError();
    if (version === newest?.version) return newest;
    return version === previous?.version ? previous : loadOnce(version);
  }

  return {
    current() {
      if (newest === undefined) throw noTariffError();
      return newest;
    },
    currentVersion: () => newest?.version,
    async inForce(tx) {
      const [row] = await tx.execute<[{ version: number | null }]>(
        "select max(version) as version from tariff_version",
      );
      return byVersion(row.version);
    },
    byVersion,
    async refresh(client) {
      const { rows } = await client.query<{ version: number | null }>(
        "select max(version) as version from tariff_version",
      );
      const version = rows[0]?.version ?? 0;
      if (version <= (newest?.version ?? 0) || loads.has(version)) return;
      const loading = loadOnce(version);
      if (newest === undefined) await loading;
      else loading.catch((error: unknown) => log.warn({ err: error, version }, LOAD_FAILED));
    },
  };
}

const LOAD_FAILED = "a tariff could not be loaded; the one before stays in use";
