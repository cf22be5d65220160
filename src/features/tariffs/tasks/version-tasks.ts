import { indexPolygons } from "../../../domain/coverage/coverage.ts";
import { validZones } from "../../../domain/coverage/parse-zones.ts";
import { compareTariffs } from "../../../domain/pricing/compare-tariffs.ts";
import { parseValidTariff } from "../../../domain/pricing/tariff.ts";
import { coverageDocument } from "./coverage-document.ts";
import { loadVersionDocument } from "./load-document.ts";
import type { LoadedTariff, TariffTask } from "./run-tariff-task.ts";

/** Loads a published document and indexes its zones; nothing is checked again but the fees. */
export const loadTask: TariffTask<"load"> = async (client, { version }) =>
  indexTariff(await loadVersionDocument(client, version));

/** Indexes the zones of a valid document. */
export function indexTariff(document: unknown): LoadedTariff {
  const { fees, polygons } = parseValidTariff(document);
  return { fees, indexed: indexPolygons(polygons) };
}

/** Makes the GeoJSON of a published version's zones, in UTF-8. */
export const coverageTask: TariffTask<"coverage"> = async (client, { version, toleranceM }) => {
  const { zones } = (await loadVersionDocument(client, version)) as { readonly zones?: unknown };
  return new TextEncoder().encode(coverageDocument(validZones(zones), toleranceM));
};

/** Loads two versions and finds how they differ. */
export const compareTask: TariffTask<"compare"> = async (client, { from, to }) => {
  const { rows } = await client.query<{ version: number; document: object }>(
    "select version, document from tariff_version where version in ($1, $2)",
    [from, to],
  );
  const documents = new Map(rows.map(({ version, document }) => [version, document]));
  const before = documents.get(from);
  const after = documents.get(to);
  if (before !== undefined && after !== undefined) {
    return { differences: compareTariffs(before, after) };
  }
  const unknownFrom = before === undefined ? (["from"] as const) : [];
  return { unknown: [...unknownFrom, ...(after === undefined ? (["to"] as const) : [])] };
};
