import { canonicalText } from "../canonical-text.ts";
import { clip } from "../clip.ts";

export interface Difference {
  readonly path: string;
  /** JSON text of the value, shortened if long. `undefined` if the value is absent. */
  readonly before?: string;
  readonly after?: string;
}

type Parts = ReadonlyMap<string, unknown>;

const MAX_DIFFERENCES = 1_000;
const SHOWN_CHARACTERS = 300;

/** Compares the schedules of two valid tariff documents. Schedules are matched by name, exceptions by date. */
export function compareSchedules(before: object, after: object): Difference[] {
  const from = partsOfDocument(before);
  const to = partsOfDocument(after);
  return comparePaths(from, to)
    .flatMap((path) => {
      const [one, other] = [from.get(path), to.get(path)];
      if (one === undefined || other === undefined) return [differenceAt(path, shown(one), shown(other))];
      return compareParts(path, partsOfSchedule(one), partsOfSchedule(other));
    })
    .slice(0, MAX_DIFFERENCES);
}

/** Returns `default_schedule` and each schedule by path. */
function partsOfDocument(document: object): Parts {
  const { default_schedule, schedules = [] } = document as {
    readonly default_schedule?: unknown;
    readonly schedules?: readonly { readonly name: string }[] | null;
  };
  return new Map<string, unknown>([
    ...(default_schedule ? [["default_schedule", default_schedule] as const] : []),
    ...(schedules ?? []).map((schedule) => [`schedules[${schedule.name}]`, schedule] as const),
  ]);
}

/** Returns the fields of a schedule and each of its exceptions by path. */
function partsOfSchedule(schedule: unknown): Parts {
  if (typeof schedule !== "object" || schedule === null) return new Map([["", schedule]]);
  const { exceptions, ...fields } = schedule as {
    readonly exceptions?: readonly { readonly date: string }[] | null;
  };
  return new Map<string, unknown>([
    ...Object.entries(fields).map(([name, value]) => [`.${name}`, value] as const),
    ...(exceptions ?? []).map((item) => [`.exceptions[${item.date}]`, item] as const),
  ]);
}

function comparePaths(from: Parts, to: Parts): string[] {
  const paths = new Set([...from.keys(), ...to.keys()]);
  return [...paths].filter((path) => textOf(from.get(path)) !== textOf(to.get(path)));
}

function compareParts(path: string, from: Parts, to: Parts): Difference[] {
  return comparePaths(from, to).map((part) => differenceAt(path + part, shown(from.get(part)), shown(to.get(part))));
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : canonicalText(value);
}

export function differenceAt(path: string, before: string | undefined, after: string | undefined): Difference {
  return {
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

function shown(value: unknown): string | undefined {
  return value === undefined ? undefined : clip(JSON.stringify(value), SHOWN_CHARACTERS);
}
