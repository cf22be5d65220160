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

/** Time for which the previous tariff is kept in memory, in milliseconds. */
const KEEP_PREVIOUS_MS = 10_000;

/** Creates the in-memory store of the tariffs in use: the current, the previous and the upcoming tariff. */
export function createLoadedTariffs(loadPricing: (version: number) => Promise<Pricing>) {
  const loads = new Map<number, Promise<PricedTariff>>();
  let newest: PricedTariff | undefined;
  let previous: PricedTariff | undefined;
  let upcoming: PricedTariff | undefined;

  const loadPriced = async (version: number) => ({ version, pricing: await loadPricing(version) });

  return {
    newest: () => newest,
    /** Loads a version, once for all concurrent callers. Resolves immediately if the version is in memory. */
    async load(version: number): Promise<PricedTariff> {
      const known = [newest, previous, upcoming].find((tariff) => tariff?.version === version);
      if (known !== undefined) return known;
      const loading = loads.get(version) ?? loadPriced(version).finally(() => loads.delete(version));
      loads.set(version, loading);
      return loading;
    },
    isLoading: (version: number) => loads.has(version),
    /**
     * Makes a tariff current. The previous one stays loaded for a while, for transactions that read it before the
     * change.
     */
    setCurrent(loaded: PricedTariff): void {
      const replaced = newest;
      newest = loaded;
      previous = replaced;
      const drop = () => {
        if (previous === replaced) previous = undefined;
      };
      setTimeout(drop, KEEP_PREVIOUS_MS).unref();
    },
    /** Returns the number of the scheduled version in memory, if any. */
    upcoming: () => upcoming?.version,
    /** Stores the scheduled tariff. `undefined` removes it. */
    keepUpcoming(loaded: PricedTariff | undefined): void {
      upcoming = loaded;
    },
  };
}

/**
 * Maximum size of a document that is loaded in this thread, in bytes as stored by PostgreSQL.
 * Loading then takes a few milliseconds, less than starting a worker.
 */
const MAX_BYTES_HERE = 32 * 1024;

/**
 * Loads a published version for quoting. For a large version, a worker thread with its own
 * connection reads, parses and indexes the document, so that this thread stays available for calls.
 * The worker then exits to free its memory. Validates only the fees again.
 *
 * @throws Error if the version does not exist or the database fails
 */
export async function loadTariff(em: EntityManager, tasks: TariffTasks, version: number): Promise<Pricing> {
  const document = await loadSmall(em, version);
  const { fees, indexed, zones } =
    document === undefined ? await tasks.runAtOnce("load", { version }) : indexTariff(document);
  return pricingOf({ fees, coverage: coverageOf(indexed), zones });
}

/** Loads the document of a version, or `undefined` if it is large. */
async function loadSmall(em: EntityManager, version: number): Promise<object | undefined> {
  // A load can be requested within a transaction but must not join it.
  const outside = em.fork({ disableContextResolution: true });
  const [row] = await runStatement<{ document: object | null }>(
    outside,
    "select case when pg_column_size(document) <= $1 then document end as document from tariff_version where version = $2",
    [MAX_BYTES_HERE, version],
  );
  if (row === undefined) throw new Error(`there is no tariff version ${version}`);
  return row.document ?? undefined;
}
