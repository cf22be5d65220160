import { Code } from "@connectrpc/connect";
import type { TariffFault } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import type { Problem } from "../api/problem.ts";

/** What is wrong with a draft, and where. */
export interface DraftFault extends Pick<TariffFault, "path" | "text"> {
  /** The zone's place in the document; undefined for a fault of something else than one zone. */
  readonly index?: number | undefined;
}

/** The faults of a draft by where they are shown: with the zones, or with the fees and tiers. */
export type SortedFaults = Readonly<Record<"zones" | "fees", readonly DraftFault[]>>;

/** Sorts faults by their paths, such as `zones[3].geometry`. */
export function sortFaults(faults: readonly TariffFault[]): SortedFaults {
  return {
    fees: faults.filter((fault) => !isOfZones(fault)),
    zones: faults.filter(isOfZones).map(({ path, text }) => {
      const index = /^zones\[(\d+)\]/.exec(path)?.[1];
      return { path, text, index: index === undefined ? undefined : Number(index) };
    }),
  };
}

function isOfZones({ path }: DraftFault): boolean {
  return /^zones\b/.test(path);
}

/** Faults of fees as a form shows refusals: each at the field that has its path as name. */
export function problemOfFaults(fees: SortedFaults["fees"]): Problem | undefined {
  if (fees.length === 0) return undefined;
  const fields = Object.groupBy(fees, ({ path }) => path);
  return {
    message: "Fees or tiers have faults.",
    fields: Object.fromEntries(
      Object.entries(fields).map(([path, all]) => [path, all!.map(({ text }) => sentence(text))]),
    ),
    reason: undefined,
    facts: {},
    code: Code.FailedPrecondition,
  };
}

/** A refusal of a draft's request, with the names of its fields as those of the form are. */
export function problemOfDraft(problem: Problem): Problem {
  const fields = Object.entries(problem.fields).map(([name, texts]) => {
    return [withoutFees(name), texts.map(withoutFees)] as const;
  });
  return { ...problem, fields: Object.fromEntries(fields) };
}

function withoutFees(text: string): string {
  return text.replace(/^fees\./, "");
}

/** A fault's text on its own: `must be ...` becomes `Must be ....` */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
