import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { BOOKING, book, bookAnd, COVERED_ROUTE, takeStep } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { countBookings } from "../../support/count-bookings.ts";
import { connectTo } from "../../support/database.ts";
import { CANCELLED, insertBooked, insertQuotes, PAID } from "../../support/insert-booked.ts";
import { startService } from "../../support/service.ts";

const NOW = new Date("2031-05-20T13:00:00Z");

const service = await startService({ now: () => NOW });
const sql = await connectTo(service.databaseUrl);

const NO_BOOKINGS = { bookings: 0, cancellations: 0, revenue: [] };
const NO_DELIVERIES = {
  name: null,
  bookings: 0,
  paid: 0,
  picked_up: 0,
  delivered: 0,
  failed_attempts: 0,
  with_window: 0,
  on_time: 0,
};
const dollars = (paid: number, awaiting_payment: number) => [{ currency: "USD", paid, awaiting_payment }];

const overviewOf = (apiKey: string, from_date?: string, to_date?: string) =>
  data(service.as(apiKey).getOverview({ from_date, to_date }));

/** Creates a workspace with the given time zone. */
async function workspaceIn(time_zone: string) {
  const workspace = await service.addWorkspace();
  await data(service.as(workspace.apiKey).updateWorkspace({ time_zone }));
  return workspace;
}

/** Inserts unpaid bookings: their number by time. */
async function insertAt(id: number, counts: Readonly<Record<string, number>>): Promise<void> {
  for (const [at, count] of Object.entries(counts)) await insertBooked(sql, id, at, { count });
}

test("counts a workspace's bookings by day in UTC", async () => {
  const [{ id, apiKey }, other] = [await service.addWorkspace(), await service.addWorkspace()];
  await insertAt(id, { "2031-05-01T23:59:59.999Z": 9, "2031-05-02T00:00:00Z": 2 });
  await insertBooked(sql, id, "2031-05-02T12:00:00Z", { count: 3, ...PAID });
  await insertBooked(sql, id, "2031-05-02T12:00:00Z", { count: 1, ...PAID, currency: "JPY" });
  const quoted = { count: 4, ...CANCELLED, quoted: true };
  await insertBooked(sql, id, "2031-05-02T23:59:59.999Z", quoted);
  await insertBooked(sql, id, "2031-05-04T23:59:59.999Z", { count: 1, ...CANCELLED });
  await insertAt(id, { "2031-05-05T00:00:00Z": 9 });
  await insertAt(other.id, { "2031-05-02T12:00:00Z": 9 });
  await insertQuotes(sql, id, "2031-05-01T23:00:00Z", 1_000);
  await insertQuotes(sql, id, "2031-05-02T00:00:00Z", 4);
  await insertQuotes(sql, id, "2031-05-03T23:00:00Z", 12);
  await insertQuotes(sql, other.id, "2031-05-03T00:00:00Z", 1_000);
  await sql.query(
    "insert into usage_hour (workspace_id, hour, limit_class, calls) values ($1, '2031-05-02T00:00:00Z', 'read', 1000)",
    [id],
  );
  const revenue = [{ currency: "JPY", paid: 1_269, awaiting_payment: 0 }, ...dollars(38.07, 25.38)];
  expect(await overviewOf(apiKey, "2031-05-02", "2031-05-04")).toEqual({
    from_date: "2031-05-02",
    to_date: "2031-05-04",
    days: [
      { date: "2031-05-02", bookings: 10, cancellations: 4, revenue, quotes: 4 },
      { date: "2031-05-03", ...NO_BOOKINGS, quotes: 12 },
      { date: "2031-05-04", bookings: 1, cancellations: 1, revenue: [], quotes: 0 },
    ],
    totals: {
      bookings: 11,
      cancellations: 5,
      revenue,
      quotes: 16,
      quoted_bookings: 4,
      quote_to_booking: 0.25,
    },
    time_zone: "UTC",
    deliveries: { ...NO_DELIVERIES, bookings: 11, paid: 9, picked_up: 4 },
    couriers: [{ ...NO_DELIVERIES, bookings: 11, paid: 9, picked_up: 4 }],
    zones: [{ ...NO_DELIVERIES, bookings: 11, paid: 9, picked_up: 4 }],
  });
});

