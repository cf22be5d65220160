/** Maximum number of items that are counted and named per kind. */
export const MAX_COUNTED = 100;
const MAX_NAMED = 10;
/** Time before its expiry at which a key needs attention, in milliseconds: 14 days. */
export const ENDING_MS = 14 * 24 * 60 * 60 * 1_000;

/** Open issues of one kind, most urgent first. Subjects omit unset fields. */
export interface Listed<Subject> {
  readonly kind: string;
  readonly subjects?: readonly Partial<Subject>[];
  /** Defaults to the number of subjects. */
  readonly count?: number;
}

/** Returns the kinds that have open issues, with their count and the most urgent subject. */
export function attentionTo<Subject>(listed: readonly Listed<Subject>[]) {
  return listed
    .map(({ kind, subjects = [], count = subjects.length }) => ({
      kind,
      count: Math.min(count, MAX_COUNTED),
      subjects: subjects.slice(0, MAX_NAMED) as Subject[],
    }))
    .filter(({ count }) => count > 0);
}

/** Returns SQL for a time in rows for responses: milliseconds since the epoch. */
export function msOf(time: string): string {
  return `(extract(epoch from ${time}) * 1000)::float8`;
}
