import { expect, test } from "vitest";
import { purgeTestData } from "../../../src/features/test-mode/delete-test-data.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { book, bookAnd, BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startService, type TestWorkspace } from "../../support/service.ts";
import { addWebhook, deliveriesOf } from "../../support/webhooks.ts";

const service = await startService();
const sql = await connectTo(service.databaseUrl);

const DATA = [
  "kept_answer",
  "used_quote",
  "webhook_delivery",
  "webhook_attempt",
  "event",
  "payment",
  "shipment",
  "customer_alias",
  "customer",
  "courier_link",
  "courier",
] as const;

const IDEMPOTENT = { "idempotency-key": "kept" };

/** Counts a workspace's rows in each table with test data. */
async function rowsOf({ id }: TestWorkspace): Promise<Record<string, number>> {
  const counts = DATA.map((table) =>
    sql.query(`select count(*)::int as rows from ${table} where workspace_id = $1`, [id]),
  );
  return Object.fromEntries((await Promise.all(counts)).map(({ rows }, i) => [DATA[i]!, rows[0].rows]));
}

/** Creates at least one row in each table. */
async function fill({ apiKey }: TestWorkspace): Promise<void> {
  const receiver = await startReceiver();
  const { data: webhook } = await addWebhook(service, apiKey, receiver);
  const caller = service.as(apiKey);
  await bookAnd(service, apiKey, ["pay", "cancel"]);
  const paid = await bookAnd(service, apiKey, ["pay"]);
  await caller.createShipment(BOOKING, IDEMPOTENT);
  const quoted = await caller.createQuote(COVERED_ROUTE);
  const booked = await book(service, apiKey, { quote_id: quoted.body.id });
  const { customer: other } = await book(service, apiKey, { customer_name: "A." });
  await data(caller.mergeCustomers({ customer: booked["customer"].id, from: other.id }));
  const { id: courier } = await data(caller.createCourier({ name: "Ada" }));
  await caller.assignCourier({ courier, shipments: [{ shipment: paid["reference"] }] });
  await data(caller.createCourierLink({ courier }));
  await eventually("the deliveries", async () => {
    const deliveries = await deliveriesOf(service, apiKey, webhook.id);
    return deliveries.every(({ status }) => status === "delivered");
  });
}

const EMPTY = Object.fromEntries(DATA.map((table) => [table, 0]));

test("deletes all test data, but no live data, keys or webhooks, and the feed continues", async () => {
  const live = await service.addWorkspace();
  const { twin } = live;
  await fill(live);
  await fill(twin);
  const before = await rowsOf(live);
  expect(Object.values(before)).not.toContain(0);
  expect(await rowsOf(twin)).toEqual(before);
  const caller = service.as(twin.apiKey);
  const { cursor: after } = (await caller.listEvents()).body;

  const { status, body } = await caller.deleteTestData();
  expect({ status, body }).toEqual({ status: 200, body: { complete: true } });
  expect(await rowsOf(twin)).toEqual(EMPTY);
  expect(await rowsOf(live)).toEqual(before);

  expect(await data(caller.listWebhooks())).toHaveLength(1);
  const booked = await caller.createShipment(BOOKING, IDEMPOTENT);
  expect(booked.headers.get("idempotency-replayed")).toBeNull();
  expect(await data(caller.listEvents({ after }))).toMatchObject([{ shipment: booked.body.data.reference }]);
});

test("test data cannot be deleted with a live key", async () => {
  const { apiKey } = await service.addWorkspace();
  await book(service, apiKey);
  await expectRefused(service.as(apiKey).deleteTestData(), "TEST_MODE_ONLY");
  expect(await data(service.as(apiKey).listShipments())).toHaveLength(1);
});

test("test-mode events with future dates do not prevent the deletion of older ones", async () => {
  const { twin } = await service.addWorkspace();
  await book(service, twin.apiKey);
  await book(service, twin.apiKey);
  await sql.query("begin");
  // Inserts 501 events with future dates, as if the clock had been advanced.
  await sql.query("set local session_replication_role = replica");
  await sql.query(
    `insert into event select (json_populate_record(event, json_build_object(
       'number', number + i, 'position', -i, 'created_at', now() + interval '1 year'))).*
     from event cross join generate_series(1, 501) i where workspace_id = $1 and position = 1`,
    [twin.id],
  );
  await sql.query("commit");
  const at = new Date(Date.now() + 31 * 24 * 60 * 60 * 1_000);
  await purgeTestData(service.app.em, at);
  expect(await rowsOf(twin)).toMatchObject({ event: 501, shipment: 0 });
});

test("bookings of one customer succeed while test data is deleted repeatedly", async () => {
  const { twin } = await service.addWorkspace();
  const caller = service.as(twin.apiKey);
  let booking = true;
  const deleting = (async () => {
    while (booking) await caller.deleteTestData();
  })();
  for (let i = 0; i < 10; i++) {
    await Promise.all(Array.from({ length: 10 }, () => book(service, twin.apiKey)));
  }
  booking = false;
  await deleting;
  await caller.deleteTestData();
  expect(await rowsOf(twin)).toEqual(EMPTY);
});

test("deletes test data after 30 days, but no live data", async () => {
  const live = await service.addWorkspace();
  const { twin } = live;
  await fill(live);
  await fill(twin);
  const before = await rowsOf(live);
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * 60 * 1_000);
  await purgeTestData(service.app.em, inDays(29));
  expect(await rowsOf(twin)).toEqual(before);
  expect(await purgeTestData(service.app.em, inDays(30.01))).toBeGreaterThan(0);
  expect(await rowsOf(twin)).toEqual(EMPTY);
  expect(await rowsOf(live)).toEqual(before);
});
