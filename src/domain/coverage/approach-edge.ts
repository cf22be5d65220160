/** A place on the unit sphere: its longitude and latitude in radians, and its vector. */
export interface Place {
  readonly lng: number;
  readonly lat: number;
  readonly cosLat: number;
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/**
 * A search for the place nearest to a target. Distances are chords, straight lines through the
 * sphere, in radii from 0 to 2: they grow with the arcs above them and take less to work out.
 */
export interface Approach {
  readonly target: Place;
  /** The nearest place found so far, and its distance. */
  nearest: Place | undefined;
  chord: number;
  /** Only what may be nearer than this is worth a look. */
  goal: number;
}

/** The place at a longitude and latitude in degrees. */
export function placeAt(lng: number, lat: number): Place {
  return placeAtRadians((lng * Math.PI) / 180, (lat * Math.PI) / 180);
}

function placeAtRadians(lng: number, lat: number): Place {
  const cosLat = Math.cos(lat);
  return {
    lng,
    lat,
    cosLat,
    x: cosLat * Math.cos(lng),
    y: cosLat * Math.sin(lng),
    z: Math.sin(lat),
  };
}

/** Starts a search, which has found nothing yet. */
export function startApproach(target: Place): Approach {
  return { target, nearest: undefined, chord: Infinity, goal: Infinity };
}

/**
 * Looks for a nearer place on an edge: a straight line in longitude and latitude (RFC 7946, 3.1.1),
 * which on the sphere is a curve. The curve keeps within its bulge of its chord, so the distance to
 * the chord less the bulge bounds it from below, and any place on it from above. Where the bounds
 * are too far apart the edge is halved, which quarters the bulge: below 5e-10, half of the chord's
 * tolerance, they never are. The longest edges have a bulge below 5, so that is 17 halvings deep.
 */
export function approachEdge(approach: Approach, from: Place, to: Place): void {
  const foot = footOnChord(from, to, approach.target);
  const atLeast = distanceToChord(from, to, foot, approach.target) - bulge(from, to);
  if (atLeast < approach.goal) approachPlace(approach, placeBetween(from, to, foot));
  if (atLeast < approach.goal) approachHalves(approach, from, to);
}

function approachHalves(approach: Approach, from: Place, to: Place): void {
  const middle = placeBetween(from, to, 0.5);
  approachEdge(approach, from, middle);
  approachEdge(approach, middle, to);
}

function approachPlace(approach: Approach, place: Place): void {
  const { target } = approach;
  const chord = norm(place.x - target.x, place.y - target.y, place.z - target.z);
  if (chord >= approach.chord) return;
  approach.nearest = place;
  approach.chord = chord;
  approach.goal = goalAfter(chord);
}

/** A part in ten thousand: 5 cm of 500 m, 500 m of 5,000 km. */
const ARC_TOLERANCE = 1e-4;

/** In radii; 6 mm on the Earth. */
const CHORD_TOLERANCE = 1e-9;

/**
 * What would be nearer by more than the tolerance. Without a tolerance, a search from the middle of
 * a round hole would look at every edge of it.
 */
function goalAfter(chord: number): number {
  // Between antipodes rounding lifts the chord a hair above 2, and beyond 1 asin is NaN.
  const halfArc = Math.asin(Math.min(1, chord / 2));
  return 2 * Math.sin(halfArc * (1 - ARC_TOLERANCE)) - CHORD_TOLERANCE;
}

function placeBetween(from: Place, to: Place, share: number): Place {
  return placeAtRadians(
    from.lng + (to.lng - from.lng) * share,
    from.lat + (to.lat - from.lat) * share,
  );
}

/** Which share of the chord lies before its point nearest to the target, 0 to 1. */
function footOnChord(from: Place, to: Place, target: Place): number {
  const x = to.x - from.x;
  const y = to.y - from.y;
  const z = to.z - from.z;
  const along = (target.x - from.x) * x + (target.y - from.y) * y + (target.z - from.z) * z;
  // An edge once round the Earth, or of one place, has no chord to speak of.
  const share = along / (x * x + y * y + z * z);
  return share > 0 ? Math.min(share, 1) : 0;
}

function distanceToChord(from: Place, to: Place, foot: number, target: Place): number {
  return norm(
    from.x + (to.x - from.x) * foot - target.x,
    from.y + (to.y - from.y) * foot - target.y,
    from.z + (to.z - from.z) * foot - target.z,
  );
}

/**
 * How far an edge can be from its chord: an eighth of the greatest second derivative of its vector
 * (the error of linear interpolation). With the latitude φ and longitude λ linear in t from 0 to 1
 * that derivative has the parts φ'², 2 φ' λ' sin φ and λ'² cos φ, along the Earth's radius, the
 * parallel and the radius of the parallel.
 */
function bulge(from: Place, to: Place): number {
  const northward = Math.abs(to.lat - from.lat);
  const eastward = Math.abs(to.lng - from.lng);
  // A cosine changes by no more than its angle.
  const widest = Math.min(1, from.cosLat + northward);
  return (northward * (northward + 2 * eastward) + eastward * eastward * widest) / 8;
}

function norm(x: number, y: number, z: number): number {
  return Math.sqrt(x * x + y * y + z * z);
}
