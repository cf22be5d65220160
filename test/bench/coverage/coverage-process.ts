/**
 * The product's coverage in a process of its own: for every message with a number of zones and of
 * seconds, answers with what a round of look-ups saw.
 */
import { createCoverage, type Coverage } from "../../../src/domain/coverage/coverage.ts";
import type { Point } from "../../../src/domain/coverage/geo.ts";
import { quantile } from "../figure.ts";
import { cityPoints, cityZones } from "./city-zones.ts";
import { POINTS, ZONE_COUNTS, type LookUps } from "./look-ups.ts";

const cases = new Map(
  ZONE_COUNTS.map((zones) => [
    zones as number,
    { coverage: createCoverage(cityZones(zones)), points: cityPoints(zones, POINTS) },
  ]),
);

process.on("message", ({ zones, seconds }: { zones: number; seconds: number }) => {
  const { coverage, points } = cases.get(zones)!;
  process.send!({ ...lookUpManyTimes(coverage, points, seconds), ...timeEach(coverage, points) });
});
process.send!("ready");

function lookUpManyTimes(
  coverage: Coverage,
  points: readonly Point[],
  seconds: number,
): Pick<LookUps, "perSecond" | "covered"> {
  const begunMs = performance.now();
  let passes = 0;
  let covered = 0;
  let tookMs = 0;
  do {
    covered = 0;
    for (const point of points) if (coverage.covers(point)) covered++;
    passes++;
    tookMs = performance.now() - begunMs;
  } while (tookMs < seconds * 1_000);
  return { perSecond: (passes * points.length * 1_000) / tookMs, covered };
}

/** Each time holds that of looking at the clock, too. */
function timeEach(
  coverage: Coverage,
  points: readonly Point[],
): Pick<LookUps, "medianMicros" | "p99Micros"> {
  const tookMs = new Float64Array(points.length);
  for (const [i, point] of points.entries()) {
    const begunMs = performance.now();
    coverage.covers(point);
    tookMs[i] = performance.now() - begunMs;
  }
  tookMs.sort();
  return { medianMicros: quantile(tookMs, 0.5) * 1_000, p99Micros: quantile(tookMs, 0.99) * 1_000 };
}
