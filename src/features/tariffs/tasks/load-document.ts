import type { Client } from "pg";
import { duplicateMember } from "../../../domain/duplicate-member.ts";
import { isObject, type TariffFault } from "../../../domain/faults.ts";
import { oversizeOf } from "./json-scan.ts";

/**
 * Loads the document of a version.
 *
 * @throws Error if the version does not exist
 */
export async function loadVersionDocument(client: Client, version: number): Promise<object> {
  const { rows } = await client.query<{ document: object }>("select document from tariff_version where version = $1", [
    version,
  ]);
  if (rows[0] === undefined) throw new Error(`there is no tariff version ${version}`);
  return rows[0].document;
}

/** The document of a draft. It can have errors. */
export interface DraftDocument {
  /** Fees and zones. `zones` is missing if none were uploaded or they are not JSON. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly revision: number;
  /** Reason why the uploaded zones cannot be used. The path is `zones` or below. */
  readonly zonesFault?: TariffFault;
}

/** A database connection, in a worker thread or in the service. */
export interface Queryable {
  query<Row extends object>(sql: string, values: unknown[]): Promise<{ readonly rows: readonly Row[] }>;
}

/** Loads a consistent snapshot of a draft. Returns `undefined` if it does not exist. */
export async function loadDraftDocument(client: Queryable, draftId: number): Promise<DraftDocument | undefined> {
  const { rows } = await client.query<DraftRow>(SELECT_DRAFT, [draftId]);
  const [first] = rows;
  if (first === undefined) return undefined;
  const { fees, revision } = first;
  if (first.data === null) return { document: fees!, revision };
  const chunks = rows.map(({ data }) => data!);
  const faulty = (text: string, path = "zones") => ({
    document: fees!,
    revision,
    zonesFault: { path, text },
  });
  const oversize = oversizeOf(chunks);
  if (oversize !== undefined) return faulty(oversize);
  try {
    const text = decodeUtf8(Buffer.concat(chunks));
    const zones: unknown = JSON.parse(text);
    const duplicate = isObject(zones) ? duplicateMember(text, zones) : undefined;
    if (duplicate !== undefined) return faulty("must be given once", `zones.${duplicate}`);
    return { document: { ...fees, zones }, revision };
  } catch (error) {
    return faulty(`must be JSON text in UTF-8: ${(error as Error).message}. Upload it again`);
  }
}

/** Selects one row per chunk, so that no value contains all zones, or one row if there are no zones. */
const SELECT_DRAFT = `
  select case when coalesce("begin", 0) = 0 then fees end as fees, revision, data
  from tariff_draft left join tariff_draft_piece on draft_id = id
  where id = $1 order by "begin"`;

interface DraftRow {
  /** The document without its zones. null except in the first row. */
  readonly fees: Readonly<Record<string, unknown>> | null;
  readonly revision: number;
  readonly data: Buffer | null;
}

/**
 * Decodes UTF-8.
 *
 * @throws TypeError if the bytes are not valid UTF-8
 */
function decodeUtf8(bytes: Buffer): string {
  // The decoder strips a byte order mark (RFC 8259, 8.1).
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
