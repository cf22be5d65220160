import type { Client } from "pg";
import type { Fault } from "../../domain/faults.ts";

/**
 * Reads the document of a published version.
 *
 * @throws Error when there is no such version
 */
export async function readVersionDocument(client: Client, version: number): Promise<object> {
  const { rows } = await client.query<{ document: object }>(
    "select document from tariff_version where version = $1",
    [version],
  );
  if (rows[0] === undefined) throw new Error(`there is no tariff version ${version}`);
  return rows[0].document;
}

/** Reads the version in force by the database's clock, and its document; undefined while there is none. */
export async function readDocumentInForce(
  client: Client,
): Promise<{ readonly version: number; readonly document: object } | undefined> {
  const { rows } = await client.query<{ version: number; document: object }>(
    `select version, document from tariff_version
     where effective_at <= now() and called_off_at is null order by version desc limit 1`,
  );
  return rows[0];
}

/** A draft as a document, which can have faults. */
export interface DraftDocument {
  /** The fees and the zones; without `zones` when there are none or they are not JSON. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly revision: number;
  /** Why the zones that were uploaded cannot be read, with the path `zones`. */
  readonly zonesFault?: Fault;
}

/** Reads a draft as it is at one moment; undefined when there is no such draft. */
export async function readDraftDocument(
  client: Client,
  draftId: number,
): Promise<DraftDocument | undefined> {
  const { rows } = await client.query<DraftRow>(
    `select fees, revision,
       (select string_agg(data, '' order by begin) from tariff_draft_piece where draft_id = tariff_draft.id) as zones
     from tariff_draft where id = $1`,
    [draftId],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { fees, revision, zones } = row;
  if (zones === null) return { document: fees, revision };
  try {
    return { document: { ...fees, zones: parseJson(zones) }, revision };
  } catch (error) {
    const text = `must be JSON text in UTF-8: ${(error as Error).message}; upload it again`;
    return { document: fees, revision, zonesFault: { path: "zones", text } };
  }
}

interface DraftRow {
  readonly fees: Readonly<Record<string, unknown>>;
  readonly revision: number;
  readonly zones: Buffer | null;
}

/** @throws TypeError when it is not UTF-8, SyntaxError when it is not JSON */
function parseJson(bytes: Buffer): unknown {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}
