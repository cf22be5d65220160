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

test("each run gives its rows, and one that fails fails alone", async () => {
  expect(await runForEach(orm.em, DIVIDE, [[1], [0], [3]])).toEqual([[{ quotient: 6 }], undefined, [{ quotient: 2 }]]);
  expect(await runForEach(orm.em, DIVIDE, [])).toEqual([]);
});

test("when all runs fail, the error is thrown", async () => {
  await expect(runForEach(orm.em, DIVIDE, [[0], [0]])).rejects.toThrow("division by zero");
});

test("what need not be durable waits for no disk, and what comes after it does", async () => {
  const setting = "select current_setting('synchronous_commit') as value where $1::int = 1";
  expect(await runForEach(orm.em, setting, [[1]], { durable: false })).toEqual([[{ value: "off" }]]);
  expect(await runStatement(orm.em, setting, [1])).toEqual([{ value: "on" }]);
});
