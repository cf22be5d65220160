import { geoPath, type GeoProjection } from "d3-geo";
import type { Box, Spot, Transform } from "./map-frame.ts";
import type { Zone } from "./map-geometry.ts";
import { namePoint, polygonsOf } from "./zone-names.ts";

/** What zones are drawn for: those in force, the two sides of a comparison, or one that is marked. */
export type LayerTone = "zone" | "before" | "after" | "marked";

/** A zone as its projection draws it. */
export interface ZoneShape {
  readonly name: string | undefined;
  readonly tone: LayerTone;
  readonly path: Path2D;
  readonly bounds: Box;
  /** Where its name has most room. */
  namePoint(): Spot;
}

/** Shapes in the order in which they are drawn. */
export type ZoneShapes = readonly ZoneShape[];

/** Projects zones, to be drawn alike. */
export function shapesOf(
  zones: readonly Zone[],
  tone: LayerTone,
  projection: GeoProjection,
): ZoneShapes {
  const pathOf = geoPath(projection);
  const projected = ({ geometry }: Zone) =>
    polygonsOf(geometry).map((rings) =>
      rings.map((ring) => ring.map(([lng, lat]) => projection([lng!, lat!])!)),
    );
  return zones.map((zone) => {
    const [[left, top], [right, bottom]] = pathOf.bounds(zone);
    // Worked out where a name may be shown: there may be thousands of zones.
    let point: Spot | undefined;
    return {
      name: zone.properties?.name,
      tone,
      path: new Path2D(pathOf(zone) ?? ""),
      bounds: { left, top, right, bottom },
      namePoint: () => (point ??= namePoint(projected(zone))),
    };
  });
}

/** Whether a point of the canvas is in a shape, which is drawn moved and scaled. Resets the transform. */
export function isIn(
  context: CanvasRenderingContext2D,
  { path }: ZoneShape,
  [x, y]: Spot,
  at: Transform,
): boolean {
  context.setTransform(1, 0, 0, 1, 0, 0);
  return context.isPointInPath(path, (x - at.x) / at.k, (y - at.y) / at.k, "evenodd");
}
