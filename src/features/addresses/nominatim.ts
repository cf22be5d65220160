import { z } from "zod";
import { labelOf, type AddressPrecision, type AddressMatch, type GeocoderAdapter } from "./geocoder.ts";
import { wellFormed } from "./point-feature.ts";

/** Creates a schema for a coordinate in text form, between `-most` and `most` degrees. */
const degrees = (most: number) =>
  z
    .string()
    .regex(/^-?\d{1,3}(\.\d{1,20})?$/)
    .transform(Number)
    .refine((number) => Math.abs(number) <= most);

const place = z.object({
  lat: degrees(90),
  lon: degrees(180),
  display_name: z.string(),
  place_rank: z.number().optional(),
});

const search = wellFormed(place);
/** If there is no address near the point, Nominatim returns an error with status 200. */
const reverse = z.union([place, z.object({ error: z.unknown() })]);

/** Maximum distance of preferred matches, in degrees: about 50 km. */
const NEAR_DEGREES = 0.5;
/** Minimum ranks of buildings and of streets. */
const [BUILDING_RANK, STREET_RANK] = [28, 26];

/** Nominatim, a geocoder with OpenStreetMap data (https://nominatim.org/release-docs/latest/api). */
export const nominatim: GeocoderAdapter = {
  attribution: "© OpenStreetMap contributors",
  searchRequest: ({ text, near, limit }) => ({
    path: "/search",
    parameters: { q: text, format: "jsonv2", limit, ...(near && { viewbox: boxAround(near) }) },
  }),
  readSearch: (answer) => search.parse(answer).flatMap(addressOf),
  reverseRequest: ({ lat, lng }) => ({
    path: "/reverse",
    parameters: { lat, lon: lng, format: "jsonv2" },
  }),
  readReverse(answer) {
    const read = reverse.parse(answer);
    return "error" in read ? [] : addressOf(read);
  },
};

function addressOf(read: z.output<typeof place>): AddressMatch[] {
  const label = labelOf(read.display_name);
  if (label === "") return [];
  const precision = precisionOf(read.place_rank ?? 0);
  return [{ label, lat: read.lat, lng: read.lon, precision, confidence: undefined }];
}

/** Returns the precision for the rank of an address (https://nominatim.org/release-docs/latest/customize/Ranking). */
function precisionOf(rank: number): AddressPrecision {
  if (rank >= BUILDING_RANK) return "building";
  return rank >= STREET_RANK ? "street" : "area";
}

/** Returns the corners of a box around a point, clipped to the valid range, in Nominatim's format. */
function boxAround({ lat, lng }: { readonly lat: number; readonly lng: number }): string {
  return [-NEAR_DEGREES, NEAR_DEGREES].flatMap((by) => [within(lng + by, 180), within(lat + by, 90)]).join(",");
}

function within(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value));
}
