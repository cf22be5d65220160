import { z } from "zod";
import type { Point } from "../../domain/coverage/geo.ts";

const latitude = z.number().min(-90).max(90);
const longitude = z.number().min(-180).max(180);

/** A GeoJSON FeatureCollection of points (RFC 7946), as geocoders answer. */
export function pointFeatures<Properties extends z.ZodType>(properties: Properties) {
  const coordinates = z.tuple([longitude, latitude]).rest(z.number());
  const geometry = z.object({ type: z.literal("Point"), coordinates });
  return z.object({
    type: z.literal("FeatureCollection"),
    features: z.array(z.object({ geometry, properties })),
  });
}

export function pointOf(feature: {
  readonly geometry: { readonly coordinates: readonly [number, number, ...number[]] };
}): Point {
  const [lng, lat] = feature.geometry.coordinates;
  return { lat, lng };
}
