import { basename } from "node:path";
import { Option } from "commander";
import { TariffService } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import { publishDocument } from "../features/tariffs/drafts/publish-document.ts";
import { createTariffTasks } from "../features/tariffs/tasks/run-tariff-task.ts";
import { loadPublishedTariff, loadVersionInForce } from "../features/tariffs/versions/load-version.ts";
import { CommandRefused, commandGroup, databaseCommand } from "./command.ts";
import { holidaysCommand } from "./holidays-command.ts";
import { readTariffFile } from "./read-tariff-file.ts";
import { callRpc, commandLineCall, fieldOption, pick, rpcCommand } from "./rpc-command.ts";

const { method } = TariffService;
const { field } = method.rollBackTariff.input;

const MAX_NAME_LENGTH = 100;

interface PublishOptions {
  readonly note?: string;
  readonly voidQuotes?: true;
}

const publishOptions = () => [
  fieldOption(field.note, "--note <text>", "reason for the version"),
  new Option("--void-quotes", "refuse bookings with earlier quotes"),
];

export const tariffCommand = commandGroup(
  "tariff",
  "prices and coverage zones",
  databaseCommand<PublishOptions>(
    "publish <file>",
    "check a tariff document and publish it",
    publishOptions(),
    async ({ em, url }, { note, voidQuotes }, file) => {
      const document = await readTariffFile(file);
      const { data } = await publishDocument(
        { em, tasks: createTariffTasks(url), now: () => new Date() },
        {
          document,
          name: basename(file).slice(0, MAX_NAME_LENGTH),
          note,
          honoursQuotes: !voidQuotes,
          callOf: commandLineCall,
        },
      );
      return inForce(data!.version, data!.zones, data!.fees!.tiers);
    },
  ),
  databaseCommand("show", "print the tariff in force", [], async ({ em }) => {
    const document = await loadPublishedTariff(em);
    if (document === undefined) throw new CommandRefused("No tariff has been published yet.");
    return { json: document, lines: [JSON.stringify(document, null, 2)] };
  }),
  rpcCommand("list", "list the versions, the newest first", method.listTariffVersions, {}, ({ data }) => ({
    json: {
      versions: data.map((it) => ({
        ...pick(it, "version", "state", "zones", "note", "author", "repeats", "effective_at"),
        tiers: it.fees!.tiers.length,
      })),
    },
    lines:
      data.length === 0
        ? ["No versions yet."]
        : data.map((it) =>
            [it.version, it.state, it.effective_at, `${it.zones} zones`, it.author, it.note]
              .filter((part) => part !== null)
              .join("  "),
          ),
  })),
  databaseCommand<PublishOptions & { readonly version: number }>(
    "roll-back",
    "publish an earlier version again, as the next version",
    [fieldOption(field.version, "--version <number>", "the version to publish again"), ...publishOptions()],
    async ({ em }, { version, note, voidQuotes }) => {
      const replaces = (await loadVersionInForce(em.fork()))?.version ?? 0;
      const fields = { version, replaces, note, honours_quotes: !voidQuotes };
      const { data } = await callRpc(em, method.rollBackTariff, fields);
      return inForce(data!.version, data!.zones, data!.fees!.tiers);
    },
  ),
  holidaysCommand,
);

function inForce(version: number, zones: number, { length: tiers }: readonly unknown[]) {
  return {
    json: { version, zones, tiers },
    lines: [`Version ${version} is in force: ${zones} zones, ${tiers} tiers.`],
  };
}
