import { Command, type Option } from "commander";
import { DEFAULT_SHARDS, distribute } from "../db/distribute.ts";
import { jsonOption, wholeNumber } from "./options.ts";
import { runCommand } from "./run-command.ts";

/** As many as Citus manages with ease. */
const MAX_SHARDS = 1_024;

interface Options {
  readonly shards: number;
  readonly json: boolean;
}

/** `distribute --shards N` */
export function distributeCommand(): Command {
  return new Command("distribute")
    .description("distribute the database over the worker nodes of its Citus cluster")
    .addOption(shardsOption())
    .addOption(jsonOption())
    .action(({ shards, json }: Options) =>
      runCommand(json, async (_em, _migrated, databaseUrl) => {
        const steps: string[] = [];
        await distribute(databaseUrl, shards, (step) => {
          steps.push(step);
          // Each takes as long as there is data: whoever waits sees how far it is.
          if (!json) process.stdout.write(`${step}\n`);
        });
        const end = steps.length === 0 ? "The database is distributed already." : "Done.";
        return { json: { steps }, lines: [end] };
      }),
    );
}

function shardsOption(): Option {
  const description = "into how many shards to divide workspaces, the first time";
  return wholeNumber("--shards <count>", description, [1, MAX_SHARDS]).default(DEFAULT_SHARDS);
}
