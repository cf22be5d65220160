import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { countyTariff } from "./county-tariff.ts";
import { prepareDatabase, type Prepared, type Server } from "./database.ts";

/** A database to quote from, and what peers need in their environment to do the same. */
export interface PreparedQuotes extends Prepared {
  readonly environment: { readonly TARIFF_FILE: string; readonly API_KEY: string };
}

/** Makes a database whose tariff covers the counties of the United States. */
export async function prepareQuotes(server: Server, name: string): Promise<PreparedQuotes> {
  const tariff = countyTariff();
  const tariffFile = join(server.folder, `${name}.json`);
  await writeFile(tariffFile, JSON.stringify(tariff));
  const prepared = await prepareDatabase(server, name, tariff);
  return { ...prepared, environment: { TARIFF_FILE: tariffFile, API_KEY: prepared.apiKey } };
}
