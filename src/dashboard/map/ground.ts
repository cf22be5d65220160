import Feature from "ol/Feature.js";
import { getWidth } from "ol/extent.js";
import TopoJSON from "ol/format/TopoJSON.js";
import Point from "ol/geom/Point.js";
import VectorLayer from "ol/layer/Vector.js";
import { fromLonLat } from "ol/proj.js";
import VectorSource from "ol/source/Vector.js";
import type View from "ol/View.js";
import countriesUrl from "world-atlas/countries-50m.json?url";
import type { Palette } from "./palette.ts";
import citiesUrl from "./cities.json?url";
import { type Area, largestOf, unbroken } from "./world.ts";

/** Attribution of the background. GeoNames requires it, Natural Earth does not. */
export const GROUND_CREDITS = "Natural Earth, GeoNames";

/**
 * Sources of the background below the zones: land with borders, and names of countries and cities. All maps share
 * them. Each feature belongs to one source, because a feature keeps its sources in memory.
 */
export type Ground = Readonly<Record<"land" | "names", VectorSource>>;

let ground: Promise<Ground> | undefined;

/** Loads the background once for all maps. After a failure, the next map retries. */
export function loadGround(): Promise<Ground> {
  ground ??= Promise.all([getJson(countriesUrl), getJson(citiesUrl)]).then(([countries, cities]) => {
    const land = new TopoJSON({ layers: ["countries"] }).readFeatures(countries, {
      featureProjection: "EPSG:3857",
    });
    for (const country of land) country.setGeometry(unbroken(country.getGeometry() as Area));
    const names = [...land.map(countryName), ...(cities as CityRow[]).map(cityName)];
    return {
      land: new VectorSource({ features: land }),
      names: new VectorSource({ features: names }),
    };
  });
  ground.catch(() => (ground = undefined));
  return ground;
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} returned status ${response.status}`);
  return response.json();
}

type CityRow = readonly [name: string, lng: number, lat: number];

function countryName(country: Feature): Feature {
  const largest = largestOf(country.getGeometry() as Area);
  const geometry = new Point(largest.getInteriorPoint().getCoordinates().slice(0, 2));
  return new Feature({ geometry, name: country.get("name"), width: getWidth(largest.getExtent()) });
}

/** Creates the feature of a city. `rank` is the row's index, with the largest city first. */
function cityName([name, lng, lat]: CityRow, rank: number): Feature {
  return new Feature({ geometry: new Point(fromLonLat([lng, lat])), name, rank });
}

/** Minimum map area per city name, in square pixels. */
const AREA_PER_NAME = 14_000;

/** Minimum width of a country per letter of its name, in pixels, for the name to be shown. */
const ROOM_PER_LETTER = 10;

/** Creates a map's background layers. Dispose them with the map. */
export function createGroundLayers({ land, names }: Ground, palette: () => Palette, view: View) {
  /** The largest cities in view that get a name. */
  let shown = new Set<Feature>();
  const namesLayer = new VectorLayer({
    source: names,
    declutter: true,
    // Names drawn first win: countries, then cities by size.
    renderOrder: (one, other) => (one.get("rank") ?? -1) - (other.get("rank") ?? -1),
    style(feature, resolution) {
      const [name, width] = [feature.get("name"), feature.get("width")];
      if (width === undefined) return shown.has(feature as Feature) ? palette().city(name) : [];
      return width / resolution < name.length * ROOM_PER_LETTER ? [] : palette().country(name);
    },
    zIndex: 2,
  });
  return {
    land: new VectorLayer({ source: land, style: () => palette().land, zIndex: 0 }),
    names: namesLayer,
    chooseNames([width, height]: readonly number[]) {
      const cities = names
        .getFeaturesInExtent(view.calculateExtent([width!, height!]), view.getProjection())
        .filter((feature) => feature.get("rank") !== undefined)
        .toSorted((one, other) => one.get("rank") - other.get("rank"));
      shown = new Set(cities.slice(0, (width! * height!) / AREA_PER_NAME));
      namesLayer.changed();
    },
  };
}
