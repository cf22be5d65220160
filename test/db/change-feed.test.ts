import pg from "pg";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CHANGES_CHANNEL, followChanges, type ChangeFeed, type Reader } from "../../src/db/change-feed.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { TEST_MS } from "../support/limits.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

let database: TestDatabase;
let proxy: TcpProxy;
let feed: ChangeFeed | undefined;

beforeEach(async () => {
  database = await createDatabase();
  proxy = await startTcpProxy(database.url);
});

afterEach(async () => {
  await feed?.close();
});

/** Starts to follow changes and counts them. */
function follow(
  onPoll: (reader: Reader) => Promise<unknown> = async () => undefined,
  options: { readonly pollMs?: number } = {},
) {
  const count = { polls: 0, connections: 0 };
  feed = followChanges({
    databaseUrl: proxy.url,
    log: pino({ level: "silent" }),
    reconnected: () => count.connections++,
    ...options,
    async poll(reader) {
      await onPoll(reader);
      count.polls++;
    },
  });
  return count;
}

test("the change feed processes a notification immediately, without waiting for the next poll", async () => {
  const count = follow(undefined, { pollMs: TEST_MS });
  await eventually("the first poll", () => count.polls > 0);
  const notifying = new pg.Client(database.url);
  await notifying.connect();
  for (let polls = 1; polls < 20; polls++) {
    await notifying.query(`notify ${CHANGES_CHANNEL}`);
    await eventually("the next poll", () => count.polls > polls);
  }
  await notifying.end();
});

test("the change feed polls if no notification arrives", async () => {
  const count = follow();
  await eventually("the third poll", () => count.polls >= 3);
  expect(count.connections).toBe(1);
});

test("the change feed replaces a lost connection and reports the loss", async () => {
  const count = follow();
  await eventually("the first poll", () => count.polls > 0);
  proxy.cut();
  await eventually("the second connection", () => count.connections === 2);
  const { polls } = count;
  await eventually("a poll", () => count.polls > polls);
});

test("the change feed retries a failed poll on a new connection", async () => {
  let failures = 3;
  const count = follow(async () => {
    if (failures-- > 0) throw new Error("not now");
  });
  await eventually("a poll", () => count.polls > 0);
  expect(count.connections).toBe(4);
});

test("the change feed treats an unresponsive database as a lost connection", async () => {
  const count = follow((client) => client.query("select 1"));
  await eventually("the first poll", () => count.polls > 0);
  proxy.forget();
  await eventually("the second connection", () => count.connections === 2);
});

test("the change feed makes no calls after it is closed", async () => {
  const count = follow();
  await eventually("the first poll", () => count.polls > 0);
  await feed?.close();
  const { polls } = count;
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query(`notify ${CHANGES_CHANNEL}`);
  const connections =
    "select from pg_stat_activity where application_name = 'shipments changes' and datname = current_database()";
  await eventually("its connection to close", async () => (await client.query(connections)).rowCount === 0);
  await client.end();
  expect(count.polls).toBe(polls);
});
