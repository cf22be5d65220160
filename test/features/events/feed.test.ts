import type pg from "pg";
import { expect, inject, test } from "vitest";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import { book, bookAnd, BOOKING } from "../../support/bookings.ts";
import { connectTo, createDatabase } from "../../support/database.ts";
import { announcePlans, plansIn, rowsAt } from "../../support/plans.ts";
import { sharedService, startReplica, type TestService } from "../../support/service.ts";
import { startStatementLog } from "../../support/statement-log.ts";
import { take } from "../../support/take.ts";
import { addWebhook } from "../../support/webhooks.ts";

const service = await sharedService();

/** Maximum number of events that one search by type examines. */
const MAX_EXAMINED = 1_000;

async function readFeed(apiKey: string, fields: object = {}, at: TestService = service): Promise<any> {
  const { code, text, body } = await at.as(apiKey).listEvents({ page_size: 100, ...fields });
  expect(code, text).toBeUndefined();
  return body;
}

const positionsOf = (events: readonly any[]): number[] => events.map(({ position }) => position);

const range = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Fills an empty feed with update events. */
async function fillFeed(sql: pg.Client, workspace: number, count: number): Promise<void> {
  await sql.query(
    `insert into event (workspace_id, position, subject, number, type, data, created_at)
     select $1, i, 'SHP-0000000000ZZ', i, 'shipment.updated', '{}', now()
     from generate_series(1, $2::int) as i`,
    [workspace, count],
  );
  await sql.query("update feed set position = $2 where workspace_id = $1", [workspace, count]);
}

