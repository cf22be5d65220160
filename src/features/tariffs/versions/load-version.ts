import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  TariffVersionSchema,
  TariffVersionState,
  type TariffVersion as TariffVersionMessage,
} from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { feesMessage } from "./fees-message.ts";
import { AFTER_IN_FORCE, VERSION_IN_FORCE } from "./version-in-force.ts";

/** A version without its zones, as it is by the database's clock. */
export interface VersionRow {
  readonly version: number;
  readonly state: "scheduled" | "in_force" | "replaced" | "called_off";
  /** The document without its zones. */
  readonly fees: object;
  readonly zones: number;
  readonly note: string | null;
  readonly author: string | null;
  readonly replaces: number | null;
  readonly repeats: number | null;
  /** Milliseconds since the epoch, as are all times here. */
  readonly publishedAtMs: number;
  readonly effectiveAtMs: number;
  readonly calledOffAtMs: number | null;
}

const SELECT_VERSIONS = `
  select version, fees, zone_count as zones, note, author, replaces, repeats,
    case when called_off_at is not null then 'called_off'
      when effective_at > statement_timestamp() then 'scheduled'
      when version = ${VERSION_IN_FORCE} then 'in_force'
      else 'replaced' end as state,
    (extract(epoch from published_at) * 1000)::float8 as "publishedAtMs",
    (extract(epoch from effective_at) * 1000)::float8 as "effectiveAtMs",
    (extract(epoch from called_off_at) * 1000)::float8 as "calledOffAtMs"
  from tariff_version`;

/** Reads a version; undefined when there is no such version. */
export async function readVersion(
  em: EntityManager,
  version: number,
): Promise<VersionRow | undefined> {
  const [row] = await runStatement<VersionRow>(em, READ_ONE, [version]);
  return row;
}

const READ_ONE = `${SELECT_VERSIONS} where version = $1`;

/** Reads the version in force; undefined while there is none. */
export async function readVersionInForce(em: EntityManager): Promise<VersionRow | undefined> {
  const [row] = await runStatement<VersionRow>(em, READ_IN_FORCE, []);
  return row;
}

const READ_IN_FORCE = `${SELECT_VERSIONS} where version = ${VERSION_IN_FORCE}`;

/** Reads the version that waits for its time; undefined when none does. There is one at most. */
export async function readScheduled(em: EntityManager): Promise<VersionRow | undefined> {
  const [row] = await runStatement<VersionRow>(em, READ_SCHEDULED, []);
  return row;
}

const READ_SCHEDULED = `${SELECT_VERSIONS}
  where effective_at > statement_timestamp() and called_off_at is null and ${AFTER_IN_FORCE}
  order by version limit 1`;

/** Reads up to `limit` versions below one, the highest first. */
export function readVersionsBelow(
  em: EntityManager,
  version: number,
  limit: number,
): Promise<VersionRow[]> {
  return runStatement<VersionRow>(em, READ_BELOW, [version, limit]);
}

const READ_BELOW = `${SELECT_VERSIONS} where version < $1 order by version desc limit $2`;

const STATE = {
  scheduled: TariffVersionState.SCHEDULED,
  in_force: TariffVersionState.IN_FORCE,
  replaced: TariffVersionState.REPLACED,
  called_off: TariffVersionState.CALLED_OFF,
} as const;

/** A version as callers see it. */
export function versionMessage(row: VersionRow): TariffVersionMessage {
  const { calledOffAtMs } = row;
  return create(TariffVersionSchema, {
    version: row.version,
    state: STATE[row.state],
    fees: feesMessage(row.fees),
    zones: row.zones,
    note: row.note ?? undefined,
    author: row.author ?? undefined,
    replaces: row.replaces ?? undefined,
    repeats: row.repeats ?? undefined,
    publishedAt: timestampFromMs(row.publishedAtMs),
    effectiveAt: timestampFromMs(row.effectiveAtMs),
    calledOffAt: calledOffAtMs === null ? undefined : timestampFromMs(calledOffAtMs),
  });
}
