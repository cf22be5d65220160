import type { Position, Ring } from "./geo.ts";

const SPLIT = "split the polygon at the antimeridian into a MultiPolygon";

/**
 * Returns the error in a ring's list of positions as a phrase that follows the ring's name, such as
 * "must be closed". Returns `undefined` if the list is valid.
 */
export function ringError(ring: unknown): string | undefined {
  if (!Array.isArray(ring) || ring.length < 4) return "must be a list of at least 4 positions";
  for (const [i, position] of ring.entries()) {
    const error = positionError(position);
    if (error !== undefined) return `has an invalid position ${i + 1}: ${error}`;
  }
  return openError(ring) ?? wideEdgeError(ring);
}

function positionError(position: unknown): string | undefined {
  if (!isPosition(position)) {
    return "a position is [longitude, latitude] or [longitude, latitude, altitude] in numbers";
  }
  const [lng, lat] = position as readonly [number, number];
  if (Math.abs(lat) > 90) {
    return `latitude ${lat} is not between -90 and 90; write [longitude, latitude], in that order`;
  }
  if (Math.abs(lng) > 180) {
    return `longitude ${lng} is not between -180 and 180; if it crosses the antimeridian, ${SPLIT}`;
  }
  return undefined;
}

function isPosition(value: unknown): value is Position {
  return (
    Array.isArray(value) &&
    (value.length === 2 || value.length === 3) &&
    value.every((number) => Number.isFinite(number))
  );
}

function openError(ring: Ring): string | undefined {
  const first = ring[0]!;
  const last = ring[ring.length - 1]!;
  if (first[0] === last[0] && first[1] === last[1]) return undefined;
  return "is not closed; repeat its first position as its last";
}

/**
 * Rejects edges more than 180 degrees wide, which would go the long way around the Earth. Edges
 * must not cross the antimeridian (RFC 7946, 3.1.9).
 */
function wideEdgeError(ring: Ring): string | undefined {
  for (let i = 1; i < ring.length; i++) {
    const from = ring[i - 1] as readonly [number, number];
    const to = ring[i] as readonly [number, number];
    if (Math.abs(to[0] - from[0]) > 180 && !isFullParallel(from, to)) {
      return (
        `has an edge of more than 180 degrees of longitude, from [${from[0]}, ${from[1]}] to ` +
        `[${to[0]}, ${to[1]}]; if it crosses the antimeridian, ${SPLIT}; otherwise add a position between`
      );
    }
  }
  return undefined;
}

/**
 * Whether an edge runs from −180 to 180 along one parallel and so circles the Earth, as in a zone that covers the
 * whole world. Its endpoints are the same point, so there is no shorter way between them.
 */
function isFullParallel(from: Position, to: Position): boolean {
  return Math.abs(to[0]! - from[0]!) === 360 && from[1] === to[1];
}
