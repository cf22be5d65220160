import { LRUCache } from "lru-cache";
import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { parseValidFees, type Fees } from "../../../domain/pricing/tariff.ts";

/** Lookup of the fees of any version, including old ones. */
export type VersionFees = ReturnType<typeof createVersionFees>;

type FeesByVersion = ReadonlyMap<number, Fees>;

/** Maximum number of cached tiers, at about 100 bytes each. A version has at most 1,000. */
const MAX_TIERS_KEPT = 100_000;

/**
 * Selects fees without schedules, which can be large. The versions are passed as JSON, because PostgreSQL would create
 * a new plan for each array. See `FIND` in `find-shipment.ts`.
 */
const SELECT = `
  select version, fees::jsonb - 'schedules' - 'default_schedule' as fees from tariff_version
  where version in (select json_array_elements_text($1)::int)`;

/** Creates the cache. Entries never become stale, because versions are immutable. */
export function createVersionFees(em: EntityManager) {
  const known = new LRUCache<number, Fees>({
    maxSize: MAX_TIERS_KEPT,
    sizeCalculation: ({ tiers }) => 1 + tiers.length,
  });

  async function load(found: Map<number, Fees>, missing: readonly number[]) {
    // A load can be requested within a transaction but must not join it.
    const outside = em.fork({ disableContextResolution: true });
    const rows = await runStatement<{ version: number; fees: object }>(outside, SELECT, [JSON.stringify(missing)]);
    for (const { version, fees } of rows) {
      const parsed = parseValidFees(fees);
      known.set(version, parsed);
      found.set(version, parsed);
    }
    return found;
  }

  return {
    /**
     * Returns the fees of versions, synchronously if they are all in memory. Versions that do not exist are omitted.
     */
    of(versions: Iterable<number>): FeesByVersion | Promise<FeesByVersion> {
      const found = new Map<number, Fees>();
      const missing: number[] = [];
      for (const version of new Set(versions)) {
        const fees = known.get(version);
        if (fees === undefined) missing.push(version);
        else found.set(version, fees);
      }
      return missing.length === 0 ? found : load(found, missing);
    },
  };
}
