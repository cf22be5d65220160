/** One figure as several rounds saw it. */
export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The middle of what the rounds saw, the least and the most; undefined if one saw nothing. */
export function figureOf(values: readonly (number | undefined)[]): Figure | undefined {
  if (values.length === 0 || values.includes(undefined)) return undefined;
  const sorted = (values as number[]).toSorted((a, b) => a - b);
  return { median: quantile(sorted, 0.5), min: sorted[0]!, max: sorted.at(-1)! };
}

/** How many times the other each value is, round by round. */
export function ratioOf(values: readonly number[], others: readonly number[]): Figure | undefined {
  return figureOf(values.map((value, round) => value / others[round]!));
}

/** The value that this share of sorted values, from 0 to 1, is not above. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
