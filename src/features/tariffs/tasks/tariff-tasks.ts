import { hash } from "node:crypto";
import type { Client } from "pg";
import { canonicalText } from "../../../domain/canonical-text.ts";
import { coverageOf, indexZones } from "../../../domain/coverage/coverage.ts";
import { packIdentities, unnamedZoneWarnings } from "../../../domain/coverage/zone-identities.ts";
import type { TariffFault } from "../../../domain/faults.ts";
import { createPricing, pricingOf, type Pricing } from "../../../domain/pricing/pricing.ts";
import { quoteBookable } from "../../../domain/pricing/windows.ts";
import { replayShipments, type ReplayedShipment } from "../../../domain/pricing/replay.ts";
import { MAX_FAULTS, parseTariff, type ParsedTariff, parseValidTariff } from "../../../domain/pricing/tariff.ts";
import { unstorableFault } from "./unstorable-fault.ts";
import { loadDraftDocument, loadVersionDocument, type DraftDocument, type Queryable } from "./load-document.ts";
import type { CheckedDraft, TariffTask, LoadedTariff } from "./run-tariff-task.ts";
import type { Span } from "../../../domain/schedule/calendar.ts";
import { validZones } from "../../../domain/coverage/parse-zones.ts";
import { compareTariffs } from "../../../domain/pricing/compare-tariffs.ts";
import { coverageDocument } from "./coverage-document.ts";

/** Loads a published version and indexes its zones. Validates only the fees again. */
export const loadTask: TariffTask<"load"> = async (client, { version }) =>
  indexTariff(await loadVersionDocument(client, version));

export function indexTariff(document: object): LoadedTariff {
  const { fees, zones } = parseValidTariff(document);
  return { fees, indexed: indexZones(zones), zones: packIdentities(zones) };
}

export const coverageTask: TariffTask<"coverage"> = async (client, { version, toleranceM }) => {
  const { zones } = (await loadVersionDocument(client, version)) as { readonly zones?: unknown };
  return new TextEncoder().encode(coverageDocument(validZones(zones), toleranceM));
};

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

export const checkTask: TariffTask<"check"> = (client, { draft }) => loadAndCheckDraft(client, draft);

export async function loadAndCheckDraft(client: Queryable, draftId: number): Promise<CheckedDraft | undefined> {
  const draft = await loadDraftDocument(client, draftId);
  if (draft === undefined) return undefined;
  const { revision, document } = draft;
  const { tariff, faults } = checkDraft(draft);
  const warnings = unnamedZoneWarnings(document["zones"], MAX_FAULTS);
  const checked = { revision, warnings };
  if (faults !== undefined) return { ...checked, faults, zones: 0, tiers: 0, digest: undefined };
  const digest = hash("sha256", canonicalText(document), "base64url");
  return { ...checked, faults: [], zones: tariff.zones.length, tiers: tariff.tiers.length, digest };
}

/** Returns the tariff of a draft, or all errors in the draft. */
function checkDraft({ document, zonesFault }: DraftDocument): ParsedTariff {
  const parsed = parseTariff(document);
  // Zones that cannot be parsed are missing from the document, so their actual error replaces the
  // error about missing zones.
  const faults = parsed.faults?.map((fault) =>
    zonesFault !== undefined && fault.path === "zones" ? zonesFault : fault,
  );
  const unstorable = unstorableFault(document);
  if (unstorable !== undefined) return { faults: [...(faults ?? []), unstorable].slice(0, MAX_FAULTS) };
  return faults === undefined ? parsed : { faults };
}

/** Checks a draft, then prices shipments and routes with the draft and with the tariff in force. */
export const replayTask: TariffTask<"replay"> = async (client, input) => {
  const draft = await loadDraftPricing(client, input.draft);
  if (draft.outcome !== undefined) return draft;
  if (input.inForce === undefined) return { outcome: "no_tariff_in_force" };
  const both = { inForce: await loadPricing(client, input.inForce), ofDraft: draft.pricing };
  return {
    outcome: "replayed",
    revision: draft.revision,
    shipments: replayShipments(both, await loadLatest(client, input.shipments)),
    routes: input.routes.map((route) => ({
      inForce: quoteBookable(both.inForce, route),
      ofDraft: quoteBookable(both.ofDraft, route),
    })),
  };
};

// Each document can take a gigabyte. Only the pricing from the first document is kept while the second is loaded.

type DraftPricing =
  | { readonly outcome?: undefined; readonly revision: number; readonly pricing: Pricing }
  | { readonly outcome: "no_such_draft" }
  | { readonly outcome: "faulty"; readonly faults: readonly TariffFault[] };

async function loadDraftPricing(client: Client, draftId: number): Promise<DraftPricing> {
  const draft = await loadDraftDocument(client, draftId);
  if (draft === undefined) return { outcome: "no_such_draft" };
  const { tariff, faults } = checkDraft(draft);
  if (faults !== undefined) return { outcome: "faulty", faults };
  return { revision: draft.revision, pricing: createPricing(tariff) };
}

async function loadPricing(client: Client, version: number): Promise<Pricing> {
  const { fees, indexed, zones } = indexTariff(await loadVersionDocument(client, version));
  return pricingOf({ fees, coverage: coverageOf(indexed), zones });
}

type Columns = readonly [
  workspace: number,
  reference: string,
  pickupLat: number,
  pickupLng: number,
  dropoffLat: number,
  dropoffLng: number,
  weightKg: number,
  windows: StoredWindows | null,
  bookedAtMs: number,
  isCancelled: boolean,
];

interface StoredWindows {
  readonly pickup: StoredWindow | null;
  readonly dropoff: StoredWindow | null;
}

interface StoredWindow {
  readonly start: string;
  readonly end: string;
}

/** Loads the latest shipments of all workspaces, newest first. */
async function loadLatest(client: Client, count: number): Promise<ReplayedShipment[]> {
  const { rows } = await client.query<Columns & unknown[]>({
    text: `select workspace_id::float8, reference, pickup_lat, pickup_lng, dropoff_lat, dropoff_lng, weight_kg,
        windows, (extract(epoch from created_at) * 1000)::float8, status = 'cancelled'
      from shipment order by created_at desc, workspace_id, reference limit $1`,
    values: [count],
    rowMode: "array",
  });
  return rows.map((columns) => {
    const [workspace, reference, pickupLat, pickupLng, dropoffLat, dropoffLng, weightKg, windows, atMs] = columns;
    return {
      workspace,
      reference,
      isCancelled: columns[9],
      route: {
        pickup: { lat: pickupLat, lng: pickupLng },
        dropoff: { lat: dropoffLat, lng: dropoffLng },
        weightKg,
      },
      windows: { pickup: spanOf(windows?.pickup), dropoff: spanOf(windows?.dropoff) },
      atMs,
    };
  });
}

function spanOf(window: StoredWindow | null | undefined): Span | undefined {
  if (!window) return undefined;
  return { startMs: Date.parse(window.start), endMs: Date.parse(window.end) };
}
