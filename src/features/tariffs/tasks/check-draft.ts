import { hash } from "node:crypto";
import { canonicalText } from "../../../domain/canonical-text.ts";
import type { TariffFault } from "../../../domain/faults.ts";
import {
  MAX_FAULTS,
  readTariff,
  type Tariff,
  type TariffReading,
} from "../../../domain/pricing/tariff.ts";
import { unstorableFault } from "../../../domain/unstorable-fault.ts";
import type { DraftDocument } from "./load-document.ts";

/** The tariff of a draft that can be published, or everything that is wrong with it. */
export type DraftCheck =
  | {
      readonly tariff: Tariff;
      /** SHA-256 of the document's canonical text, in base64url, as stored with versions. */
      readonly digest: string;
      readonly faults?: undefined;
    }
  | {
      readonly tariff?: undefined;
      readonly digest?: undefined;
      readonly faults: readonly TariffFault[];
    };

/** Checks all of a draft, which takes seconds when it is large. */
export function checkDraft(draft: DraftDocument): DraftCheck {
  const { tariff, faults = [] } = readDraft(draft);
  const { document } = draft;
  const unstorable = unstorableFault(document);
  if (unstorable !== undefined) return { faults: [...faults, unstorable].slice(0, MAX_FAULTS) };
  if (tariff === undefined) return { faults };
  return { tariff, digest: hash("sha256", canonicalText(document), "base64url") };
}

function readDraft({ document, zonesFault }: DraftDocument): TariffReading {
  const reading = readTariff(document);
  if (zonesFault === undefined || reading.faults === undefined) return reading;
  // Zones that cannot be read are missing from the document, which is not what is wrong with them.
  return { faults: reading.faults.map((fault) => (fault.path === "zones" ? zonesFault : fault)) };
}
