import type { Client } from "pg";
import type { EntityManager } from "../../db/orm.ts";
import { createPricing, type Pricing } from "../../domain/pricing/pricing.ts";
import { unavailable, type Refusal } from "../../domain/refusal.ts";
import { readTariff } from "../../domain/pricing/tariff.ts";
import { TariffVersion } from "./tariff.entity.ts";

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
  byVersion(em: EntityManager, version: number | null): Promise<PricedTariff>;
  /** Loads the version in force if it is newer than `current`. */
  refresh(client: Client): Promise<void>;
}

/** Builds the cache. Versions are immutable, so a loaded version never becomes stale. */
export function createTariffCache(em: EntityManager): TariffCache {
  let newest: PricedTariff | undefined;

  async function load(reading: EntityManager, version: number): Promise<PricedTariff> {
    const { document } = await reading.findOneOrFail(TariffVersion, version);
    const { tariff, faults } = readTariff(document);
    if (faults !== undefined) {
      throw new Error(`tariff version ${version} in the database is not valid: ${faults[0]?.path}`);
    }
    const loaded = { version, pricing: createPricing(tariff) };
    if (version > (newest?.version ?? 0)) newest = loaded;
    return loaded;
  }

  async function byVersion(tx: EntityManager, version: number | null): Promise<PricedTariff> {
    if (version === null) throw noTariffError();
    return version === newest?.version ? newest : load(tx, version);
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
      return byVersion(tx, row.version);
    },
    byVersion,
    async refresh(client) {
      const { rows } = await client.query<{ version: number | null }>(
        "select max(version) as version from tariff_version",
      );
      const version = rows[0]?.version ?? 0;
      if (version > (newest?.version ?? 0)) await load(em.fork(), version);
    },
  };
}

function noTariffError(): Refusal {
  return unavailable("No tariff has been published yet; the operator publishes one.");
}
