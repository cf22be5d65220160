import { readFileSync } from "node:fs";

/** The sample tariff: five counties, in USD. */
export const SAMPLE_TARIFF: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(new URL("../../src/demo/sample-tariff.json", import.meta.url), "utf8"),
);

/** Returns a tariff document that covers the whole world and weights up to 1,000 kg, with `changes`. */
export function worldTariff(changes: object = {}): object {
  return {
    currency: "USD",
    base_fee: "0",
    rate_per_km: "0",
    tiers: [{ min_kg: 0, max_kg: 1_000, flat_fee: "0", rate_per_kg: "0" }],
    zones: zonesOf(square(-180, -90, 180, 90)),
    ...changes,
  };
}

/** Returns a tariff document's zones, one per list of rings: the outer ring first, then the holes. */
export function zonesOf(...polygons: [number, number][][][]): object {
  return {
    type: "FeatureCollection",
    features: polygons.map((coordinates, i) => ({
      type: "Feature",
      properties: { name: `Zone ${i + 1}` },
      geometry: { type: "Polygon", coordinates },
    })),
  };
}

/** Returns a polygon without holes, bounded by two meridians and two parallels. */
export function square(west: number, south: number, east: number, north: number): [number, number][][] {
  return [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ];
}

/** Parses a ring such as `0 0, 1 0, 1 1, 0 0`. Each position is a longitude and a latitude. */
export function ring(text: string): [number, number][] {
  return text.split(", ").map((position) => position.split(" ").map(Number) as [number, number]);
}
