/** Settings from the environment. With the defaults, a complete run takes about an hour. */
export const SETTINGS = {
  /** Number of rounds. Each round measures all servers in turn. */
  rounds: fromEnvironment("BENCH_ROUNDS", 5),
  /** Duration of the load in each round, in seconds. */
  seconds: fromEnvironment("BENCH_SECONDS", 4),
  /** Duration of the steady load before memory is read, in seconds. */
  soakSeconds: fromEnvironment("BENCH_SOAK_SECONDS", 300),
  /**
   * Folder of a built clone of another version. Contests then compare both versions, each on its
   * own schema, instead of peers.
   */
  before: process.env["BENCH_BEFORE"],
} as const;

function fromEnvironment(name: string, usual: number): number {
  const text = process.env[name];
  if (text === undefined) return usual;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1_000_000) return value;
  throw new Error(`${name} must be a whole number from 1 to 1,000,000; it is ${text}`);
}
