import { expect, test } from "vitest";
import { createUsageCounter, writeUsage } from "../../../src/features/reports/usage-counter.ts";
import { callOf } from "../../support/call-of.ts";
import { connectTo, createDatabase, openOrm } from "../../support/database.ts";

const database = await createDatabase();
const orm = openOrm(database.url);
const sql = await connectTo(database.url);
await sql.query("insert into workspace (id, name, created_at) select i, 'Test', now() from generate_series(1, 6000) i");

async function writtenCalls(): Promise<{ workspaces: number; calls: number }> {
  const { rows } = await sql.query(
    "select count(distinct workspace_id)::int as workspaces, sum(calls)::int as calls from usage_hour",
  );
  return rows[0];
}

test("replicas that write at the same time neither lose calls nor deadlock", async () => {
  const counters = Array.from({ length: 4 }, (_, replica) => {
    const counter = createUsageCounter();
    const workspaces = Array.from({ length: 6_000 }, (__, i) => i + 1);
    // Replicas use different orders of workspaces.
    if (replica % 2 === 1) workspaces.reverse();
    for (const workspace of workspaces) counter.count(callOf(workspace));
    return counter;
  });
  await Promise.all(counters.map((counter) => writeUsage(orm.em, counter)));
  expect(await writtenCalls()).toEqual({ workspaces: 6_000, calls: 24_000 });
  expect(counters.flatMap((counter) => counter.unwritten())).toEqual([]);
});

test("calls that cannot be written stay counted", async () => {
  const counter = createUsageCounter();
  counter.count(callOf(1));
  const before = await writtenCalls();
  await sql.query("alter table usage_hour rename to away");
  await expect(writeUsage(orm.em, counter)).rejects.toThrow("usage_hour");
  await sql.query("alter table away rename to usage_hour");
  expect(counter.unwritten()).toEqual([{ workspace: 1, limitClass: "write", calls: 1 }]);
  await writeUsage(orm.em, counter);
  expect(await writtenCalls()).toEqual({ ...before, calls: before.calls + 1 });
});

test("calls of a deleted workspace do not block those of others", async () => {
  const counter = createUsageCounter();
  counter.count(callOf(1));
  counter.count(callOf(7_000));
  const before = await writtenCalls();
  await writeUsage(orm.em, counter);
  expect(await writtenCalls()).toEqual({ ...before, calls: before.calls + 1 });
  expect(counter.unwritten()).toEqual([]);
});
