import { clip } from "./clip.ts";

/** One thing wrong with a tariff: where, as in `tiers[1].max_kg`, and what, with the fix. */
export interface TariffFault {
  readonly path: string;
  readonly text: string;
}

/** Collects faults in the order they are found, up to a bound. */
export interface TariffFaults {
  readonly list: readonly TariffFault[];
  /** How many it keeps. */
  readonly limit: number;
  /** Whether the bound is reached, so that looking further is of no use. */
  readonly full: boolean;
  add(path: string, text: string): void;
}

/** An empty collection that keeps the first `limit` faults and drops the rest. */
export function createTariffFaults(limit: number): TariffFaults {
  const list: TariffFault[] = [];
  return {
    list,
    limit,
    get full() {
      return list.length >= limit;
    },
    add(path, text) {
      if (list.length < limit) list.push({ path, text });
    },
  };
}

const SHOWN_CHARACTERS = 40;

/** A value as a fault quotes it: short whatever its size. */
export function quoted(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value as number | boolean | null);
  return JSON.stringify(clip(value, SHOWN_CHARACTERS));
}

/** Whether a JSON value is an object, neither a list nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
