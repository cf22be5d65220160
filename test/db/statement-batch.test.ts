import pg, { type ClientConfig } from "pg";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { DatabaseClient } from "../../src/db/client.ts";
import { createConnectionShares, guardConnections } from "../../src/db/connection-shares.ts";
import { connectTo, createDatabase } from "../support/database.ts";

/** Fails if an upgrade of pg changes the behaviour that batches rely on. */
const database = await createDatabase();
const observer = await connectTo(database.url);
await observer.query("create table seat (number int)");

let client: DatabaseClient;

beforeEach(async () => {
  await observer.query("truncate seat");
  client = await open();
});

async function open(config: ClientConfig = {}): Promise<DatabaseClient> {
  const opened = new DatabaseClient({ connectionString: database.url, pipeline: true, ...config });
  await opened.connect();
  onTestFinished(() => opened.end());
  return opened;
}

const seats = async () => (await observer.query("select number from seat order by 1")).rows.map(({ number }) => number);

/** Settles all statements of a batch. */
const settled = (...sent: readonly Promise<unknown>[]) =>
  Promise.allSettled(sent).then((all) =>
    all.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).message)),
  );

test("the statements of a tick return their own rows, in order, also if they are already prepared", async () => {
  const jsonb = { a: ["é", null], "b'\"\\": 1.5 };
  const expected = [
    [{ int: 7, text: null, jsonb, bytes: Buffer.from([0, 255]), list: ['"', "\\"] }],
    [],
    [{ number: 7 }],
    [{ number: 1 }, { number: 2 }],
  ];
  for (let time = 0; time < 3; time++) {
    await observer.query("truncate seat");
    const answers = await Promise.all([
      client.send(
        `select $1::int as int, $2::text as text, $3::jsonb as jsonb, $4::bytea as bytes,
                $5::text[] as list`,
        [7, null, JSON.stringify(jsonb), Buffer.from([0, 255]), ['"', "\\"]],
      ),
      client.send("insert into seat values ($1)", [7]),
      client.send("select number from seat"),
      client.send("select generate_series($1::int, 2) as number", [1]),
    ]);
    expect(answers).toEqual(expected);
  }
});

test("batches, queries and cursors in flight return their own results, in the order of sending", async () => {
  const sent: Promise<unknown[]>[] = [];
  for (let i = 0; i < 5; i++) {
    sent.push(client.sendTogether([["select $1::int as n", [3 * i]]])[0]!);
    sent.push(client.query("select $1::int as n", [3 * i + 1]).then(({ rows }) => rows));
    sent.push(client.query(`select ${3 * i + 2} as n`).then(({ rows }) => rows));
  }
  const rows = await Promise.all(sent);
  expect(rows).toEqual(Array.from({ length: 15 }, (_, n) => [{ n }]));
});

test("skips the rest of a batch after a failed statement, and executes later batches", async () => {
  const failed = await settled(
    client.send("insert into seat values ($1)", [1]),
    client.send("select 1 / $1::int", [0]),
    client.send("insert into seat values ($1)", [2]),
    client.send("select 'never prepared' as text where $1", [true]),
  );
  expect(failed).toEqual([[], ...Array.from({ length: 3 }, () => "division by zero")]);
  expect(await client.send("select 1 / $1::int as one", [1])).toEqual([{ one: 1 }]);
  expect(await client.send("select 'never prepared' as text where $1", [true])).toHaveLength(1);
  // A batch without `begin` is a separate transaction.
  expect(await seats()).toEqual([]);
});

test("rejects the commit of a failed transaction", async () => {
  await settled(client.send("begin"), client.send("select 1 / $1::int", [0]));
  expect(await settled(client.send("commit"))).toEqual(["commit returned ROLLBACK"]);
});

test("rejects the statements of a lost connection and closes it", async () => {
  const ended = new Promise<void>((resolve) => client.once("end", resolve));
  const [backend] = await client.send<{ pid: number }>("select pg_backend_pid() as pid");
  const sent = settled(client.send("select pg_sleep(60)"), client.send("select 1"));
  await observer.query("select pg_terminate_backend($1::int)", [backend!.pid]);
  expect(await sent).toEqual(Array.from({ length: 2 }, () => "terminating connection due to administrator command"));
  await ended;
});

test("rejects a batch that exceeds the query timeout and closes the connection", async () => {
  const bounded = await open({ query_timeout: 8_000 });
  const ended = new Promise<void>((resolve) => bounded.once("end", resolve));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  expect(await bounded.send("select 1 as one")).toEqual([{ one: 1 }]);
  vi.advanceTimersByTime(7_999);
  const [slept] = bounded.sendTogether([["select pg_sleep(60)", []]]);
  const results = settled(slept!, bounded.query("select 1"));
  vi.advanceTimersByTime(8_000);
  expect(await results).toEqual(["Query read timeout", "Query read timeout"]);
  await ended;
});

/** Makes the server reject each `begin` of a connection, which otherwise happens only if it is cancelled. */
function breakBegin({ connection: { stream } }: pg.Client): void {
  const write = stream.write.bind(stream) as (chunk: Buffer) => boolean;
  stream.write = (chunk: Buffer) => {
    const text = chunk.toString("latin1").replaceAll("begin\0", "bogus\0");
    return write(Buffer.from(text, "latin1"));
  };
}

test("writes nothing after a failed `begin` and closes the connection", async () => {
  const broken = await open();
  breakBegin(broken);
  const ended = new Promise<void>((resolve) => broken.once("end", resolve));
  const sent = ["begin", "insert into seat values (1)", "commit"].map((sql) => broken.send(sql));
  expect(new Set(await settled(...sent))).toEqual(new Set(['syntax error at or near "bogus"']));
  await ended;
  expect(await seats()).toEqual([]);
});

test("a pool replaces a connection whose `begin` failed, even if it is never released", async () => {
  const pool = new pg.Pool({
    connectionString: database.url,
    pipeline: true,
    max: 1,
    Client: DatabaseClient,
  });
  pool.once("connect", (connected) => breakBegin(connected));
  onTestFinished(() => pool.end());
  guardConnections(pool, createConnectionShares(1), () => {});
  const kept = await pool.connect();
  await expect(kept.query("begin")).rejects.toThrow("bogus");
  const other = await pool.connect();
  expect((await other.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  other.release();
});

test("rejects a commit without a standby's confirmation, however it was sent", async () => {
  const warning = { routine: "SyncRepWaitForLSN" };
  for (const commit of [(one: DatabaseClient) => one.send("commit"), (one: DatabaseClient) => one.query("commit")]) {
    const warned = await open();
    await warned.query("begin");
    const committed = commit(warned);
    // The notice arrives in one packet with the confirmation.
    warned.connection.prependOnceListener("commandComplete", () => warned.emit("notice", warning));
    await expect(committed).rejects.toThrow("the wait of a commit for a synchronous standby");
    await expect(warned.query("select 1")).rejects.toThrow();
  }
});