/** Returns an overview's days with bookings or quotes, and both numbers. */
async function countsOf(apiKey: string, from: string, to: string): Promise<object> {
  const { time_zone: zone, days } = await overviewOf(apiKey, from, to);
  return {
    zone,
    ...Object.fromEntries(
      days.flatMap(({ date, bookings, quotes }: Record<string, number>) =>
        bookings || quotes ? [[date, [bookings, quotes]]] : [],
      ),
    ),
  };
}

test("days follow the workspace's time zone, including those of 23 and 25 hours, and its changes", async () => {
  const { id, apiKey } = await workspaceIn("America/New_York");
  // Daylight saving time begins on March 9, 2031 in New York and on March 30 in Berlin, at 2:00.
  await insertAt(id, {
    "2031-03-09T04:59:59.999Z": 1,
    "2031-03-09T05:00:00Z": 2,
    "2031-03-10T03:59:59.999Z": 4,
    "2031-03-10T04:00:00Z": 8,
    "2031-03-29T22:59:59.999Z": 16,
    "2031-03-29T23:00:00Z": 32,
    "2031-03-30T21:59:59.999Z": 64,
    "2031-03-30T22:00:00Z": 128,
  });
  await insertQuotes(sql, id, "2031-03-10T03:00:00Z", 5);
  await insertQuotes(sql, id, "2031-03-10T04:00:00Z", 6);
  const { totals } = await overviewOf(apiKey, "2031-03-08", "2031-03-09");
  expect(totals).toMatchObject({ bookings: 7, revenue: dollars(0, 88.83), quotes: 5 });
  expect(await countsOf(apiKey, "2031-03-08", "2031-04-01")).toEqual({
    zone: "America/New_York",
    "2031-03-08": [1, 0],
    "2031-03-09": [6, 5],
    "2031-03-10": [8, 6],
    "2031-03-29": [48, 0],
    "2031-03-30": [192, 0],
  });
  await data(service.as(apiKey).updateWorkspace({ time_zone: "Europe/Berlin" }));
  expect(await countsOf(apiKey, "2031-03-08", "2031-04-01")).toEqual({
    zone: "Europe/Berlin",
    "2031-03-09": [3, 0],
    "2031-03-10": [12, 11],
    "2031-03-29": [16, 0],
    "2031-03-30": [96, 0],
    "2031-03-31": [128, 0],
  });
});

test("a day that starts within an hour counts the later quarters of that hour", async () => {
  const { id, apiKey } = await workspaceIn("Asia/Kathmandu");
  await insertAt(id, { "2031-05-02T18:14:59.999Z": 1, "2031-05-02T18:15:00Z": 2 });
  await sql.query(
    `insert into usage_hour (workspace_id, hour, limit_class, calls, second_quarter, third_quarter, fourth_quarter)
     values ($1, '2031-05-02T18:00:00Z', 'quote', 1111, 10, 100, 1000)`,
    [id],
  );
  const [first, second] = [{ "2031-05-02": [1, 1] }, { "2031-05-03": [2, 1_110] }];
  const zone = "Asia/Kathmandu";
  const whole = await countsOf(apiKey, "2031-05-02", "2031-05-04");
  expect(whole).toEqual({ zone, ...first, ...second });
  // Each time zone counts only its own part of the hour.
  expect(await countsOf(apiKey, "2031-05-02", "2031-05-02")).toEqual({ zone, ...first });
  expect(await countsOf(apiKey, "2031-05-03", "2031-05-03")).toEqual({ zone, ...second });
});

