import { z } from "zod";
import { labelOf, type AddressPrecision, type AddressMatch, type GeocoderAdapter } from "./geocoder.ts";
import { pointFeatures, pointOf } from "./point-feature.ts";

const properties = z.object({
  label: z.string(),
  layer: z.string().nullish(),
  confidence: z.number().min(0).max(1).nullish(),
});

const answers = pointFeatures(properties);

/**
 * Pelias, a geocoder with several open data sets (https://github.com/pelias/documentation). Uses
 * the autocomplete endpoint, which also finds complete addresses.
 */
export const pelias: GeocoderAdapter = {
  attribution: "© OpenStreetMap contributors, OpenAddresses, Who's On First, GeoNames",
  searchRequest: ({ text, near, limit }) => ({
    path: "/autocomplete",
    parameters: {
      text,
      size: limit,
      ...(near && { "focus.point.lat": near.lat, "focus.point.lon": near.lng }),
    },
  }),
  readSearch: readFeatures,
  reverseRequest: ({ lat, lng }) => ({
    path: "/reverse",
    parameters: { "point.lat": lat, "point.lon": lng, size: 1 },
  }),
  readReverse: readFeatures,
};

function readFeatures(answer: unknown): readonly AddressMatch[] {
  return answers.parse(answer).features.flatMap((feature) => {
    const { layer, confidence } = feature.properties;
    const label = labelOf(feature.properties.label);
    if (label === "") return [];
    const precision = PRECISIONS[layer ?? ""] ?? "area";
    return [{ label, ...pointOf(feature), precision, confidence: confidence ?? undefined }];
  });
}

/** Precision by Pelias layer. All other layers are areas. */
const PRECISIONS: Readonly<Record<string, AddressPrecision>> = {
  venue: "building",
  address: "building",
  street: "street",
  intersection: "street",
};
