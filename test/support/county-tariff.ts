import { readFileSync } from "node:fs";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { parseTariff } from "../../src/domain/pricing/tariff.ts";

const PRICES = {
  currency: "USD",
  base_fee: "5.00",
  rate_per_km: "1.20",
  tiers: [
    { min_kg: 0, max_kg: 5, flat_fee: "0.00", rate_per_kg: "0.50" },
    { min_kg: 5, max_kg: 30, flat_fee: "2.00", rate_per_kg: "0.40" },
  ],
};

/**
 * Returns a tariff whose zones are the counties of the United States (us-atlas, 1:10,000,000):
 * 3,191 of 3,231, without those whose outline crosses itself.
 */
export function countyTariff(): object {
  const url = new URL(import.meta.resolve("us-atlas/counties-10m.json"));
  const atlas = JSON.parse(readFileSync(url, "utf8")) as Topology<{ counties: GeometryCollection }>;
  const counties = feature(atlas, atlas.objects.counties).features.filter(isValid);
  return { ...PRICES, zones: { type: "FeatureCollection", features: counties } };
}

function isValid(county: object): boolean {
  const zones = { type: "FeatureCollection", features: [county] };
  return parseTariff({ ...PRICES, zones }).faults === undefined;
}
