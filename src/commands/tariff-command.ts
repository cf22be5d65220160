import { basename } from "node:path";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Command, InvalidArgumentError, type Option } from "commander";
import { TariffVersionState, type TariffVersion } from "../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import { Refusal } from "../domain/refusal.ts";
import { publishDocument } from "../features/tariffs/drafts/publish-document.ts";
import { createTariffTasks } from "../features/tariffs/tasks/run-tariff-task.ts";
import {
  loadPublishedTariff,
  loadVersionInForce,
} from "../features/tariffs/versions/load-version.ts";
import { callRpc, commandLineCall, listAll } from "./command-line-call.ts";
import { holidaysCommand } from "./holidays-command.ts";
import { jsonOption, option, parseWholeNumber } from "./options.ts";
import { readTariffFile } from "./read-tariff-file.ts";
import { CommandRefused, runCommand, type CommandResult } from "./run-command.ts";

const { method } = TariffService;

/** How long the name of a draft and a note may be, in characters. */
const MAX_NAME_LENGTH = 100;
const MAX_NOTE_LENGTH = 1_000;
/** How many versions are read at a time. */
const PAGE_SIZE = 100;

/**
 * `tariff publish <file> [--note TEXT] [--void-quotes]`, `tariff show`, `tariff list`,
 * `tariff roll-back --version N [--note TEXT] [--void-quotes]` and `tariff holidays <file>`
 */
export function tariffCommand(): Command {
  return new Command("tariff")
    .description("what deliveries cost and where they go")
    .addCommand(publishCommand())
    .addCommand(showCommand())
    .addCommand(listCommand())
    .addCommand(rollBackCommand())
    .addCommand(holidaysCommand());
}

function publishCommand(): Command {
  return new Command("publish")
    .description("check a tariff document and put it in force")
    .argument("<file>", "a JSON file")
    .option("--note <text>", "why, for those who read it later", readNote)
    .addOption(voidQuotesOption())
    .addOption(jsonOption())
    .action(async (file: string, options: PublishOptions) => {
      const { json, note, voidQuotes } = options;
      const document = await readTariffFile(file);
      const name = basename(file).slice(0, MAX_NAME_LENGTH);
      await runCommand(json, async (em, _, databaseUrl) => {
        const deps = { em, tasks: createTariffTasks(databaseUrl), now: () => new Date() };
        const { data } = await orRefused(
          publishDocument(deps, {
            document,
            name,
            note,
            honoursQuotes: !voidQuotes,
            callOf: commandLineCall,
          }),
        );
        return publication(data!);
      });
    });
}

/** What publishing and rolling back take. */
interface PublishOptions {
  readonly note?: string;
  readonly voidQuotes?: true;
  readonly json: boolean;
}

function voidQuotesOption(): Option {
  return option("--void-quotes", "refuse bookings by quotes that were made before");
}

function showCommand(): Command {
  return new Command("show")
    .description("print the tariff in force")
    .addOption(jsonOption())
    .action(({ json }: { json: boolean }) =>
      runCommand(json, async (em) => {
        const document = await loadPublishedTariff(em);
        if (document === undefined) throw new CommandRefused("No tariff has been published yet.");
        return { json: document, lines: [JSON.stringify(document, null, 2)] };
      }),
    );
}

function listCommand(): Command {
  return new Command("list")
    .description("list the versions, the newest first")
    .addOption(jsonOption())
    .action(({ json }: { json: boolean }) =>
      runCommand(json, async (em) => {
        const all = await listAll((pageToken) =>
          callRpc(em, method.listTariffVersions, { pageSize: PAGE_SIZE, pageToken }),
        );
        const versions = all.map(listed);
        const lines = versions.map((it) =>
          [it.version, it.state, it.effective_at, `${it.zones} zones`, it.author, it.note]
            .filter((part) => part !== null)
            .join("  "),
        );
        return { json: { versions }, lines: lines.length === 0 ? ["No versions yet."] : lines };
      }),
    );
}

function rollBackCommand(): Command {
  return new Command("roll-back")
    .description("publish an earlier version again, as the next one")
    .requiredOption("--version <number>", "the version to repeat", (text) =>
      parseWholeNumber(text, 1, 2 ** 31 - 1),
    )
    .option("--note <text>", "why, for those who read it later", readNote)
    .addOption(voidQuotesOption())
    .addOption(jsonOption())
    .action((options: PublishOptions & { readonly version: number }) =>
      runCommand(options.json, async (em) => {
        const { version, note, voidQuotes } = options;
        const honoursQuotes = !voidQuotes;
        const replaces = (await loadVersionInForce(em.fork()))?.version ?? 0;
        const fields = { version, replaces, note, honoursQuotes };
        const { data } = await orRefused(callRpc(em, method.rollBackTariff, fields));
        return publication(data!);
      }),
    );
}

/** What is printed of the version that is in force now. */
function publication({ version, zones, fees }: TariffVersion): CommandResult {
  const tiers = fees!.tiers.length;
  return {
    json: { version, zones, tiers },
    lines: [`Version ${version} is in force: ${zones} zones, ${tiers} tiers.`],
  };
}

/** Waits for a publication; a refusal names each fault by its path, or says why. */
async function orRefused<T>(publishing: Promise<T>): Promise<T> {
  try {
    return await publishing;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const lines = error.violations.map(({ reason, subject, text }) =>
      reason === "TARIFF_FAULTY" ? text.replace(`${subject} `, `${subject}: `) : text,
    );
    throw new CommandRefused(lines.join("\n"));
  }
}

function listed(row: TariffVersion) {
  const { version, state, zones, note = null, author = null, effectiveAt } = row;
  return {
    version,
    state: TariffVersionState[state].toLowerCase(),
    zones,
    tiers: row.fees!.tiers.length,
    note,
    author,
    repeats: row.repeats ?? null,
    effective_at: timestampDate(effectiveAt!).toISOString(),
  };
}

function readNote(text: string): string {
  const note = text.trim();
  if (note.length <= MAX_NOTE_LENGTH) return note;
  throw new InvalidArgumentError(`It must have at most ${MAX_NOTE_LENGTH} characters.`);
}
