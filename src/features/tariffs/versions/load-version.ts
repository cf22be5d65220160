import {
  TariffFeesSchema,
  TariffVersionSchema,
  type TariffVersion as TariffVersionMessage,
} from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { refuse, type Refusal } from "../../../domain/refusal.ts";
import { compileToMessage } from "../../../json/records.ts";
import { readDocument } from "./document-message.ts";

/**
 * SQL for the number of the version in force by the database's clock, or null. It is the highest
 * version that has taken effect and was not cancelled. All replicas and bookings use it. Uses the
 * time of the statement, because the transaction may have begun before a version was published.
 */
export const VERSION_IN_FORCE = `(
  select max(version) from tariff_version
  where effective_at <= statement_timestamp() and called_off_at is null)`;

/**
 * SQL condition for versions that can be the scheduled version. It is always above the version in
 * force, because no version can be published while one is scheduled.
 */
export const AFTER_IN_FORCE = `version > coalesce(${VERSION_IN_FORCE}, 0)`;

/** A version without its zones, as of a time by the database's clock. */
export interface VersionRow {
  readonly version: number;
  readonly state: "scheduled" | "in_force" | "replaced" | "called_off";
  /** SHA-256 of the document's canonical text, in base64url. */
  readonly digest: string;
  /** The document without its zones and schedules. */
  readonly fees: object;
  readonly zones: number;
  readonly note: string | null;
  readonly author: string | null;
  readonly replaces: number | null;
  readonly repeats: number | null;
  /** Whether quotes from before the effective time keep their price. */
  readonly honoursQuotes: boolean;
  /** Publishing time in milliseconds since the epoch. */
  readonly publishedAtMs: number;
  readonly effectiveAtMs: number;
  readonly calledOffAtMs: number | null;
}

const SELECT_VERSIONS = `
  select version, digest, fees::jsonb - 'schedules' as fees, zone_count as zones, note, author, replaces, repeats,
    honours_quotes as "honoursQuotes",
    case when called_off_at is not null then 'called_off'
      when effective_at > statement_timestamp() then 'scheduled'
      when version = ${VERSION_IN_FORCE} then 'in_force'
      else 'replaced' end as state,
    (extract(epoch from published_at) * 1000)::float8 as "publishedAtMs",
    (extract(epoch from effective_at) * 1000)::float8 as "effectiveAtMs",
    (extract(epoch from called_off_at) * 1000)::float8 as "calledOffAtMs"
  from tariff_version`;

async function loadFirst(
  em: EntityManager,
  condition: string,
  values: readonly unknown[] = [],
): Promise<VersionRow | undefined> {
  const [row] = await runStatement<VersionRow>(em, `${SELECT_VERSIONS} where ${condition}`, values);
  return row;
}

export function loadVersion(em: EntityManager, version: number): Promise<VersionRow | undefined> {
  return loadFirst(em, "version = $1", [version]);
}

export function loadVersionInForce(em: EntityManager): Promise<VersionRow | undefined> {
  return loadFirst(em, `version = ${VERSION_IN_FORCE}`);
}

/** Loads the scheduled version. There is at most one. Returns `undefined` if there is none. */
export function loadScheduledVersion(em: EntityManager): Promise<VersionRow | undefined> {
  return loadFirst(
    em,
    `effective_at > statement_timestamp() and called_off_at is null and ${AFTER_IN_FORCE}
     order by version limit 1`,
  );
}

/** Loads versions below a version, in descending order. */
export function loadVersionsBelow(em: EntityManager, version: number, limit: number): Promise<VersionRow[]> {
  const sql = `${SELECT_VERSIONS} where version < $1 order by version desc limit $2`;
  return runStatement<VersionRow>(em, sql, [version, limit]);
}

/** Loads the document in force, with its `version` added. Returns `undefined` if there is none. */
export async function loadPublishedTariff(em: EntityManager): Promise<object | undefined> {
  const [row] = await runStatement<{ version: number; document: object }>(
    em.fork(),
    `select version, document from tariff_version where version = ${VERSION_IN_FORCE}`,
    [],
  );
  return row && { version: row.version, ...row.document };
}

export function versionNotFoundError(version: number): Refusal {
  return refuse("TARIFF_VERSION_NOT_FOUND", `There is no tariff version ${version}.`);
}

export function noTariffInForceError(): Refusal {
  return refuse("TARIFF_VERSION_NOT_FOUND", "No tariff is in force yet.");
}

const toMessage = compileToMessage(TariffVersionSchema);

export function versionMessage(row: VersionRow): TariffVersionMessage {
  return toMessage({
    ...row,
    fees: readDocument(TariffFeesSchema, row.fees),
    publishedAt: row.publishedAtMs,
    effectiveAt: row.effectiveAtMs,
    calledOffAt: row.calledOffAtMs,
  });
}
