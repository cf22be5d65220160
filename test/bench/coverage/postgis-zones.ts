import type { Zone } from "../../../src/domain/coverage/coverage.ts";
import { withClient } from "../database.ts";
import { runPgbench } from "../load/pgbench.ts";
import { cityPoints, cityZones } from "./city-zones.ts";
import { POINTS, ZONE_COUNTS, type LookUps } from "./look-ups.ts";

/** How many zones are sent at once. */
const BATCH = 5_000;

/** Fills a database with the zones of every case, each in a table with a GiST index, and the points. */
export async function fillZones(url: string): Promise<void> {
  await withClient(url, async (client) => {
    for (const count of ZONE_COUNTS) {
      await client.query(`create table zones_${count} (shape geometry(polygon, 4326))`);
      const texts = cityZones(count).map(wellKnownText);
      for (let start = 0; start < count; start += BATCH) {
        await client.query(
          `insert into zones_${count} select st_geomfromtext(t, 4326) from unnest($1::text[]) t`,
          [texts.slice(start, start + BATCH)],
        );
      }
      await client.query(`create index on zones_${count} using gist (shape)`);

      await client.query(`create table points_${count} (place geometry(point, 4326))`);
      const points = cityPoints(count, POINTS);
      await client.query(
        `insert into points_${count} select st_setsrid(st_makepoint(lng, lat), 4326)
         from unnest($1::float8[], $2::float8[]) as t (lng, lat)`,
        [points.map((point) => point.lng), points.map((point) => point.lat)],
      );
    }
    await client.query("vacuum analyze");
  });
}

function wellKnownText({ polygons: [polygon] }: Zone): string {
  const rings = polygon!.map((ring) => `(${ring.map(([lng, lat]) => `${lng} ${lat}`).join(",")})`);
  return `polygon(${rings.join(",")})`;
}

/** Looks all points up in one query: without the way there and back, without planning. */
export async function lookUpTogether(url: string, zones: number): Promise<LookUps> {
  return withClient(url, async (client) => {
    const begunMs = performance.now();
    const { rows } = await client.query<{ covered: number }>(
      `select count(*)::int as covered from points_${zones}
       where exists (select from zones_${zones} where st_covers(shape, place))`,
    );
    const tookMs = performance.now() - begunMs;
    return { perSecond: (POINTS * 1_000) / tookMs, covered: rows[0]!.covered };
  });
}

/** Looks points up one after the other, as a service would, by one connection. */
export async function lookUpOneByOne(options: {
  readonly pgbench: string;
  readonly url: string;
  readonly zones: number;
  readonly seconds: number;
  readonly folder: string;
}): Promise<Pick<LookUps, "perSecond">> {
  const { pgbench, url, zones, seconds, folder } = options;
  const { requestsPerSecond } = await runPgbench({
    command: pgbench,
    databaseUrl: url,
    script: `\\set lng random(-125000000, -67000000)
\\set lat random(25000000, 49000000)
select exists (select from zones_${zones} where st_covers(shape, st_setsrid(st_makepoint(:lng::int / 1e6::float8, :lat::int / 1e6::float8), 4326)));
`,
    variables: {},
    clients: 1,
    seconds,
    warmUpSeconds: 0,
    folder,
  });
  return { perSecond: requestsPerSecond };
}
