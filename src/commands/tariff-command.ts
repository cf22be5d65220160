import { readFile, stat } from "node:fs/promises";
import { Command } from "commander";
import { publishTariff } from "../features/tariffs/publish-tariff.ts";
import { showTariff } from "../features/tariffs/show-tariff.ts";
import { jsonOption } from "./options.ts";
import { CommandRefused, runCommand } from "./run-command.ts";

/** How large a tariff file may be, in bytes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** `tariff publish <file> [--note TEXT]` and `tariff show` */
export function tariffCommand(): Command {
  const publish = new Command("publish")
    .description("check a tariff document and put it in force")
    .argument("<file>", "a JSON file")
    .option("--note <text>", "why, for those who read it later")
    .addOption(jsonOption())
    .action(async (file: string, { json, note }: { json: boolean; note?: string }) => {
      const document = await readJson(file);
      await runCommand(json, async (em) => {
        const published = await publishTariff(em, document, note);
        if (published.faults !== undefined) {
          const lines = published.faults.map(({ path, text }) => `${path}: ${text}`);
          throw new CommandRefused(lines.join("\n"));
        }
        const { version, zones, tiers } = published;
        return {
          json: { version, zones, tiers },
          lines: [`Version ${version} is in force: ${zones} zones, ${tiers} tiers.`],
        };
      });
    });
  const show = new Command("show")
    .description("print the tariff in force")
    .addOption(jsonOption())
    .action(({ json }: { json: boolean }) =>
      runCommand(json, async (em) => {
        const document = await showTariff(em);
        if (document === undefined) throw new CommandRefused("No tariff has been published yet.");
        return { json: document, lines: [JSON.stringify(document, null, 2)] };
      }),
    );
  return new Command("tariff")
    .description("what deliveries cost and where they go")
    .addCommand(publish)
    .addCommand(show);
}

async function readJson(file: string): Promise<unknown> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new CommandRefused(`${file} cannot be read: ${(error as Error).message}`);
  }
}
