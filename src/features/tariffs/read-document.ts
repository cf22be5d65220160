import type { Client } from "pg";

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