test("a test twin uses its live workspace's time zone and its own clock", async () => {
  const { apiKey, twin } = await workspaceIn("Pacific/Auckland");
  const lastDay = async (key: string) => {
    const { to_date, time_zone } = await overviewOf(key);
    return [to_date, time_zone];
  };
  // At 13:00 UTC, the next day has begun in Auckland.
  expect(await lastDay(apiKey)).toEqual(["2031-05-21", "Pacific/Auckland"]);
  expect(await lastDay(twin.apiKey)).toEqual(["2031-05-21", "Pacific/Auckland"]);
  await data(service.as(twin.apiKey).moveTestClock({ time: "2031-05-22T12:00:00Z" }));
  expect(await lastDay(twin.apiKey)).toEqual(["2031-05-23", "Pacific/Auckland"]);
});

test("an overview covers the last 30 days by default, and has no ratio without quotes", async () => {
  const { days, ...rest } = await overviewOf((await service.addWorkspace()).apiKey);
  expect(days).toHaveLength(30);
  expect(days[29]).toEqual({ date: "2031-05-20", ...NO_BOOKINGS, quotes: 0 });
  expect(rest).toEqual({
    from_date: "2031-04-21",
    to_date: "2031-05-20",
    totals: { ...NO_BOOKINGS, quotes: 0, quoted_bookings: 0, quote_to_booking: null },
    time_zone: "UTC",
    deliveries: NO_DELIVERIES,
    couriers: [],
    zones: [],
  });
});

test("counts the deliveries of bookings by courier and zone, before and after their days are counted", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { setCourier, recordAttempt } = service.as(apiKey);
  const shipments = [];
  for (const steps of [["pay", "advance", "advance"], ["pay", "advance", "advance"], ["pay"], []] as const) {
    const { reference: shipment } = await bookAnd(service, apiKey, steps.slice(0, 1));
    if (shipments.length < 3) await data(setCourier({ shipment, name: shipments.length < 2 ? "Sam" : "Kim" }));
    if (shipments.length === 2) await data(recordAttempt({ shipment, reason: "nobody_there" }));
    for (const step of steps.slice(1)) await data(takeStep(service, apiKey, shipment, step));
    shipments.push(shipment);
  }
  const windowUntil = (end: string) => ({
    dropoff: { start: "2031-05-19T08:00:00.000Z", end, timeZone: "UTC", feeMinor: 0 },
  });
  for (const [i, delivered] of ["2031-05-19T10:00:00Z", "2031-05-19T10:00:01Z"].entries()) {
    await sql.query("update shipment set windows = $1, delivered_at = $2 where workspace_id = $3 and reference = $4", [
      windowUntil("2031-05-19T10:00:00.000Z"),
      delivered,
      id,
      shipments[i],
    ]);
  }
  await sql.query("update shipment set created_at = '2031-05-19T07:00:00Z' where workspace_id = $1", [id]);
  await sql.query("update shipment set dropoff_zone = 'Queens' where reference = $1", [shipments[3]]);
  const done = { bookings: 2, paid: 2, picked_up: 2, delivered: 2, with_window: 2, on_time: 1 };
  const expected = {
    deliveries: { ...NO_DELIVERIES, ...done, bookings: 4, paid: 3, failed_attempts: 1 },
    couriers: [
      { ...NO_DELIVERIES, ...done, name: "Sam" },
      { ...NO_DELIVERIES, bookings: 1, paid: 1, failed_attempts: 1, name: "Kim" },
      { ...NO_DELIVERIES, bookings: 1 },
    ],
    zones: [
      { ...NO_DELIVERIES, ...done, bookings: 3, paid: 3, failed_attempts: 1, name: "Kings" },
      { ...NO_DELIVERIES, bookings: 1, name: "Queens" },
    ],
  };
  expect(await overviewOf(apiKey, "2031-05-01", "2031-05-20")).toMatchObject(expected);
  await sql.query("delete from booking_roll_up where workspace_id = $1", [id]);
  await countBookings(sql, service.app.em);
  await sql.query("update shipment set dropoff_zone = 'Bronx' where workspace_id = $1", [id]);
  expect(await overviewOf(apiKey, "2031-05-02", "2031-05-20")).toMatchObject(expected);
  // An earlier release counts a day without couriers and zones.
  await sql.query("update booking_day set grouped_hours = '[]' where workspace_id = $1", [id]);
  await sql.query("update shipment set dropoff_zone = 'Bronx', delivered_at = null where workspace_id = $1", [id]);
  const zones = [{ ...expected.deliveries, name: "Bronx", on_time: 0, with_window: 0 }];
  expect(await overviewOf(apiKey, "2031-05-03", "2031-05-20")).toMatchObject({ zones });
});

