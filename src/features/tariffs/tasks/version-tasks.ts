import { indexPolygons, type IndexedPolygons } from "../../../domain/coverage/coverage.ts";
import { readSoundTariff, type Fees } from "../../../domain/pricing/tariff.ts";
import { readVersionDocument } from "./load-document.ts";
import type { TariffTask } from "./tariff-tasks.ts";

/** A tariff ready for quoting, in a form that can move between threads. */
export interface LoadedTariff {
  readonly fees: Fees;
  readonly indexed: IndexedPolygons | undefined;
}

/** Reads a published document and indexes its zones; nothing is checked again but the fees. */
export const loadTask: TariffTask<"load"> = async (client, { version }) =>
  indexTariff(await readVersionDocument(client, version));

/** Indexes the zones of a sound document. */
export function indexTariff(document: unknown): LoadedTariff {
  const { fees, polygons } = readSoundTariff(document);
  return { fees, indexed: indexPolygons(polygons) };
}
