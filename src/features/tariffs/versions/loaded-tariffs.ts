import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { coverageOf } from "../../../domain/coverage/coverage.ts";
import { pricingOf, type Pricing } from "../../../domain/pricing/pricing.ts";
import type { TariffTasks } from "../tasks/run-tariff-task.ts";
import { indexTariff } from "../tasks/tariff-tasks.ts";

export interface PricedTariff {
  readonly version: number;
  readonly pricing: Pricing;
}

/** How long the tariff before the newest is kept. */
const KEEP_PREVIOUS_MS = 10_000;

/** Builds the memory for the few tariffs that a process has in use, empty. */
export function createLoadedTariffs(loadPricing: (version: number) => Promise<Pricing>) {
  const loads = new Map<number, Promise<PricedTariff>>();
  let newest: PricedTariff | undefined;
  let previous: PricedTariff | undefined;
  let upcoming: PricedTariff | undefined;

  const loadPriced = async (version: number) => ({ version, pricing: await loadPricing(version) });

  return {
    newest: () => newest,
    /** Loads a version once, however many wait for it; at once when it is in memory. */
    async load(version: number): Promise<PricedTariff> {
      const known = [newest, previous, upcoming].find((tariff) => tariff?.version === version);
      if (known !== undefined) return known;
      const loading =
        loads.get(version) ?? loadPriced(version).finally(() => loads.delete(version));
      loads.set(version, loading);
      return loading;
    },
    isLoading: (version: number) => loads.has(version),
    /** Puts a tariff in use; the one before is kept for transactions that have read it as in force. */
    use(loaded: PricedTariff): void {
      const replaced = newest;
      newest = loaded;
      previous = replaced;
      const drop = () => {
        if (previous === replaced) previous = undefined;
      };
      setTimeout(drop, KEEP_PREVIOUS_MS).unref();
    },
    /** The version that is kept because it takes effect soon. */
    upcoming: () => upcoming?.version,
    /** Keeps a tariff that takes effect soon, in the place of the one that did; undefined for none. */
    keepUpcoming(loaded: PricedTariff | undefined): void {
      upcoming = loaded;
    },
  };
}

/**
 * How large a document may be, in bytes as PostgreSQL stores it, to be loaded in this thread. It takes
 * some milliseconds; a worker takes longer to start.
 */
const MAX_BYTES_HERE = 32 * 1024;

/**
 * Loads a published version for quoting. A large one is read, parsed and indexed in a worker thread,
 * on a connection of its own, so that calls go on meanwhile; the worker then ends, and returns its
 * memory. Nothing is checked again but the fees.
 *
 * @throws when there is no such version or the database does not give it
 */
export async function loadTariff(
  em: EntityManager,
  tasks: TariffTasks,
  version: number,
): Promise<Pricing> {
  const document = await loadSmall(em, version);
  const { fees, indexed, zones } =
    document === undefined ? await tasks.runAtOnce("load", { version }) : indexTariff(document);
  return pricingOf({ fees, coverage: coverageOf(indexed), zones });
}

/** The document of a version; undefined when it is large. */
async function loadSmall(em: EntityManager, version: number): Promise<object | undefined> {
  // Loads are asked for within transactions, and are not part of them.
  const outside = em.fork({ disableContextResolution: true });
  const [row] = await runStatement<{ document: object | null }>(
    outside,
    "select case when pg_column_size(document) <= $1 then document end as document from tariff_version where version = $2",
    [MAX_BYTES_HERE, version],
  );
  if (row === undefined) throw new Error(`there is no tariff version ${version}`);
  return row.document ?? undefined;
}
