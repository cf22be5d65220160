import { coverageDocument } from "./coverage-document.ts";
import { soundZones } from "../../../domain/coverage/parse-zones.ts";
import { readVersionDocument } from "./load-document.ts";
import type { TariffTask } from "./tariff-tasks.ts";

/** Makes the GeoJSON of a published version's zones, in UTF-8. */
export const coverageTask: TariffTask<"coverage"> = async (client, { version, toleranceM }) => {
  const { zones } = (await readVersionDocument(client, version)) as { readonly zones?: unknown };
  return new TextEncoder().encode(coverageDocument(soundZones(zones), toleranceM));
};
