/** Maximum number of issues that are counted per kind. */
export const MAX_COUNTED = 100;
const MAX_SUBJECTS = 10;
/** Time before expiry at which a key needs attention, in milliseconds. */
export const ENDING_MS = 14 * 24 * 60 * 60 * 1_000;

/** Open issues of one kind. Subjects are sorted by urgency. */
export interface Listed<Subject> {
  readonly kind: string;
  readonly subjects?: readonly Partial<Subject>[];
  /** Number of issues. Default: the number of subjects. */
  readonly count?: number;
}

/** Returns the kinds of issues that are open, with their number and most urgent subjects. */
export function attentionTo<Subject>(listed: readonly Listed<Subject>[]) {
  return listed
    .map(({ kind, subjects = [], count = subjects.length }) => ({
      kind,
      count: Math.min(count, MAX_COUNTED),
      subjects: subjects.slice(0, MAX_SUBJECTS) as Subject[],
    }))
    .filter(({ count }) => count > 0);
}

/** Returns SQL that converts a time to milliseconds since the epoch. */
export function msOf(time: string): string {
  return `(extract(epoch from ${time}) * 1000)::float8`;
}
