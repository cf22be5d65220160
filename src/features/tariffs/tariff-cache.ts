import type { Client } from "pg";
import type { EntityManager } from "../../db/orm.ts";
import { createPricing, type Pricing } from "../../domain/pricing/pricing.ts";
import { unavailable } from "../../domain/refusal.ts";
import { readTariff } from "../../domain/pricing/tariff.ts";
import { TariffVersion } from "./tariff.entity.ts";

/** A published tariff, ready for quoting. */
export interface PricedTariff {
  readonly version: number;
  readonly pricing: Pricing;
}

/** The tariff in force, kept in memory. */
export interface TariffCache {
  /**
   * The newest version this process knows of, at most a second old while the database is there.
   *
   * @throws Refusal UNAVAILABLE while no tariff has been published
   */
  current(): PricedTariff;
  /** Its version, or undefined while there is none. */
  currentVersion(): number | undefined;
  /**
   * The version in force when the caller's transaction reads it, whatever is in memory.
   *
   * @throws Refusal UNAVAILABLE while no tariff has been published
   */
  inForce(em: EntityManager): Promise<PricedTariff>;
  /**
   * The version that the caller's transaction has read to be in force.
   *
   * @param version null while no tariff has been published
   * @throws Refusal UNAVAILABLE while no tariff has been published
   */
  readToBeInForce(em: EntityManager, version: number | null): Promise<PricedTariff>;
  /** Takes up a newer version if there is one. */
  refresh(client: Client): Promise<void>;
}

/** Keeps the tariff in force. Versions are immutable, so what was read once stays true. */
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

  async function readToBeInForce(tx: EntityManager, version: number | null): Promise<PricedTariff> {
    if (version === null) return refuseWithoutTariff();
    return version === newest?.version ? newest : load(tx, version);
  }

  return {
    current() {
      return newest ?? refuseWithoutTariff();
    },
    currentVersion: () => newest?.version,
    async inForce(tx) {
      const [row] = await tx.execute<[{ version: number | null }]>(
        "select max(version) as version from tariff_version",
      );
      return readToBeInForce(tx, row.version);
    },
    readToBeInForce,
    async refresh(client) {
      const { rows } = await client.query<{ version: number | null }>(
        "select max(version) as version from tariff_version",
      );
      const version = rows[0]?.version ?? 0;
      if (version > (newest?.version ?? 0)) await load(em.fork(), version);
    },
  };
}

function refuseWithoutTariff(): never {
  throw unavailable("No tariff has been published yet; the operator publishes one.");
}
