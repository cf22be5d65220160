import { SETTINGS } from "./settings.ts";

/** What one round of load saw. */
export interface Round {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** Processor time of the server for each request, in microseconds; undefined if not known. */
  readonly cpuMicros?: number | undefined;
}

/**
 * Measures each contestant once, then each once more, and so on, so that what disturbs the machine
 * for a while disturbs them alike.
 *
 * @returns the rounds of each, in the order of the contestants
 */
export async function interleave<C, R>(
  contestants: readonly C[],
  measure: (contestant: C) => Promise<R>,
): Promise<R[][]> {
  const rounds = contestants.map((): R[] => []);
  for (let round = 0; round < SETTINGS.rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      rounds[i]!.push(await measure(contestant));
    }
  }
  return rounds;
}
