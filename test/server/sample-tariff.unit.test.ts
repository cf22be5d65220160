import { readFileSync } from "node:fs";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { expect, test } from "vitest";
import type { Point } from "../../src/domain/coverage/geo.ts";
import { createPricing, quote } from "../../src/domain/pricing/pricing.ts";
import { parseTariff } from "../../src/domain/pricing/tariff.ts";
import sample from "../../src/demo/sample-tariff.json" with { type: "json" };

const FIPS_CODES = ["36005", "36047", "36061", "36081", "36085"];

test("the sample tariff's zones are the five counties of New York City from us-atlas, with six decimals", () => {
  const url = import.meta.resolve("us-atlas/counties-10m.json");
  const atlas = JSON.parse(readFileSync(new URL(url), "utf8")) as Topology<{
    counties: GeometryCollection<{ name: string }>;
  }>;
  const counties = feature(atlas, atlas.objects.counties).features;
  const expected = FIPS_CODES.map((code) => {
    const { properties, geometry } = counties.find(({ id }) => id === code)!;
    return { type: "Feature", properties: { name: properties.name }, geometry: rounded(geometry) };
  });
  expect(sample.zones).toEqual({ type: "FeatureCollection", features: expected });
});

function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, item) => (typeof item === "number" ? Number(item.toFixed(6)) : item));
}

test("the sample tariff can be published", () => {
  const { tariff } = parseTariff(sample);
  expect(tariff).toMatchObject({
    currency: "USD",
    minorDigits: 2,
    baseFeeMinor: 500,
    ratePerKmMillionths: 1_200_000,
    tiers: [
      { minKg: 0, maxKg: 5, flatFeeMinor: 0, ratePerKgMillionths: 500_000 },
      { minKg: 5, maxKg: 20, flatFeeMinor: 150, ratePerKgMillionths: 400_000 },
      { minKg: 20, maxKg: 50, flatFeeMinor: 400, ratePerKgMillionths: 350_000 },
    ],
  });
  expect(tariff?.zones.map((zone) => zone.name)).toEqual(["Bronx", "Kings", "New York", "Queens", "Richmond"]);
});

test("the sample tariff prices a route from Times Square to Flatbush", () => {
  const route = {
    pickup: { lat: 40.758, lng: -73.9855 },
    dropoff: { lat: 40.6782, lng: -73.9442 },
    weightKg: 2.5,
  };
  expect(quote(createPricing(parseTariff(sample).tariff!), route)).toEqual({
    covered: true,
    distanceKm: expect.closeTo(9.5316, 4),
    distanceFeeMinor: 1144,
    weightFeeMinor: 125,
    baseFeeMinor: 500,
    subtotalMinor: 1269,
    windowFeeMinor: 0,
    totalMinor: 1269,
    currency: "USD",
  });
});

test("the sample tariff refuses routes from New Jersey with the distance to New York City", () => {
  const pricing = createPricing(parseTariff(sample).tariff!);
  const timesSquare = { lat: 40.758, lng: -73.9855 };
  const jerseyCity = { lat: 40.7178, lng: -74.0431 };
  const newarkAirport = { lat: 40.6895, lng: -74.1745 };
  const messageOf = (pickup: Point, dropoff: Point) => {
    const result = quote(pricing, { pickup, dropoff, weightKg: 2.5 });
    return result.covered ? undefined : result.failures.map(({ message }) => message);
  };
  // Exact distances are 1758.187 m and 5129.138 m, computed by brute force with 200,000 points per edge.
  expect(messageOf(jerseyCity, timesSquare)).toEqual([
    "The pickup point is outside the coverage zones, 1759 m from the nearest one.",
  ]);
  expect(messageOf(timesSquare, newarkAirport)).toEqual([
    "The dropoff point is outside the coverage zones, 5130 m from the nearest one.",
  ]);
  expect(messageOf(jerseyCity, newarkAirport)).toEqual([
    "The pickup and dropoff points are outside the coverage zones, 1759 m and 5130 m from the nearest one.",
  ]);
});
