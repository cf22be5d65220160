import { expect, test } from "vitest";
import { createDatabaseClock } from "../../src/server/database-clock.ts";
import { connectTo } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startReplica, startService } from "../support/service.ts";
import type { LogLine } from "../support/service-process.ts";

/** Creates a clock that is compared with a database whose time is frozen. Also returns its log. */
function createClock() {
  const time = { ms: 0, aheadMs: 0, roundTripMs: 0, isReadOnly: false };
  const logged: unknown[] = [];
  const say = (fields: unknown, msg: unknown) => void logged.push([msg, fields]);
  const clock = createDatabaseClock(
    { info: say, warn: say } as never,
    () => 1_000_000 + time.aheadMs + time.roundTripMs / 2,
    () => time.ms,
  );
  const client = {
    async query() {
      time.ms += time.roundTripMs;
      return { rows: [{ ms: 1_000_000, isReadOnly: time.isReadOnly }] };
    },
  };
  const compare = async (aheadMs: number, roundTripMs = 100) => {
    Object.assign(time, { aheadMs, roundTripMs });
    await clock.poll(client as never);
    return [clock.aheadSeconds(), clock.offReason()];
  };
  return { compare, logged, time };
}

const WRONG = "the clock differs from the database's";
const DIFFERS = "the clock differs from the database's: synchronize both with NTP";

test("logs the start and end of a difference of more than 2 s once, and is not ready from 30 s on", async () => {
  const { compare, logged } = createClock();
  expect(await compare(2_000)).toEqual([2, undefined]);
  expect(logged).toEqual([]);
  expect(await compare(2_001)).toEqual([2.001, undefined]);
  expect(await compare(29_999)).toEqual([29.999, undefined]);
  expect(await compare(30_000)).toEqual([30, WRONG]);
  expect(await compare(-30_000)).toEqual([-30, WRONG]);
  expect(await compare(-1_001)).toEqual([-1.001, undefined]);
  expect(await compare(-1_000)).toEqual([-1, undefined]);
  expect(await compare(-2_000)).toEqual([-2, undefined]);
  expect(await compare(-2_001)).toEqual([-2.001, undefined]);
  expect(logged).toEqual([
    [DIFFERS, { seconds: 2.001 }],
    ["the clock agrees with the database's again", { seconds: -1 }],
    [DIFFERS, { seconds: -2.001 }],
  ]);
});

test("the service is not ready while the database is read-only", async () => {
  const { compare, logged, time } = createClock();
  time.isReadOnly = true;
  expect(await compare(0)).toEqual([0, "the database is read-only"]);
  expect(await compare(0)).toEqual([0, "the database is read-only"]);
  time.isReadOnly = false;
  expect(await compare(0)).toEqual([0, undefined]);
  expect(logged).toEqual([
    ["the database is read-only", {}],
    ["the database accepts writes again", {}],
  ]);
});

test("detects a database that becomes read-only", async () => {
  const service = await startService();
  const sql = await connectTo(service.databaseUrl);
  const name = new URL(service.databaseUrl).pathname.slice(1);
  await sql.query(`alter database ${name} set default_transaction_read_only = on`);
  await sql.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await eventually("the service to be unready", async () => {
    const response = await fetch(`${service.httpUrl}/readyz`);
    return response.status === 503 && /read-only/.test(await response.text());
  });
  await sql.query("begin read write");
  await sql.query(`alter database ${name} reset default_transaction_read_only`);
  await sql.query("commit");
});

test("ignores a response that took more than a second", async () => {
  const { compare, logged } = createClock();
  expect(await compare(40_000, 1_001)).toEqual([0, undefined]);
  expect(await compare(40_000, 1_000)).toEqual([40, WRONG]);
  expect(await compare(0, 1_001)).toEqual([40, WRONG]);
  expect(logged).toEqual([[DIFFERS, { seconds: 40 }]]);
});

test("a replica with a wrong clock is not ready and reports it in its log and metrics until the clock is correct", async () => {
  const service = await startService();
  const lines: LogLine[] = [];
  let aheadMs = -3_600_000;
  const clockMs = () => Date.now() + aheadMs;
  const logged = (line: LogLine) => lines.push(line);
  const replica = await startReplica(service.databaseUrl, { outside: { clockMs }, logged });
  const readiness = async () => {
    const { status, body } = await replica.request("/readyz");
    const { text } = await replica.request("/metrics");
    const [, seconds] = /^shipments_database_clock_ahead_seconds (.+)$/m.exec(text)!;
    return [status, body.status, Math.round(Number(seconds) / 10) * 10];
  };
  const wrong = async () => (await readiness())[0] === 503;
  await eventually("the replica to be unready", wrong);
  expect(await readiness()).toEqual([503, WRONG, -3_600]);
  expect(lines.filter(({ msg }) => msg === DIFFERS)).toHaveLength(1);
  aheadMs = 0;
  await eventually("the replica to be ready", async () => !(await wrong()));
  expect((await readiness()).slice(0, 2)).toEqual([200, "ready"]);
  await replica.close();
});
