/** Durations. A complete run takes about an hour with the defaults. */
export const SETTINGS = {
  /** Rounds, each with all servers in turn. */
  rounds: fromEnvironment("BENCH_ROUNDS", 5),
  /** Seconds of load per round. */
  seconds: fromEnvironment("BENCH_SECONDS", 4),
  /** Seconds of steady load before memory is read. */
  soakSeconds: fromEnvironment("BENCH_SOAK_SECONDS", 300),
  /**
   * A built clone of another version. Contests then compare the two versions, each on its own
   * schema, instead of peers.
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
