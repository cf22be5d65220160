import type { Pricing } from "../../../domain/pricing/pricing.ts";
import type { PricedTariff } from "./tariff-cache.ts";

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
