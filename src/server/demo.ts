import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "./app.ts";
import type { EntityManager } from "../db/orm.ts";
import { publishTariff } from "../features/tariffs/publish-tariff.ts";
import sampleTariff from "./sample-tariff.json" with { type: "json" };
import { TariffVersion } from "../features/tariffs/tariff.entity.ts";
import { createWorkspace } from "../features/workspaces/create-workspace.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";

/** Midtown Manhattan to Prospect Park in Brooklyn. */
const SAMPLE_ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
};

/**
 * Fills an empty database with the sample tariff and a workspace that can book, and prints, once
 * calls are served, where the doors are and how to make a first call.
 */
export async function introduce(
  app: App,
  addresses: { readonly http: string; readonly grpc: string },
): Promise<void> {
  const apiKey = await fillIfEmpty(app.em);
  while (app.closedBecause() === "waiting for its first tariff") await sleep(10);
  process.stdout.write(
    [
      "",
      `  JSON   ${addresses.http}/v1`,
      `  gRPC   ${addresses.grpc}`,
      "",
      ...(apiKey === undefined ? WITHOUT_KEY : withKey(addresses.http, apiKey)),
      "",
      "",
    ].join("\n"),
  );
}

async function fillIfEmpty(em: EntityManager): Promise<string | undefined> {
  const reading = em.fork();
  if ((await reading.count(TariffVersion)) > 0 || (await reading.count(Workspace)) > 0) {
    return undefined;
  }
  await publishTariff(em, sampleTariff, "sample: the five counties of New York City");
  const { apiKey } = await createWorkspace(em, { name: "Demo", paymentProvider: "manual" });
  return apiKey;
}

function withKey(http: string, apiKey: string): string[] {
  return [
    `  The demo workspace's key, shown this once: ${apiKey}`,
    "  Quote a delivery from Manhattan to Brooklyn:",
    "",
    `curl -sS ${http}/v1/shipments/quote -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(SAMPLE_ROUTE)}'`,
  ];
}

const WITHOUT_KEY = [
  "  Keys are shown once, when they are made. For a new one:",
  "",
  "npm run --silent shipments -- workspace list",
  "npm run --silent shipments -- key rotate --workspace ID",
];
