/** The product's coverage in a process of its own: for every message, a round of look-ups. */
import { createCoverage, type Coverage } from "../../../src/domain/coverage/coverage.ts";
import type { Point } from "../../../src/domain/coverage/geo.ts";
import { quantile } from "../figures.ts";
import { cityPoints, cityZones } from "./city-zones.ts";
import type { LookUps } from "./coverage.ts";

/** How many different places are looked up. */
const POINTS = 10_000;
/** A second of a thing that happens a million times in it says enough. */
const ROUND_MS = 1_000;

const known = new Map<number, { coverage: Coverage; points: readonly Point[] }>();

process.on("message", ({ zones }: { zones: number }) => {
  let found = known.get(zones);
  if (found === undefined) {
    found = { coverage: createCoverage(cityZones(zones)), points: cityPoints(zones, POINTS) };
    known.set(zones, found);
  }
  const { coverage, points } = found;
  process.send!({ perSecond: lookUpManyTimes(coverage, points), ...timeEach(coverage, points) });
});
process.send!("ready");

function lookUpManyTimes(coverage: Coverage, points: readonly Point[]): number {
  const begunMs = performance.now();
  let passes = 0;
  let tookMs = 0;
  let covered = 0;
  do {
    for (const point of points) if (coverage.covers(point)) covered++;
    passes++;
    tookMs = performance.now() - begunMs;
  } while (tookMs < ROUND_MS);
  if (covered === 0) throw new Error("no point is covered");
  return (passes * points.length * 1_000) / tookMs;
}

/** Each time holds that of looking at the clock, too. */
function timeEach(coverage: Coverage, points: readonly Point[]): Omit<LookUps, "perSecond"> {
  const tookMs = new Float64Array(points.length);
  for (const [i, point] of points.entries()) {
    const begunMs = performance.now();
    coverage.covers(point);
    tookMs[i] = performance.now() - begunMs;
  }
  tookMs.sort();
  return { medianMicros: quantile(tookMs, 0.5) * 1_000, p99Micros: quantile(tookMs, 0.99) * 1_000 };
}
