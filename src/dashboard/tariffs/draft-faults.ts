import { Code } from "@connectrpc/connect";
import type { TariffFault } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import type { Problem } from "../api/problem.ts";
import type { LatLng } from "../map/map-geometry.ts";
import { partLabel } from "./schedule-words.ts";

export interface DraftFault extends Pick<TariffFault, "path" | "text"> {
  /** Index of the zone in the document, or `undefined` if the fault is not about a single zone. */
  readonly index?: number | undefined;
  /** Position that the fault names, or `undefined` if it names none. */
  readonly point?: LatLng | undefined;
}

/** A draft's faults by section: zones, schedules, or fees and tiers. */
export type SortedFaults = Readonly<Record<"zones" | "schedules" | "fees", readonly DraftFault[]>>;

/** Groups faults by section, based on their paths, such as `zones[3].geometry`. */
export function sortFaults(faults: readonly TariffFault[]): SortedFaults {
  return {
    fees: faults.filter((fault) => !isOfZones(fault) && !isOfSchedules(fault)),
    schedules: faults.filter(isOfSchedules),
    zones: faults.filter(isOfZones).map(({ path, text }) => {
      const index = /^zones\[(\d+)\]/.exec(path)?.[1];
      const [, lng, lat] = /\[(-?[\d.e-]+), (-?[\d.e-]+)\]/.exec(text) ?? [];
      const point = lat === undefined ? undefined : { lat: Number(lat), lng: Number(lng) };
      return { path, text, index: index === undefined ? undefined : Number(index), point };
    }),
  };
}

function isOfZones({ path }: DraftFault): boolean {
  return /^zones\b/.test(path);
}

function isOfSchedules({ path }: DraftFault): boolean {
  return /^(schedules|default_schedule)\b/.test(path);
}

/** Converts faults to a form problem, with each fault at the field that its path names. */
export function problemOfFaults(faults: readonly DraftFault[]): Problem | undefined {
  if (faults.length === 0) return undefined;
  const fields = Object.groupBy(faults, ({ path }) => path);
  return {
    message: "The draft has errors.",
    fields: Object.fromEntries(
      Object.entries(fields).map(([path, all]) => [path, all!.map(({ text }) => sentence(text))]),
    ),
    reason: undefined,
    facts: {},
    code: Code.FailedPrecondition,
  };
}

/** Converts field names in a refusal of a draft to the form's names. */
export function problemOfDraft(problem: Problem): Problem {
  const fields = Object.entries(problem.fields).map(([name, texts]) => {
    return [withoutPart(name), texts.map(withoutPart)] as const;
  });
  return { ...problem, fields: Object.fromEntries(fields) };
}

function withoutPart(text: string): string {
  return text.replace(/^(fees|schedules)\.(?=\w)/, "");
}

/** Converts a fault's text to a sentence: `must be ...` becomes `Must be ...`. Drops the advice to use quotes. */
export function sentence(text: string): string {
  const plain = text.replace(" in quotes, such as", ", such as");
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`;
}

const PARTS: Readonly<Record<string, string>> = {
  currency: "Currency",
  base_fee: "Minimum charge",
  rate_per_km: "Charge per kilometer",
  tiers: "Weight tier",
  schedules: "Schedule",
  default_schedule: "Default schedule",
  zones: "Zone",
  min_kg: "start",
  max_kg: "limit",
  flat_fee: "flat fee",
  rate_per_kg: "charge per kg",
};

/** Returns the label of a fault's path: `tiers[0].max_kg` becomes `Weight tier 1, limit`. */
export function pathText(path: string): string {
  const [, list = path, index, field] = /^(\w+)(?:\[(\d+)\](?:\.(\w+))?)?/.exec(path) ?? [];
  const what = PARTS[list] ?? "Tariff";
  if (index === undefined) return ["tiers", "schedules", "zones"].includes(list) ? `${what}s` : what;
  const part = field && (list === "schedules" ? partLabel(`.${field}`).toLowerCase() : PARTS[field]);
  return `${what} ${Number(index) + 1}${part ? `, ${part}` : ""}`;
}
