import { DEFAULT_SHARDS, distribute } from "../db/citus/distribute.ts";
import { databaseCommand, wholeNumber } from "./command.ts";

/** Maximum number of shards that Citus recommends. */
const MAX_SHARDS = 1_024;

export const distributeCommand = databaseCommand<{ shards: number }>(
  "distribute",
  "distribute the database across the worker nodes of its Citus cluster",
  [wholeNumber("--shards <count>", "number of shards; only the first time", [1, MAX_SHARDS]).default(DEFAULT_SHARDS)],
  async ({ url }, { shards, json }) => {
    const steps: string[] = [];
    await distribute(url, shards, (step) => {
      steps.push(step);
      // Progress is printed, because the duration of a step grows with the amount of data.
      if (!json) process.stdout.write(`${step}\n`);
    });
    const end = steps.length === 0 ? "The database is already distributed." : "Done.";
    return { json: { steps }, lines: [end] };
  },
);
