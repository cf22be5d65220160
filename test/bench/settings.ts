/** How long the bench measures; with the defaults a whole run takes about an hour. */
export const SETTINGS = {
  /** Rounds of every server, one server after the other in each. */
  rounds: fromEnvironment("BENCH_ROUNDS", 5),
  /** Seconds of load in a round. */
  seconds: fromEnvironment("BENCH_SECONDS", 4),
  /** Seconds of steady load, after which memory is looked at. */
  soakSeconds: fromEnvironment("BENCH_SOAK_SECONDS", 300),
  /**
   * A clone of another version, built: contests of ours with peers are between the two instead, each on
   * tables of its own version.
   */
  before: process.env["BENCH_BEFORE"],
} as const;

function fromEnvironment(name: string, usual: number): number {
  const given = process.env[name];
  if (given === undefined) return usual;
  const value = Number(given);
  if (Number.isInteger(value) && value >= 1 && value <= 1_000_000) return value;
  throw new Error(`${name} must be a whole number from 1 to 1,000,000; it is ${given}`);
}
