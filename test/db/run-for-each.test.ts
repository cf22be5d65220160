import { beforeEach, expect, test } from "vitest";
import type { MikroORM } from "@mikro-orm/postgresql";
import { runForEach } from "../../src/db/for-each-workspace.ts";
import { runStatement } from "../../src/db/statement.ts";
import { createDatabase, openOrm } from "../support/database.ts";

const DIVIDE = "select 6 / $1::int as quotient";

let orm: MikroORM;
beforeEach(async () => {
  orm = openOrm((await createDatabase()).url);
});

test("each run returns its rows, and a failed run does not affect the others", async () => {
  expect(await runForEach(orm.em, DIVIDE, [[1], [0], [3]])).toEqual([[{ quotient: 6 }], undefined, [{ quotient: 2 }]]);
  expect(await runForEach(orm.em, DIVIDE, [])).toEqual([]);
});

test("throws the error when all runs fail", async () => {
  await expect(runForEach(orm.em, DIVIDE, [[0], [0]])).rejects.toThrow("division by zero");
});

test("a non-durable run does not wait for the disk, and the next statement does", async () => {
  const setting = "select current_setting('synchronous_commit') as value where $1::int = 1";
  expect(await runForEach(orm.em, setting, [[1]], { durable: false })).toEqual([[{ value: "off" }]]);
  expect(await runStatement(orm.em, setting, [1])).toEqual([{ value: "on" }]);
});
