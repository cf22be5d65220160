import pg from "pg";
import { expect, test } from "vitest";
import { createConnectionShares } from "../../src/db/connection-shares.ts";
import { guardConnections } from "../../src/db/guard-connections.ts";
import { createDatabase } from "../support/database.ts";

test("of five who ask for one idle connection in one tick, all but the first are seen to wait", async () => {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  await pool.query("select");
  const hasWaited: boolean[] = [];
  guardConnections(pool, createConnectionShares(1), (ms) => hasWaited.push(ms > 0));
  const use = async () => {
    const client = await pool.connect();
    await client.query("select");
    client.release();
  };
  await Promise.all(Array.from({ length: 5 }, use));
  expect(hasWaited).toEqual([false, true, true, true, true]);
  await pool.end();
});
