import type { Position } from "geojson";
import type { GeoProjection } from "d3-geo";
import type { LatLng } from "./map-geometry.ts";

/** A point on the canvas, in CSS pixels from its upper left corner. */
export type Spot = readonly [x: number, y: number];

/** A rectangle on the canvas, in CSS pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** How the coordinates of a projection become those on the canvas: times `k`, plus `x` and `y`. */
export interface Transform {
  readonly k: number;
  readonly x: number;
  readonly y: number;
}

/** Where a point of a projection is on the canvas. */
export function onCanvas([x, y]: Spot, at: Transform): Spot {
  return [x * at.k + at.x, y * at.k + at.y];
}

/**
 * Where the square world of Web Mercator lies on the canvas: its upper left corner (180° west, 85.05°
 * north) and how long its sides are, in CSS pixels. The world is repeated to the west and to the east.
 */
export interface WorldFrame {
  readonly left: number;
  readonly top: number;
  readonly size: number;
}

/** A part of the world: its west, south, east and north, and how long the sides of the world are, in pixels. */
export interface WorldPart {
  readonly edges: readonly [number, number, number, number];
  readonly worldSize: number;
}

/** Where a place is in the world, from 0 to 1 eastwards and southwards; nearer to a pole, at the edge. */
export function onWorld(lng: number, lat: number): Spot {
  const sin = Math.sin((Math.max(-85.0511, Math.min(85.0511, lat)) * Math.PI) / 180);
  return [lng / 360 + 0.5, 0.5 - Math.atanh(sin) / (2 * Math.PI)];
}

/**
 * A ring in the world from 0 to 1. One across the date line goes on beyond that; one around the south pole is
 * closed along the lower edge.
 */
export function unbroken(ring: readonly Position[]): readonly Spot[] {
  const spots: Spot[] = [];
  let turns = 0;
  for (const [i, [lng, lat]] of ring.entries()) {
    const step = i === 0 ? 0 : lng! - ring[i - 1]![0]!;
    if (Math.abs(step) > 180) turns -= Math.sign(step);
    const [x, y] = onWorld(lng!, lat!);
    spots.push([x + turns, y]);
  }
  return turns === 0 ? spots : [...spots, [spots.at(-1)![0], 1], [spots[0]![0], 1]];
}

/** The frame of a Mercator projection that is turned around the poles alone, and then moved. */
export function worldFrame(projection: GeoProjection, { k, x, y }: Transform): WorldFrame {
  const [east] = projection.rotate();
  const [middleX, middleY] = projection([-east, 0])!;
  const size = 2 * Math.PI * projection.scale();
  return {
    left: (middleX - (0.5 - east / 360) * size) * k + x,
    top: (middleY - size / 2) * k + y,
    size: size * k,
  };
}

/** The place at a point, with a longitude from -180 to 180; undefined outside of the world. */
export function placeAt(frame: WorldFrame, [x, y]: Spot): LatLng | undefined {
  const down = (y - frame.top) / frame.size;
  if (down < 0 || down > 1) return undefined;
  const along = (x - frame.left) / frame.size;
  const lat = (Math.atan(Math.sinh(Math.PI * (1 - 2 * down))) * 180) / Math.PI;
  return { lat, lng: (along - Math.floor(along)) * 360 - 180 };
}

/** The radius of the Earth at the equator, in metres, which Web Mercator reckons with. */
const EQUATOR_RADIUS_M = 6_378_137;

/** How many metres a pixel is at a latitude. */
export function metresPerPixel({ size }: WorldFrame, lat: number): number {
  return (2 * Math.PI * EQUATOR_RADIUS_M * Math.cos((lat * Math.PI) / 180)) / size;
}
