import type { Client } from "pg";
import { duplicateMember } from "../../../domain/duplicate-member.ts";
import { isObject, type TariffFault } from "../../../domain/faults.ts";
import { oversizeOf } from "./json-scan.ts";

/** @throws Error when there is no such version */
export async function loadVersionDocument(client: Client, version: number): Promise<object> {
  const { rows } = await client.query<{ document: object }>(
    "select document from tariff_version where version = $1",
    [version],
  );
  if (rows[0] === undefined) throw new Error(`there is no tariff version ${version}`);
  return rows[0].document;
}

/** A draft as a document, which can have faults. */
export interface DraftDocument {
  /** The fees and the zones; without `zones` when there are none or they are not JSON. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly revision: number;
  /** Why the uploaded zones cannot be used, with `zones` or a path below it. */
  readonly zonesFault?: TariffFault;
}

/** A connection of a thread's own, or the service's. */
export interface Queryable {
  query<Row extends object>(
    sql: string,
    values: unknown[],
  ): Promise<{ readonly rows: readonly Row[] }>;
}

/** Loads a draft as it is at one moment; undefined when there is no such draft. */
export async function loadDraftDocument(
  client: Queryable,
  draftId: number,
): Promise<DraftDocument | undefined> {
  const { rows } = await client.query<DraftRow>(SELECT_DRAFT, [draftId]);
  const [first] = rows;
  if (first === undefined) return undefined;
  const { fees, revision } = first;
  if (first.data === null) return { document: fees!, revision };
  const pieces = rows.map(({ data }) => data!);
  const faulty = (text: string, path = "zones") => ({
    document: fees!,
    revision,
    zonesFault: { path, text },
  });
  const oversize = oversizeOf(pieces);
  if (oversize !== undefined) return faulty(oversize);
  try {
    const text = decodeUtf8(Buffer.concat(pieces));
    const zones: unknown = JSON.parse(text);
    const duplicate = isObject(zones) ? duplicateMember(text, zones) : undefined;
    if (duplicate !== undefined) return faulty("must be given once", `zones.${duplicate}`);
    return { document: { ...fees, zones }, revision };
  } catch (error) {
    return faulty(`must be JSON text in UTF-8: ${(error as Error).message}; upload it again`);
  }
}

/** A row for each piece, so that no value is as large as all of them; one when there are none. */
const SELECT_DRAFT = `
  select case when coalesce("begin", 0) = 0 then fees end as fees, revision, data
  from tariff_draft left join tariff_draft_piece on draft_id = id
  where id = $1 order by "begin"`;

interface DraftRow {
  /** Null but in the first row. */
  readonly fees: Readonly<Record<string, unknown>> | null;
  readonly revision: number;
  readonly data: Buffer | null;
}

/** @throws TypeError if the bytes are not UTF-8 */
function decodeUtf8(bytes: Buffer): string {
  // The decoder strips a byte order mark (RFC 8259, 8.1).
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
