import assert from "node:assert/strict";
import { join } from "node:path";
import { POINTS, ZONE_COUNTS, type LookUps } from "../coverage/look-ups.ts";
import { startCoverage } from "../coverage/our-coverage.ts";
import { fillZones, lookUpOneByOne, lookUpTogether } from "../coverage/postgis-zones.ts";
import { startPostgis } from "../coverage/postgis.ts";
import type { Server } from "../database.ts";
import { debianProgramsWithPostgis } from "../debian-postgres.ts";
import { figureOf, ratioOf } from "../figure.ts";
import { interleave } from "../round.ts";
import { spread, table } from "../table.ts";

/** A second of a thing that happens a million times in it says enough. */
const SECONDS = 1;
const POSTGIS = ["PostGIS in one query", "PostGIS one by one"] as const;

/** One way to look points up, measured for every number of zones. */
interface Way {
  readonly zones: number;
  readonly measure: () => Promise<Pick<LookUps, "perSecond"> & Partial<LookUps>>;
}

/** Look-ups of points among zones of 30 corners, which cover about half of them. */
export async function coverage(server: Server): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const lookUp = await startCoverage(owned);
  const ours = ZONE_COUNTS.map((zones): Way => ({ zones, measure: () => lookUp(zones, SECONDS) }));
  const theirs = await postgisWays(owned, server);
  for (const { measure } of ours) await measure();
  const rounds = await interleave([...ours, ...theirs], ({ measure }) => measure());
  checkAgreement(rounds.map((way) => way[0]!.covered));

  const rows = ZONE_COUNTS.map((zones, i) => {
    const own = rounds[i]! as LookUps[];
    const others = POSTGIS.map((_, way) => rounds[(way + 1) * ZONE_COUNTS.length + i]);
    return [
      zones.toLocaleString("en"),
      ...others.map((other) =>
        other === undefined ? "" : spread(ratioOf(rates(own), rates(other)), 1),
      ),
      spread(figureOf(rates(own)), 0),
      spread(figureOf(own.map((it) => it.medianMicros)), 2),
      spread(figureOf(own.map((it) => it.p99Micros)), 2),
      ...others.map((other) =>
        other === undefined ? "not installed" : spread(figureOf(rates(other)), 0),
      ),
    ];
  });
  const columns = [
    "zones",
    ...POSTGIS.map((name) => `ours ÷ ${name}`),
    "ours, look-ups/s",
    "median, µs",
    "p99, µs",
    ...POSTGIS.map((name) => `${name}, look-ups/s`),
  ];
  return `${table(columns, rows)}\n\n${growthOf(rounds as LookUps[][])}`;
}

const rates = (rounds: readonly Pick<LookUps, "perSecond">[]) => rounds.map((it) => it.perSecond);

/** The ways of PostGIS, in the order of their names; none where it is not installed. */
async function postgisWays(owned: AsyncDisposableStack, server: Server): Promise<Way[]> {
  const programs = debianProgramsWithPostgis();
  if (programs === undefined) return [];
  const url = await startPostgis(owned, programs);
  await fillZones(url);
  const pgbench = join(programs, "pgbench");
  const { folder } = server;
  return [
    ...ZONE_COUNTS.map((zones) => ({ zones, measure: () => lookUpTogether(url, zones) })),
    ...ZONE_COUNTS.map((zones) => ({
      zones,
      measure: () => lookUpOneByOne({ pgbench, url, zones, seconds: SECONDS, folder }),
    })),
  ];
}

/** Both must find the same points covered, but for one on a boundary perhaps. */
function checkAgreement(covered: readonly (number | undefined)[]): void {
  for (const [i, zones] of ZONE_COUNTS.entries()) {
    const [ours, postgis] = [covered[i]!, covered[ZONE_COUNTS.length + i]];
    const agree = postgis === undefined || Math.abs(ours - postgis) <= POINTS / 1_000;
    assert.ok(agree, `of ${zones} zones, ${ours} and ${postgis} points are covered`);
  }
}

function growthOf(rounds: readonly LookUps[][]): string {
  const medians = (zones: (typeof ZONE_COUNTS)[number]) =>
    rounds[ZONE_COUNTS.indexOf(zones)]!.map((it) => it.medianMicros!);
  const growth = spread(ratioOf(medians(100_000), medians(1_000)), 2);
  return `Ours takes ${growth} times as long at 100,000 zones as at 1,000.`;
}
