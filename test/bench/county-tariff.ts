import { readFileSync } from "node:fs";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { readTariff } from "../../src/domain/tariff.ts";

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
 * A tariff whose zones are counties of the United States (us-atlas, 1:10,000,000): those whose FIPS
 * code begins with `prefix`, at most `most` of them, without the few that cross themselves.
 */
export function countyTariff(prefix: string, most: number): object {
  const url = new URL(import.meta.resolve("us-atlas/counties-10m.json"));
  const atlas = JSON.parse(readFileSync(url, "utf8")) as Topology<{ counties: GeometryCollection }>;
  const counties = feature(atlas, atlas.objects.counties).features.filter((county) =>
    String(county.id).startsWith(prefix),
  );
  const newYorkCityFirst = counties.toSorted((a, b) => rank(a.id) - rank(b.id));
  const features = newYorkCityFirst.filter((county) => isValid(county)).slice(0, most);
  return { ...PRICES, zones: { type: "FeatureCollection", features } };
}

const NEW_YORK_CITY = new Set(["36005", "36047", "36061", "36081", "36085"]);

function rank(id: string | number | undefined): number {
  return NEW_YORK_CITY.has(String(id)) ? 0 : 1;
}

function isValid(county: object): boolean {
  const zones = { type: "FeatureCollection", features: [county] };
  return readTariff({ ...PRICES, zones }).faults === undefined;
}