test("positions count 1, 2, 3, ... per workspace, for all kinds of events, in the feed and in a shipment's events", async () => {
  const { apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  const first = await bookAnd(service, apiKey, ["pay"]);
  await book(service, other.apiKey);
  const webhook = { url: "https://example.org/", types: ["shipment.delivered"] };
  const added = await addWebhook(service, apiKey, webhook);
  await data(service.as(apiKey).testWebhook({ webhook: added.data.id }));
  const second = await book(service, apiKey);

  const feed = await readFeed(apiKey);
  expect(feed.data.map((it: any) => [it.position, it.type, it.shipment])).toEqual([
    [1, "shipment.created", first.reference],
    [2, "shipment.paid", first.reference],
    [3, "shipment.awaiting_pickup", first.reference],
    [4, "webhook.test", null],
    [5, "shipment.created", second.reference],
  ]);
  expect(positionsOf((await readFeed(other.apiKey)).data)).toEqual([1]);
  const events = await data(service.as(apiKey).listShipmentEvents({ shipment: first["reference"] }));
  expect(positionsOf(events)).toEqual([1, 2, 3]);
});

test("concurrent writes by two replicas, rejected calls and rollbacks leave no gap that a reader could see", async () => {
  const database = await createDatabase();
  const replicas = [await startReplica(database.url), await startReplica(database.url)];
  const { apiKey, id } = await replicas[0]!.addWorkspace();
  const client = await connectTo(database.url);
  let isWriting = true;

  const writeAt = async (at: TestService) => {
    const caller = at.as(apiKey);
    for (let i = 0; i < 15; i++) {
      const { reference: shipment } = await book(at, apiKey);
      const calls = [
        caller.createShipment({ ...BOOKING, expected_total: 1 }),
        caller.advanceShipment({ shipment }),
        caller.cancelShipment({ shipment }),
        caller.updateShipment({ shipment, pickup_address: "Elsewhere" }),
      ];
      for (const { status, text } of await Promise.all(calls)) {
        expect(status, text).toBeLessThan(500);
      }
    }
  };
  const rollBack = async () => {
    while (isWriting) {
      await client.query("begin");
      await client.query(
        `insert into event (workspace_id, position, subject, number, type, data, created_at)
         values ($1, raise_feed($1, 1), 'SHP-000000000000', 1, 'shipment.created', '{}', now())`,
        [id],
      );
      await client.query("rollback");
    }
  };
  const read = async () => {
    const seen: number[] = [];
    for (let isLast = false; !isLast;) {
      isLast = !isWriting;
      const page = await readFeed(apiKey, { after: seen.at(-1) ?? 0 }, replicas[0]);
      seen.push(...positionsOf(page.data));
      isLast &&= page.data.length === 0;
    }
    return seen;
  };
  const writing = Promise.all([...replicas, ...replicas].map(writeAt)).finally(() => {
    isWriting = false;
  });
  const [seen] = await Promise.all([read(), writing, rollBack()]);
  const { rows } = await client.query("select count(*)::int as count from event");
  expect(rows[0].count).toBeGreaterThan(60);
  expect(seen).toEqual(range(1, rows[0].count));
});

test("a transaction that stays open in this or another database of the server does not delay the feed", async () => {
  const { apiKey } = await service.addWorkspace();
  const elsewhere = await connectTo(inject("adminDatabaseUrls")[0]!);
  const here = await connectTo(service.databaseUrl);
  for (const open of [elsewhere, here]) await open.query("begin; select pg_current_xact_id()");
  const watching = service.grpcClient(apiKey, EventService).watchEvents({});
  const next = watching[Symbol.asyncIterator]();
  await next.next();
  const { reference } = await book(service, apiKey);
  const feed = await readFeed(apiKey);
  expect(feed.data.map((it: any) => it.shipment)).toEqual([reference]);
  expect((await next.next()).value?.data?.shipment).toBe(reference);
  await next.return?.(undefined);
  for (const open of [elsewhere, here]) await open.query("rollback");
});

test("a feed copied to another database server is complete, and new positions continue after it", async () => {
  const { apiKey, id } = await service.addWorkspace();
  await bookAnd(service, apiKey, ["pay"]);
  const before = await readFeed(apiKey);
  expect(before.data).toHaveLength(3);
  const from = await connectTo(service.databaseUrl);
  const restored = await createDatabase();
  const to = await connectTo(restored.url);
  const copy = async (table: string, where: string) => {
    const { rows } = await from.query(`select to_jsonb(t) as row from ${table} t where ${where}`);
    const insert = `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`;
    await to.query(insert, [JSON.stringify(rows.map(({ row }) => row))]);
  };
  await copy("workspace", `id = ${id}`);
  for (const table of ["payment_connection", "api_key", "feed", "event"]) {
    await copy(table, `workspace_id = ${id}`);
  }
  const replica = await startReplica(restored.url);
  expect(await readFeed(apiKey, {}, replica)).toEqual(before);
  await book(replica, apiKey);
  const after = await readFeed(apiKey, { after: before.cursor }, replica);
  expect(positionsOf(after.data)).toEqual([4]);
});

test("a page filtered by type ends after a bounded number of other events, and its cursor is behind them", async () => {
  const database = await createDatabase();
  const sql = await connectTo(database.url);
  await announcePlans(sql);
  const log = await startStatementLog(database.url);
  const replica = await startReplica(log.url);
  const { apiKey, id } = await replica.addWorkspace();
  await fillFeed(sql, id, 2 * MAX_EXAMINED + 200);
  await bookAnd(replica, apiKey, ["pay"]);

  const begun = log.notices.length;
  const pages = [];
  for (let cursor = ""; pages.length < 4;) {
    const page = await readFeed(apiKey, { types: "shipment.paid", after: cursor }, replica);
    pages.push([positionsOf(page.data), page.has_more]);
    cursor = page.cursor;
  }
  const paid = 2 * MAX_EXAMINED + 202;
  expect(pages).toEqual([
    [[], true],
    [[], true],
    [[paid], false],
    [[], false],
  ]);
  // Excludes background work, which may read events too.
  const plans = plansIn(log.notices.slice(begun)).filter(({ statement }) =>
    statement.includes("position > $2 order by position limit $5"),
  );
  const reads = plans.flatMap(({ nodes }) => nodes.filter((node) => node["Relation Name"] === "event").map(rowsAt));
  expect(reads).toEqual([MAX_EXAMINED, MAX_EXAMINED, 203, 0]);

  const client = replica.grpcClient(apiKey, EventService);
  const streamed = await take(2, client.watchEvents({ types: ["shipment.paid"] }));
  expect(streamed.map((it) => it.data?.position)).toEqual([undefined, BigInt(paid)]);
  const [alive] = await take(1, client.watchEvents({ types: ["shipment.cancelled"], after: `${paid}` }));
  const last = await readFeed(apiKey, { after: paid }, replica);
  expect(alive).toMatchObject({ cursor: last.cursor });
  expect(positionsOf(last.data)).toEqual([paid + 1]);
});

test("accepts the position of a known event as the cursor, but no other numeric text", async () => {
  const { apiKey } = await service.addWorkspace();
  await bookAnd(service, apiKey, ["pay"]);
  const { cursor } = await readFeed(apiKey);
  expect(positionsOf((await readFeed(apiKey, { after: 0 })).data)).toEqual([1, 2, 3]);
  expect(positionsOf((await readFeed(apiKey, { after: 2 })).data)).toEqual([3]);
  expect(await readFeed(apiKey, { after: 3 })).toEqual({ data: [], cursor: "3", has_more: false });
  expect((await readFeed(apiKey, { after: 2 })).cursor).toBe(cursor);
  for (const after of ["01", "-1", "1.5", "1e3", "9".repeat(16), "9".repeat(17)]) {
    expect(await invalidFields(service.as(apiKey).listEvents({ after })), after).toEqual(["after"]);
  }
});

test("a stream sends an event that was not announced", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const stream = service.grpcClient(apiKey, EventService).watchEvents({});
  const next = stream[Symbol.asyncIterator]();
  await next.next();
  const sql = await connectTo(service.databaseUrl);
  await sql.query(
    `insert into event (workspace_id, position, subject, number, type, data, created_at)
     values ($1, raise_feed($1, 1), 'SHP-000000000000', 1, 'shipment.created', '{}', now())`,
    [id],
  );
  expect((await next.next()).value?.data).toMatchObject({ position: 1n });
  await next.return?.(undefined);
});

