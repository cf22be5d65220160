import type { Client } from "pg";
import { coverageOf } from "../../../domain/coverage/coverage.ts";
import type { TariffFault } from "../../../domain/faults.ts";
import { createPricing, pricingOf, quote, type Pricing } from "../../../domain/pricing/pricing.ts";
import { replayShipments, type ReplayedShipment } from "../../../domain/pricing/replay.ts";
import { checkDraft } from "./check-draft.ts";
import { indexTariff } from "./version-tasks.ts";
import { readDocumentInForce, readDraftDocument } from "./load-document.ts";
import type { TariffTask } from "./tariff-tasks.ts";

/** Checks a draft and prices shipments and routes by it and by the tariff in force. */
export const replayTask: TariffTask<"replay"> = async (client, { draft, shipments, routes }) => {
  const read = await readDraftPricing(client, draft);
  if (read.outcome !== undefined) return read;
  const inForce = await readPricingInForce(client);
  if (inForce === undefined) return { outcome: "no_tariff_in_force" };
  const both = { inForce: inForce.pricing, ofDraft: read.pricing };
  return {
    outcome: "replayed",
    revision: read.revision,
    version: inForce.version,
    shipments: replayShipments(both, await readLatest(client, shipments)),
    routes: routes.map((route) => ({
      inForce: quote(both.inForce, route),
      ofDraft: quote(both.ofDraft, route),
    })),
  };
};

// Each document can take a gigabyte, so only the pricing of the first is kept while the second is read.

type DraftPricing =
  | { readonly outcome?: undefined; readonly revision: number; readonly pricing: Pricing }
  | { readonly outcome: "no_such_draft" }
  | { readonly outcome: "faulty"; readonly faults: readonly TariffFault[] };

async function readDraftPricing(client: Client, draft: number): Promise<DraftPricing> {
  const read = await readDraftDocument(client, draft);
  if (read === undefined) return { outcome: "no_such_draft" };
  const { tariff, faults } = checkDraft(read);
  if (faults !== undefined) return { outcome: "faulty", faults };
  return { revision: read.revision, pricing: createPricing(tariff) };
}

async function readPricingInForce(
  client: Client,
): Promise<{ readonly version: number; readonly pricing: Pricing } | undefined> {
  const read = await readDocumentInForce(client);
  if (read === undefined) return undefined;
  const { fees, indexed } = indexTariff(read.document);
  return { version: read.version, pricing: pricingOf(fees, coverageOf(indexed)) };
}

type Columns = readonly [
  workspace: number,
  reference: string,
  pickupLat: number,
  pickupLng: number,
  dropoffLat: number,
  dropoffLng: number,
  weightKg: number,
];

/** The latest shipments of all workspaces, the newest first. */
async function readLatest(client: Client, count: number): Promise<ReplayedShipment[]> {
  const { rows } = await client.query<Columns & unknown[]>({
    text: `select workspace_id::float8, reference, pickup_lat, pickup_lng, dropoff_lat, dropoff_lng, weight_kg
      from shipment order by created_at desc, workspace_id, reference limit $1`,
    values: [count],
    rowMode: "array",
  });
  return rows.map(
    ([workspace, reference, pickupLat, pickupLng, dropoffLat, dropoffLng, weightKg]) => ({
      workspace,
      reference,
      route: {
        pickup: { lat: pickupLat, lng: pickupLng },
        dropoff: { lat: dropoffLat, lng: dropoffLng },
        weightKg,
      },
    }),
  );
}
