import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { superviseEmbeddedPostgres } from "../../src/embedded-postgres/supervisor.ts";
import { eventually } from "../support/eventually.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

test("a killed database restarts at the same address with its data", async () => {
  const dataDir = makeTemporaryFolder("supervise-embedded-postgres");
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const { url, release } = await superviseEmbeddedPostgres(dataDir, pino({ level: "silent" }));
  onTestFinished(release);
  await query(url, "create table kept as select 42 as answer");

  process.kill(postmasterOf(dataDir), "SIGKILL");
  await expect(query(url, "select 1")).rejects.toThrow();

  const answer = await eventually("the database to be back", () =>
    query(url, "select answer from kept").catch(() => undefined),
  );
  expect(answer).toEqual([{ answer: 42 }]);
});

function postmasterOf(dataDir: string): number {
  return Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
}

async function query(url: string, sql: string): Promise<object[]> {
  const client = new pg.Client(url);
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query<object>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
