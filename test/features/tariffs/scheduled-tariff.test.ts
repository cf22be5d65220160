import type { MikroORM } from "@mikro-orm/postgresql";
import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { createTariffTasks, type TariffTasks } from "../../../src/features/tariffs/tasks/run-tariff-task.ts";
import { createTariffCache, type TariffCache } from "../../../src/features/tariffs/versions/tariff-cache.ts";
import { createDatabase, type TestDatabase, connectTo, openOrm } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { worldTariff, zonesOf } from "../../support/tariffs.ts";

let database: TestDatabase;
let orm: MikroORM;
let client: pg.Client;
let cache: TariffCache;
/** Versions that a worker thread has loaded, in order. */
let loads: unknown[];

beforeEach(async () => {
  database = await createDatabase();
  orm = openOrm(database.url);
  client = await connectTo(database.url);
  await publishDocument(orm.em, worldTariff());
  loads = [];
  cache = createTariffCache({ em: orm.em, tasks: counted(), log: { warn: () => undefined } });
  await cache.refresh(client);
});

function counted(): TariffTasks {
  const tasks = createTariffTasks(database.url);
  return {
    ...tasks,
    async runAtOnce(name, input) {
      const output = await tasks.runAtOnce(name, input);
      loads.push(input);
      return output;
    },
  };
}

/** A circle with many positions, which compresses badly. */
const CIRCLE = Array.from({ length: 5_001 }, (_, i): [number, number] => {
  const angle = (2 * Math.PI * (i % 5_000)) / 5_000;
  return [Math.cos(angle), Math.sin(angle)];
});
/** A tariff that is large enough to be loaded in a worker thread. */
const LARGE = worldTariff({ base_fee: "7.00", zones: zonesOf([CIRCLE]) });

/** Schedules the next version to take effect in this many seconds, by the database's clock. */
async function schedule(document: object, seconds: number): Promise<void> {
  await client.query(
    `insert into tariff_version (version, document, digest, published_at, effective_at)
     select max(version) + 1, $1, 'digest', now(), clock_timestamp() + make_interval(secs => $2)
     from tariff_version`,
    [JSON.stringify(document), seconds],
  );
}

const untilCurrentIs = (version: number) =>
  eventually(`version ${version} to be in use`, async () => {
    await cache.refresh(client);
    return cache.currentVersion() === version;
  });

test("a scheduled version is loaded before it takes effect, used from then on, and not loaded again", async () => {
  await schedule(LARGE, 50);
  await eventually("the version to be loaded", async () => {
    await cache.refresh(client);
    return loads.length > 0;
  });
  expect([loads, cache.currentVersion()]).toEqual([[{ version: 2 }], 1]);
  expect(await cache.inForce(orm.em.fork())).toMatchObject({ version: 1 });
  await client.query("update tariff_version set effective_at = date_trunc('milliseconds', now()) where version = 2");
  expect(await cache.inForce(orm.em.fork())).toMatchObject({ version: 2 });
  expect([loads, cache.currentVersion()]).toEqual([[{ version: 2 }], 2]);
  // Transactions that have read the previous version as in force still use it.
  expect(await cache.byVersion(1)).toMatchObject({ version: 1 });
});

test("a version scheduled more than a minute ahead, or cancelled, is not loaded", async () => {
  await schedule(LARGE, 90);
  await cache.refresh(client);
  await client.query("update tariff_version set called_off_at = now(), effective_at = now()");
  await client.query("update tariff_version set called_off_at = null where version = 1");
  await cache.refresh(client);
  expect(await cache.inForce(orm.em.fork())).toMatchObject({ version: 1 });
  expect([loads, cache.currentVersion()]).toEqual([[], 1]);
});

test("a version that is cancelled when it takes effect is soon no longer used", async () => {
  await schedule(LARGE, 0);
  await untilCurrentIs(2);
  await client.query("update tariff_version set called_off_at = now() where version = 2");
  await untilCurrentIs(1);
});

test("a poll that was overtaken by a booking does not restore an earlier version", async () => {
  await schedule(LARGE, 0);
  const before = {
    query: async () => ({ rows: [{ inForce: 1, upcoming: null, calledOff: false }] }),
  };
  await cache.inForce(orm.em.fork());
  await cache.refresh(before as unknown as pg.Client);
  expect(cache.currentVersion()).toBe(2);
});

test("the cache reports how long the version in force could not be loaded", async () => {
  expect(cache.lagSeconds()).toBe(0);
  let isFailing = true;
  const tasks = createTariffTasks(database.url);
  const failing: TariffTasks = {
    ...tasks,
    async runAtOnce(...task) {
      if (isFailing) throw new Error("out of memory");
      return tasks.runAtOnce(...task);
    },
  };
  cache = createTariffCache({ em: orm.em, tasks: failing, log: { warn: () => undefined } });
  await cache.refresh(client);
  await schedule(LARGE, 0);
  await eventually("the cache to be behind", async () => {
    await cache.refresh(client);
    return cache.lagSeconds() > 0;
  });
  expect(cache.currentVersion()).toBe(1);
  isFailing = false;
  await untilCurrentIs(2);
  await cache.refresh(client);
  expect(cache.lagSeconds()).toBe(0);
});
