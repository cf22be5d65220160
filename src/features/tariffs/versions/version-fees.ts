import { LRUCache } from "lru-cache";
import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { parseValidFees, type Fees } from "../../../domain/pricing/tariff.ts";

/** The fees of versions, also of those that were in force long ago; without their zones they are small. */
export interface VersionFees {
  /**
   * Gives the fees of versions; at once where they are in memory.
   *
   * @returns by version; none for one that there is not
   */
  of(versions: Iterable<number>): FeesByVersion | Promise<FeesByVersion>;
}

export type FeesByVersion = ReadonlyMap<number, Fees>;

/** How many tiers are kept, of some 100 bytes each; a version has few, 1,000 at most. */
const MAX_TIERS_KEPT = 100_000;

/** Without schedules, which can be large. As JSON, since PostgreSQL plans a list anew each time; see `FIND` of shipments. */
const SELECT = `
  select version, fees::jsonb - 'schedules' - 'default_schedule' as fees from tariff_version
  where version in (select json_array_elements_text($1)::int)`;

/** Builds the memory; versions never change. */
export function createVersionFees(em: EntityManager): VersionFees {
  const known = new LRUCache<number, Fees>({
    maxSize: MAX_TIERS_KEPT,
    sizeCalculation: ({ tiers }) => 1 + tiers.length,
  });

  async function load(found: Map<number, Fees>, missing: readonly number[]) {
    // Asked for within transactions, and not part of them: versions never change.
    const outside = em.fork({ disableContextResolution: true });
    const rows = await runStatement<{ version: number; fees: object }>(outside, SELECT, [
      JSON.stringify(missing),
    ]);
    for (const { version, fees } of rows) {
      const parsed = parseValidFees(fees);
      known.set(version, parsed);
      found.set(version, parsed);
    }
    return found;
  }

  return {
    of(versions) {
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
