import type { EntityManager } from "../../../db/orm.ts";
import { coverageOf } from "../../../domain/coverage/coverage.ts";
import { pricingOf, type Pricing } from "../../../domain/pricing/pricing.ts";
import type { TariffTasks } from "../tasks/run-tariff-task.ts";
import { indexTariff } from "../tasks/version-tasks.ts";

/** A published tariff, ready for quoting. */
export interface PricedTariff {
  readonly version: number;
  readonly pricing: Pricing;
}

/** The few tariffs that a process has in memory. */
export interface LoadedTariffs {
  /** The one in use. */
  newest(): PricedTariff | undefined;
  /** Loads a version once, however many wait for it; at once when it is in memory. */
  load(version: number): Promise<PricedTariff>;
  isLoading(version: number): boolean;
  /** Puts a tariff in use; the one before is kept for transactions that have read it as in force. */
  use(loaded: PricedTariff): void;
  /** The version that is kept because it takes effect soon. */
  upcoming(): number | undefined;
  /** Keeps a tariff that takes effect soon, in the place of the one that did; undefined for none. */
  keepUpcoming(loaded: PricedTariff | undefined): void;
}

/** How long the tariff before the newest is kept, in milliseconds. */
const KEEP_PREVIOUS_MS = 10_000;

/** Builds the memory, empty. */
export function createLoadedTariffs(
  readPricing: (version: number) => Promise<Pricing>,
): LoadedTariffs {
  const read = async (version: number) => ({ version, pricing: await readPricing(version) });
  const loads = new Map<number, Promise<PricedTariff>>();
  let newest: PricedTariff | undefined;
  let previous: PricedTariff | undefined;
  let upcoming: PricedTariff | undefined;
  return {
    newest: () => newest,
    async load(version) {
      const known = [newest, previous, upcoming].find((it) => it?.version === version);
      if (known !== undefined) return known;
      const loading = loads.get(version) ?? read(version).finally(() => loads.delete(version));
      loads.set(version, loading);
      return loading;
    },
    isLoading: (version) => loads.has(version),
    use(loaded) {
      const replaced = newest;
      newest = loaded;
      previous = replaced;
      const drop = () => {
        if (previous === replaced) previous = undefined;
      };
      setTimeout(drop, KEEP_PREVIOUS_MS).unref();
    },
    upcoming: () => upcoming?.version,
    keepUpcoming(loaded) {
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
  const { fees, indexed } =
    document === undefined ? await tasks.runAtOnce("load", { version }) : indexTariff(document);
  return pricingOf(fees, coverageOf(indexed));
}

/** The document of a version; undefined when it is large. */
async function loadSmall(em: EntityManager, version: number): Promise<object | undefined> {
  // Loads are asked for within transactions, and are not part of them.
  const outside = em.fork({ disableContextResolution: true });
  const [row] = await outside.execute<{ document: object | null }[]>(
    "select case when pg_column_size(document) <= ? then document end as document from tariff_version where version = ?",
    [MAX_BYTES_HERE, version],
  );
  if (row === undefined) throw new Error(`there is no tariff version ${version}`);
  return row.document ?? undefined;
}
