import { expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import { connectTo, createDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { startService } from "../support/service.ts";

test("a replica keeps two or three connections after it becomes idle", async () => {
  const service = await startService();
  const { apiKey } = await service.addWorkspace();
  const database = await connectTo(service.databaseUrl);
  const connections = async () => {
    const { rows } = await database.query(
      `select application_name as name, count(*)::int from pg_stat_activity
       where datname = current_database() and application_name like 'shipments%'
       group by 1 order by 1`,
    );
    return rows;
  };
  await Promise.all(Array.from({ length: 100 }, () => book(service, apiKey)));
  // Concurrent background work may keep a second connection open.
  const idle = expect.arrayContaining([
    { name: "shipments", count: expect.toSatisfy((count: number) => count <= 2) },
    { name: "shipments changes", count: 1 },
  ]);
  expect(await connections()).not.toEqual(idle);

  // On a busy machine, background work often overlaps and keeps a third connection open for a while.
  const hasShrunk = async () => idle.asymmetricMatch(await connections());
  await eventually("the pool to shrink", hasShrunk);
});

test("the start log has the maximum number of connections of a replica", async () => {
  const database = await createDatabase();
  const service = await startServiceProcess({ DATABASE_URL: database.url });
  const line = await eventually("the line", () => service.log().find(({ msg }) => msg === "starting"));
  expect(line).toMatchObject({ maxDatabaseConnections: 24 });
});
