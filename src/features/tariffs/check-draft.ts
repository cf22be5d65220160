import { readTariff, type TariffReading } from "../../domain/pricing/tariff.ts";
import type { DraftDocument } from "./read-document.ts";

/** The tariff of a draft, or everything that is wrong with it; takes as long as publishing. */
export function checkDraft({ document, zonesFault }: DraftDocument): TariffReading {
  const reading = readTariff(document);
  if (zonesFault === undefined || reading.faults === undefined) return reading;
  // Zones that cannot be read are missing from the document, which is not what is wrong with them.
  return { faults: reading.faults.map((fault) => (fault.path === "zones" ? zonesFault : fault)) };
}