test("only bookings with a quote id or an expected price count as quoted", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const rateOf = async (from: string, quotes: number) => {
    await insertQuotes(sql, id, `${from}T00:00:00Z`, quotes);
    // Uses different days each time, so that no response comes from the cache.
    const { totals } = await overviewOf(apiKey, from, "2031-05-20");
    return [totals.bookings, totals.quotes, totals.quoted_bookings, totals.quote_to_booking];
  };
  const { body: quote } = await service.as(apiKey).createQuote(COVERED_ROUTE);
  const named = [{}, {}, { expected_total: 12.69 }, { quote_id: quote.id }];
  for (const fields of named) await book(service, apiKey, fields);
  // Previews in a form, which people request without a key, do not count as quotes.
  const person = await signIn(service, apiKey, { email: "books@example.org", role: "member" });
  const { status } = await person.request("/v1/shipments", {
    body: { ...BOOKING, expected_total: 12.69 },
    headers: { "x-workspace": String(id) },
  });
  expect(status).toBe(201);
  await sql.query("update shipment set created_at = $1 where workspace_id = $2", [NOW, id]);
  // If bookings exceed quotes, there is no share.
  expect(await rateOf("2031-05-04", 1)).toEqual([5, 1, 2, null]);
  expect(await rateOf("2031-05-03", 1)).toEqual([5, 2, 2, 1]);
  expect(await rateOf("2031-05-02", 6)).toEqual([5, 8, 2, 0.25]);
});

test("quotes are absent for days whose counts have been deleted, and from the totals", async () => {
  const { apiKey } = await service.addWorkspace();
  // 99 days ago is the first day whose counts are complete.
  const { days, totals } = await overviewOf(apiKey, "2031-02-09", "2031-02-10");
  expect(days.map(({ quotes }: any) => quotes)).toEqual([null, 0]);
  expect(totals.quotes).toBeNull();
});

test("payments and cancellations change the figures of the booking's day", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { reference } = await book(service, apiKey);
  await sql.query("update shipment set created_at = $1 where workspace_id = $2", [NOW, id]);
  // Uses different days each time, so that no response comes from the cache.
  const lastDay = async (from: string) => (await overviewOf(apiKey, from, "2031-05-20")).days.at(-1);
  const day = { date: "2031-05-20", bookings: 1, cancellations: 0, quotes: 0 };
  expect(await lastDay("2031-05-01")).toEqual({ ...day, revenue: dollars(0, 12.69) });
  await takeStep(service, apiKey, reference, "pay");
  expect(await lastDay("2031-05-02")).toEqual({ ...day, revenue: dollars(12.69, 0) });
  await takeStep(service, apiKey, reference, "cancel");
  expect(await lastDay("2031-05-03")).toEqual({ ...day, cancellations: 1, revenue: [] });
});

test("rejects invalid days by field", async () => {
  const { apiKey } = await service.addWorkspace();
  const reversed = service.as(apiKey).getOverview({ from_date: "2031-05-21" });
  await expectRefused(reversed, "FIELD_INVALID", {
    from_date: "from_date must not be after to_date.",
  });
});
