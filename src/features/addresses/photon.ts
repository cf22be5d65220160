import { z } from "zod";
import { labelOf, type AddressPrecision, type AddressMatch, type GeocoderAdapter } from "./geocoder.ts";
import { pointFeatures, pointOf } from "./point-feature.ts";

const part = z.string().nullish();

const properties = z.object({
  name: part,
  housenumber: part,
  street: part,
  postcode: part,
  locality: part,
  district: part,
  city: part,
  county: part,
  state: part,
  country: part,
  countrycode: part,
  osm_key: part,
  type: part,
});

const answers = pointFeatures(properties);

type Properties = z.output<typeof properties>;

/** Photon, a geocoder with OpenStreetMap data (https://github.com/komoot/photon, docs/api-v1.md). */
export const photon: GeocoderAdapter = {
  attribution: "© OpenStreetMap contributors",
  searchRequest: ({ text, near, limit }) => ({
    path: "/api",
    parameters: { q: text, limit, ...(near && { lat: near.lat, lon: near.lng }) },
  }),
  readSearch: readFeatures,
  reverseRequest: ({ lat, lng }) => ({ path: "/reverse", parameters: { lat, lon: lng, limit: 1 } }),
  readReverse: readFeatures,
};

function readFeatures(answer: unknown): readonly AddressMatch[] {
  return answers.parse(answer).features.flatMap((feature) => {
    const label = labelOf(textOf(feature.properties));
    if (label === "") return [];
    const precision = precisionOf(feature.properties);
    return [{ label, ...pointOf(feature), precision, confidence: undefined }];
  });
}

function precisionOf({ type, osm_key: key, housenumber }: Properties): AddressPrecision {
  if (type === "street" || (!type && key === "highway")) return "street";
  // Servers older than 2020 return no type.
  return type === "house" || (!type && housenumber) ? "building" : "area";
}

/** Codes of countries in which the house number precedes the street. */
const NUMBER_FIRST = new Set("AU CA FR GB IE IN LU MY NZ PH SG TH US ZA".split(" "));

/** Returns an address on one line, in the order of the country's postal addresses. */
function textOf(address: Properties): string {
  const { name, housenumber, street, postcode, city, state, country } = address;
  const isNumberFirst = NUMBER_FIRST.has(address.countrycode?.toUpperCase() ?? "");
  const numbered = isNumberFirst ? [housenumber, street] : [street, housenumber];
  const line = street ? joined(numbered, " ") : housenumber;
  const town = city ?? address.locality ?? address.district ?? address.county;
  const cityLine = isNumberFirst ? [town, joined([state, postcode], " ")] : [joined([postcode, town], " "), state];
  return joined([...new Set([name, line, ...cityLine, country])], ", ");
}

function joined(parts: readonly (string | null | undefined)[], between: string): string {
  return parts.filter(Boolean).join(between);
}
