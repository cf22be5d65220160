import { readFileSync } from "node:fs";

/** The sample tariff, as an operator would publish it: five counties, USD. */
export const SAMPLE_TARIFF: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(new URL("../../src/demo/sample-tariff.json", import.meta.url), "utf8"),
);

/** A tariff document that serves the whole world and any weight up to 1,000 kg, but for `changes`. */
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

/** The zones of a tariff document, one for each list of rings: the outer one, then its holes. */
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

/** A polygon without holes along two meridians and two parallels. */
export function square(
  west: number,
  south: number,
  east: number,
  north: number,
): [number, number][][] {
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

/** The positions of a text such as `0 0, 1 0, 1 1, 0 0`: longitude and latitude of each. */
export function ring(text: string): [number, number][] {
  return text.split(", ").map((position) => position.split(" ").map(Number) as [number, number]);
}
