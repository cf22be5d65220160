import { z } from "zod";
import type { Point } from "../../domain/coverage/geo.ts";

const latitude = z.number().min(-90).max(90);
const longitude = z.number().min(-180).max(180);

/** Creates a schema for a list that drops malformed items. Fails only if all items are malformed. */
export function wellFormed<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).transform((rows, context) => {
    const items = rows.flatMap((row) => {
      const { success, data } = item.safeParse(row);
      return success ? [data as z.output<Item>] : [];
    });
    if (items.length === 0 && rows.length > 0) context.addIssue("no row is well-formed");
    return items;
  });
}

/** Creates a schema for a GeoJSON FeatureCollection of points (RFC 7946), which geocoders return. */
export function pointFeatures<Properties extends z.ZodType>(properties: Properties) {
  const coordinates = z.tuple([longitude, latitude]).rest(z.number());
  const geometry = z.object({ type: z.literal("Point"), coordinates });
  return z.object({
    type: z.literal("FeatureCollection"),
    features: wellFormed(z.object({ geometry, properties })),
  });
}

export function pointOf(feature: {
  readonly geometry: { readonly coordinates: readonly [number, number, ...number[]] };
}): Point {
  const [lng, lat] = feature.geometry.coordinates;
  return { lat, lng };
}
