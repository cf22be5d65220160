import { figureOf, ratioOf, type Figure } from "./figure.ts";
import type { Round } from "./round.ts";

/** A Markdown table. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, columns.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** A contestant's name, and what its rounds saw; a sentence instead where it could not take part. */
export interface Standing {
  readonly name: string;
  readonly rounds: readonly Round[] | string;
}

const COLUMNS = ["requests/s", "median, ms", "p99, ms", "CPU, µs"];

/** The contestants under one load, ours first. */
export interface Contest {
  readonly load: string;
  readonly standings: readonly Standing[];
}

/**
 * The contestants of a case under one load after the other: how many times each one's rate ours
 * is, then the rates and times themselves.
 */
export function contestTable(contests: readonly Contest[]): string {
  const rows = contests.flatMap(({ load, standings }) => {
    const ours = standings[0]!.rounds as readonly Round[];
    return standings.map(({ name, rounds }, i) => [
      i === 0 ? load : "",
      name,
      ...(typeof rounds === "string"
        ? [rounds, ...COLUMNS.map(() => "")]
        : [i === 0 ? "" : spread(rateRatio(ours, rounds), 2), ...figuresOf(rounds)]),
    ]);
  });
  return table(["", "", "ours ÷ it", ...COLUMNS], rows);
}

/** How many times the rate of `others` the rate of `rounds` is. */
export function rateRatio(rounds: readonly Round[], others: readonly Round[]): Figure | undefined {
  return ratioOf(rounds.map(rateOf), others.map(rateOf));
}

const rateOf = (round: Round) => round.requestsPerSecond;

/** Rate, median, 99th percentile and processor time, as cells. */
export function figuresOf(rounds: readonly Round[]): string[] {
  return [
    spread(figureOf(rounds.map(rateOf)), 0),
    spread(figureOf(rounds.map((round) => round.medianMs)), 2),
    spread(figureOf(rounds.map((round) => round.p99Ms)), 2),
    spread(figureOf(rounds.map((round) => round.cpuMicros)), 0),
  ];
}

/** A figure as `median (min to max)`, with so many decimals. */
export function spread(figure: Figure | undefined, decimals: number): string {
  if (figure === undefined) return "n/a";
  const [median, min, max] = [figure.median, figure.min, figure.max].map((value) =>
    number(value, decimals),
  );
  return `**${median}** (${min} to ${max})`;
}

/** A number with thousands set apart; `n/a` for none. */
export function number(value: number | undefined, decimals: number): string {
  if (value === undefined) return "n/a";
  return value.toLocaleString("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}
