import { compareTariffs } from "../../../domain/pricing/compare-tariffs.ts";
import type { TariffTask } from "./tariff-tasks.ts";

/** Reads two versions and finds how they differ. */
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
