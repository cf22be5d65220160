/** How many of a kind are counted, and how many of them are named. */
export const MAX_COUNTED = 100;
const MAX_NAMED = 10;
/** How long before its end a key needs attention, in milliseconds: 14 days. */
export const ENDING_MS = 14 * 24 * 60 * 60 * 1_000;

/** What is to be done of one kind, with the most urgent first; subjects lack what is unset. */
export interface Listed<Subject> {
  readonly kind: string;
  readonly subjects?: readonly Partial<Subject>[];
  /** As many as there are subjects when not given. */
  readonly count?: number;
}

/** What of all that is listed there is any of, with its count and the most urgent. */
export function attentionTo<Subject>(listed: readonly Listed<Subject>[]) {
  return listed
    .map(({ kind, subjects = [], count = subjects.length }) => ({
      kind,
      count: Math.min(count, MAX_COUNTED),
      subjects: subjects.slice(0, MAX_NAMED) as Subject[],
    }))
    .filter(({ count }) => count > 0);
}

/** SQL for a time as responses take it from rows: milliseconds since the epoch. */
export function msOf(time: string): string {
  return `(extract(epoch from ${time}) * 1000)::float8`;
}
