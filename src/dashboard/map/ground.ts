import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import type { MultiPolygon, Polygon } from "geojson";
import countriesUrl from "world-atlas/countries-50m.json?url";
import { type Box, onWorld, type Spot, unbroken } from "./map-frame.ts";
import placesUrl from "./places.json?url";
import { namePoint, polygonsOf } from "./zone-names.ts";

/** A country in the world from 0 to 1, in which `y` goes south; across the date line, up to 1 beyond. */
export interface Country {
  readonly name: string;
  readonly path: Path2D;
  readonly bounds: Box;
  /** Where its name has most room. */
  namePoint(): Spot;
}

/** A larger place, where it is in the world from 0 to 1. */
export interface Place {
  readonly name: string;
  readonly at: Spot;
}

/** What is below the zones, to know where one is: land with its borders, and places, the largest first. */
export interface Ground {
  readonly countries: readonly Country[];
  readonly places: readonly Place[];
}

/** Whose data the ground is. Natural Earth asks for nothing, GeoNames to be named. */
export const GROUND_CREDITS = "Natural Earth, GeoNames";

let ground: Promise<Ground> | undefined;

/** Loads the ground, once for all maps; anew after it could not be loaded. */
export function loadGround(): Promise<Ground> {
  ground ??= Promise.all([getJson(countriesUrl), getJson(placesUrl)]).then(
    ([countries, places]) => ({
      countries: countriesOf(countries as CountriesTopology),
      places: (places as PlaceRow[]).map(([name, lng, lat]) => ({ name, at: onWorld(lng, lat) })),
    }),
  );
  ground.catch(() => (ground = undefined));
  return ground;
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} is not there: ${response.status}`);
  return response.json();
}

type PlaceRow = readonly [name: string, lng: number, lat: number];

type CountriesTopology = Topology<{
  readonly countries: GeometryCollection<{ readonly name: string }>;
}>;

function countriesOf(topology: CountriesTopology): readonly Country[] {
  return feature(topology, topology.objects.countries).features.map(({ properties, geometry }) =>
    countryOf(properties.name, geometry as Polygon | MultiPolygon),
  );
}

function countryOf(name: string, geometry: Polygon | MultiPolygon): Country {
  const polygons = polygonsOf(geometry).map((rings) => rings.map(unbroken));
  const path = new Path2D();
  let [left, top, right, bottom] = [1, 1, 0, 0];
  for (const ring of polygons.flat()) {
    for (const [i, [x, y]] of ring.entries()) {
      if (i === 0) path.moveTo(x, y);
      else path.lineTo(x, y);
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
    }
    path.closePath();
  }
  let point: Spot | undefined;
  return {
    name,
    path,
    bounds: { left, top, right, bottom },
    namePoint: () => (point ??= namePoint(polygons)),
  };
}