test("lists the newest events first on request, and the cursor leads to older ones", async () => {
  const { apiKey, id } = await service.addWorkspace();
  await fillFeed(await connectTo(service.databaseUrl), id, MAX_EXAMINED + 10);
  const shipment = await bookAnd(service, apiKey, ["pay"]);
  const newest = { newest_first: true, page_size: 2 };
  const page = async (fields: object) => {
    const { data, cursor, has_more } = await readFeed(apiKey, { ...newest, ...fields });
    return { positions: positionsOf(data), cursor, hasMore: has_more };
  };
  const first = await page({});
  expect([first.positions, first.hasMore]).toEqual([[MAX_EXAMINED + 13, MAX_EXAMINED + 12], true]);
  const second = await page({ after: first.cursor });
  expect([second.positions, second.hasMore]).toEqual([[MAX_EXAMINED + 11, MAX_EXAMINED + 10], true]);
  expect(await page({ after: 3 })).toEqual({
    positions: [2, 1],
    cursor: expect.any(String),
    hasMore: false,
  });
  expect(await page({ after: 1 })).toEqual({ positions: [], cursor: "1", hasMore: false });

  const paid = await page({ types: "shipment.paid" });
  expect(paid).toMatchObject({ positions: [MAX_EXAMINED + 12], hasMore: true });
  expect(await page({ types: "shipment.paid", after: paid.cursor })).toMatchObject({
    positions: [],
    hasMore: false,
  });
  const { apiKey: empty } = await service.addWorkspace();
  expect(await readFeed(empty, newest)).toEqual({ data: [], cursor: "", has_more: false });

  // Within a shipment, event numbers follow the feed positions.
  const of = (fields: object) => page({ subject: shipment["reference"], ...fields });
  const own = await of({});
  expect([own.positions, own.hasMore]).toEqual([[MAX_EXAMINED + 13, MAX_EXAMINED + 12], true]);
  expect(await of({ after: own.cursor })).toMatchObject({
    positions: [MAX_EXAMINED + 11],
    hasMore: false,
  });
  expect(await of({ newest_first: false, after: MAX_EXAMINED + 11 })).toMatchObject({
    positions: [MAX_EXAMINED + 12, MAX_EXAMINED + 13],
    hasMore: false,
  });
  expect(await of({ types: "shipment.created" })).toMatchObject({
    positions: [MAX_EXAMINED + 11],
    hasMore: false,
  });
  expect(await page({ subject: "SHP-000000000000" })).toMatchObject({ positions: [] });
});

test("getEvent returns an event as in the feed, and not found for an event of another workspace", async () => {
  const { apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  await book(service, apiKey);
  const [event] = (await readFeed(apiKey)).data;
  expect(await data(service.as(apiKey).getEvent({ event: event.id }))).toEqual(event);
  for (const id of ["evt_1", `${event.id}0`, "anything"]) {
    await expectRefused(service.as(apiKey).getEvent({ event: id }), "EVENT_NOT_FOUND");
  }
  await expectRefused(service.as(other.apiKey).getEvent({ event: event.id }), "EVENT_NOT_FOUND");
});
