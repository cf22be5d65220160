export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Formats the values of several rounds as `median (min to max)`. */
export function spread(values: readonly (number | undefined)[], decimals: number): string {
  if (values.length === 0 || values.includes(undefined)) return "n/a";
  const sorted = (values as number[]).toSorted((a, b) => a - b);
  const [median, least, most] = [quantile(sorted, 0.5), sorted[0], sorted.at(-1)].map((value) =>
    number(value, decimals),
  );
  return `**${median}** (${least} to ${most})`;
}

/** Formats each figure of several rounds with `spread`. */
export function spreads<Figure extends string>(
  rounds: readonly Readonly<Record<NoInfer<Figure>, number | undefined>>[],
  decimals: Readonly<Record<Figure, number>>,
): string[] {
  return (Object.keys(decimals) as Figure[]).map((figure) =>
    spread(
      rounds.map((round) => round[figure]),
      decimals[figure],
    ),
  );
}

/** Returns the ratio of each pair of values, `undefined` if either is unknown. */
export function ratios(
  values: readonly (number | undefined)[],
  others: readonly (number | undefined)[],
): (number | undefined)[] {
  return values.map((value, round) => {
    const other = others[round];
    return value === undefined || other === undefined ? undefined : value / other;
  });
}

/** Returns the quantile at `share` (0 to 1) of sorted values. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** Formats a number with thousands separators, `n/a` if unknown. */
export function number(value: number | undefined, decimals: number): string {
  if (value === undefined) return "n/a";
  return value.toLocaleString("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}
