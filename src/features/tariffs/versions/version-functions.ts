import { create } from "@bufbuild/protobuf";
import { TariffSchedulesSchema } from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import {
  GetTariffVersionZonesResponseSchema,
  type TariffService,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { announceChange } from "../../../db/change-feed.ts";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { runSlowStatement, runStatement } from "../../../db/statement.ts";
import { Refusal, refuse, unavailable, type Violation } from "../../../domain/refusal.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { endPage, readPage } from "../../../pipeline/page.ts";
import type { ServiceFunctions } from "../../../pipeline/rpc.ts";
import { changesBetween, recordChange } from "../../audit/record-change.ts";
import { TaskTooLargeError, type CompareInput, type TariffTasks } from "../tasks/run-tariff-task.ts";
import { addVersion, lockPublishing } from "./add-version.ts";
import {
  loadVersion,
  loadVersionInForce,
  loadVersionsBelow,
  noTariffInForceError,
  versionMessage,
  versionNotFoundError,
  type VersionRow,
} from "./load-version.ts";
import { readDocument } from "./document-message.ts";
import { CHUNK_BYTES, zonesResponse, type LoadZones } from "./zones-document.ts";

export const VERSION_FUNCTIONS = {
  async getTariffInForce(_request, _call, { em }) {
    const row = await loadVersionInForce(em.fork());
    if (row === undefined) throw noTariffInForceError();
    return { data: versionMessage(row) };
  },

  async listTariffVersions(request, _call, { em }) {
    const page = readPage(request, FILTERS, toVersionNumber);
    const found = await loadVersionsBelow(em.fork(), page.after ?? MAX_VERSION, page.limit);
    const { rows, nextPageToken } = endPage(found, page, ({ version }) => [version], bytesOf);
    return { data: rows.map(versionMessage), nextPageToken };
  },

  async getTariffVersion({ version }, _call, { em }) {
    const row = await loadVersion(em.fork(), version);
    if (row === undefined) throw versionNotFoundError(version);
    return { data: versionMessage(row) };
  },

  async getTariffVersionZones({ version }, _call, { loadZones }) {
    const rows = await loadZones<ChunkRow>(SELECT_ZONES, version);
    const [first] = rows;
    if (first === undefined) throw versionNotFoundError(version);
    const chunks = rows.map(({ chunk }) => chunk);
    return zonesResponse(chunks, first.digest, (geojson) => create(GetTariffVersionZonesResponseSchema, { geojson }));
  },

  async getTariffVersionSchedules({ version }, _call, { em }) {
    const sql = "select fees from tariff_version where version = $1";
    const [row] = await runStatement<{ fees: object }>(em.fork(), sql, [version]);
    if (row === undefined) throw versionNotFoundError(version);
    return { data: readDocument(TariffSchedulesSchema, row.fees) };
  },

  async compareTariffVersions({ fromVersion, toVersion }, _call, { tasks }) {
    const versions = { from: fromVersion, to: toVersion };
    const { differences, unknown } = await tasks.run("compare", versions).catch((error: unknown) => {
      throw error instanceof TaskTooLargeError ? unavailable(TOO_LARGE_TOGETHER) : error;
    });
    if (unknown !== undefined) throw versionsNotFoundError(unknown, versions);
    return differences;
  },

  /** Publishes an earlier version again. Creates no version if it equals the tariff in force. */
  async rollBackTariff({ version: repeats, replaces, note, honoursQuotes = true }, call, { em }) {
    await lockPublishing(em);
    const repeated = await loadVersion(em, repeats);
    if (repeated === undefined) throw versionNotFoundError(repeats);
    const { row, added } = await addVersion(em, {
      replaces,
      digest: repeated.digest,
      async insert(version, replaced) {
        const { name: author } = call.caller;
        const values = [repeats, version, note ?? null, author, replaced, honoursQuotes];
        await runSlowStatement(em, INSERT_COPY, values);
      },
    });
    if (added) {
      const after = { repeats, note, replaces: row.replaces, honours_quotes: honoursQuotes };
      const changes = changesBetween({}, after);
      recordChange(em, call, { subject: `tariff_version/${row.version}`, changes });
    }
    return { data: versionMessage(row), published: added };
  },

  /** Cancels a scheduled version. Possible only before its effective time by the database's clock. */
  async callOffTariff({ version }, call, { em }) {
    await lockPublishing(em);
    const isCalledOff = (await runStatement(em, CALL_OFF, [version])).length > 0;
    const row = await loadVersion(em, version);
    if (row === undefined) throw versionNotFoundError(version);
    if (!isCalledOff) throw notScheduledError(row);
    await announceChange(em);
    const changes = changesBetween({}, { called_off_at: new Date(row.calledOffAtMs!) });
    recordChange(em, call, { subject: `tariff_version/${version}`, changes });
    return { data: versionMessage(row) };
  },
} satisfies Partial<
  ServiceFunctions<
    typeof TariffService,
    OperatorCall,
    DatabaseDeps & { readonly tasks: TariffTasks; readonly loadZones: LoadZones }
  >
>;

/** Scope of the list's page tokens. It has no filters. */
const FILTERS = { list: "tariff_versions" };
/** Maximum version number that PostgreSQL can store. */
const MAX_VERSION = 2 ** 31 - 1;

function toVersionNumber([version]: readonly unknown[]): number | undefined {
  const isVersion = Number.isInteger(version) && Math.abs(version as number) <= MAX_VERSION;
  return isVersion ? (version as number) : undefined;
}

/** Upper bound for the size of a version's other fields, in bytes. */
const OTHER_BYTES = 1_000;

/**
 * Returns an upper bound for the size of a version in a response, in bytes. Escaping can take six
 * bytes per character.
 */
function bytesOf({ fees, note, author }: VersionRow): number {
  const text = (note?.length ?? 0) + (author?.length ?? 0);
  return JSON.stringify(fees).length + 6 * text + OTHER_BYTES;
}

interface ChunkRow {
  readonly digest: string;
  readonly chunk: Buffer;
}

/**
 * Selects the zones of a version in chunks of their original text, which `json` preserves. Uses
 * `offset 0` so that PostgreSQL evaluates the text once, not once per chunk.
 */
const SELECT_ZONES = `
  select digest, substring(zones from start for ${CHUNK_BYTES}) as chunk
  from (
    select digest, convert_to((document -> 'zones')::text, 'UTF8') as zones
    from tariff_version where version = $1 offset 0
  ) as version, generate_series(1, octet_length(zones), ${CHUNK_BYTES}) as start
  order by start`;

const TOO_LARGE_TOGETHER = "The two versions are too large to be compared. Compare their zones with another tool.";

function versionsNotFoundError(unknown: readonly (keyof CompareInput)[], versions: CompareInput): Refusal {
  const violations = unknown.map((end): Violation => ({
    reason: "TARIFF_VERSION_NOT_FOUND",
    subject: `${end}_version`,
    text: `There is no tariff version ${versions[end]}.`,
  }));
  return new Refusal(violations);
}

const CALL_OFF = `
  update tariff_version set called_off_at = statement_timestamp()
  where version = $1 and effective_at > statement_timestamp() and called_off_at is null
  returning version`;

function notScheduledError({ version, state }: VersionRow) {
  const what = {
    scheduled: "is taking effect",
    in_force: "is in force",
    replaced: "was in force",
    called_off: "has already been cancelled",
  }[state];
  const text = `Version ${version} ${what}. Only a scheduled version can be cancelled.`;
  return refuse("TARIFF_NOT_SCHEDULED", text, { subject: "version" });
}

/** Copies a version, with its document, within the database. */
const INSERT_COPY = `
  insert into tariff_version
    (document, digest, version, note, published_at, effective_at, author, replaces, repeats, honours_quotes)
  select document, digest, $2::int, $3::text, date_trunc('milliseconds', statement_timestamp()),
    date_trunc('milliseconds', statement_timestamp()), $4::text, $5::int, version, $6::boolean
  from tariff_version where version = $1`;
