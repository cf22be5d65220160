import { clip } from "./clip.ts";

/** An error in a tariff: its path, such as `tiers[1].max_kg`, and a message that includes the fix. */
export interface TariffFault {
  readonly path: string;
  readonly text: string;
}

/** Collects errors in order, up to a limit. */
export type TariffFaults = ReturnType<typeof createTariffFaults>;

export function createTariffFaults(limit: number) {
  const list: TariffFault[] = [];
  return {
    list,
    limit,
    /** Whether the limit is reached and validation can stop. */
    get full() {
      return list.length >= limit;
    },
    add(path: string, text: string): void {
      if (list.length < limit) list.push({ path, text });
    },
  };
}

const SHOWN_CHARACTERS = 40;

/** Formats a value for an error message. Long texts are shortened. */
export function quoted(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value as number | boolean | null);
  return JSON.stringify(clip(value, SHOWN_CHARACTERS));
}

/** Whether a JSON value is an object, that is, neither a list nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
