import { expect, test } from "vitest";
import {
  GetOverviewResponseSchema,
  ReportService,
} from "../../../gen/shipments/v1/report_service_pb.js";
import { book, bookAnd, COVERED_ROUTE } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { connectTo } from "../../support/database.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { CANCELLED, insertBooked, insertQuotes, PAID } from "../../support/insert-booked.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";

const NOW = new Date("2031-05-20T13:00:00Z");

const service = await startService({ now: () => NOW });
const sql = await connectTo(service.databaseUrl);

const NO_BOOKINGS = { bookings: 0, cancellations: 0, revenue: [] };

test("a workspace reads what it booked, by day in UTC, the same by JSON and by gRPC", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  await insertBooked(sql, id, "2031-05-01T23:59:59.999Z", { count: 9 });
  await insertBooked(sql, id, "2031-05-02T00:00:00Z", { count: 2 });
  await insertBooked(sql, id, "2031-05-02T12:00:00Z", { count: 3, ...PAID });
  await insertBooked(sql, id, "2031-05-02T12:00:00Z", { count: 1, ...PAID, currency: "JPY" });
  const quoted = { count: 4, ...CANCELLED, quoted: true };
  await insertBooked(sql, id, "2031-05-02T23:59:59.999Z", quoted);
  await insertBooked(sql, id, "2031-05-04T23:59:59.999Z", { count: 1, ...CANCELLED });
  await insertBooked(sql, id, "2031-05-05T00:00:00Z", { count: 9 });
  await insertBooked(sql, other.id, "2031-05-02T12:00:00Z", { count: 9 });
  await insertQuotes(sql, id, "2031-05-01T23:00:00Z", 1_000);
  await insertQuotes(sql, id, "2031-05-02T00:00:00Z", 4);
  await insertQuotes(sql, id, "2031-05-03T23:00:00Z", 12);
  await insertQuotes(sql, other.id, "2031-05-03T00:00:00Z", 1_000);
  await sql.query(
    "insert into usage_hour (workspace_id, hour, limit_class, calls) values ($1, '2031-05-02T00:00:00Z', 'read', 1000)",
    [id],
  );

  const revenue = [
    { currency: "JPY", paid: 1_269, awaiting_payment: 0 },
    { currency: "USD", paid: 38.07, awaiting_payment: 25.38 },
  ];
  const expected = {
    data: {
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
    },
  };
  const path = "/v1/overview?from_date=2031-05-02&to_date=2031-05-04";
  const { status, body } = await service.request(path, { apiKey });
  expect({ status, body }).toEqual({ status: 200, body: expected });
  const byGrpc = await service
    .grpcClient(apiKey, ReportService)
    .getOverview({ fromDate: "2031-05-02", toDate: "2031-05-04" });
  expect(inDialect(GetOverviewResponseSchema, byGrpc)).toEqual(expected);
});

/** Sets the time zone of a workspace as its admins do. */
async function setTimeZone(apiKey: string, timeZone: string): Promise<void> {
  const call = { apiKey, method: "PATCH", body: { time_zone: timeZone } };
  expect((await service.request("/v1/workspace", call)).status).toBe(200);
}

/** The days of an overview that had bookings or quotes, with how many. */
async function countsOf(apiKey: string, from: string, to: string): Promise<object> {
  const path = `/v1/overview?from_date=${from}&to_date=${to}`;
  const { time_zone: zone, days } = (await service.request(path, { apiKey })).body.data;
  return {
    zone,
    ...Object.fromEntries(
      days.flatMap(({ date, bookings, quotes }: Record<string, number>) =>
        bookings || quotes ? [[date, [bookings, quotes]]] : [],
      ),
    ),
  };
}

test("days are those of the workspace's time zone, of 23 and 25 hours too, and all days follow a change", async () => {
  const { id, apiKey } = await service.addWorkspace();
  // Clocks go forward in New York at 2 on the 9th of March 2031, and in Berlin at 2 on the 30th.
  const booked = {
    "2031-03-09T04:59:59.999Z": 1,
    "2031-03-09T05:00:00Z": 2,
    "2031-03-10T03:59:59.999Z": 4,
    "2031-03-10T04:00:00Z": 8,
    "2031-03-29T22:59:59.999Z": 16,
    "2031-03-29T23:00:00Z": 32,
    "2031-03-30T21:59:59.999Z": 64,
    "2031-03-30T22:00:00Z": 128,
  };
  for (const [at, count] of Object.entries(booked)) await insertBooked(sql, id, at, { count });
  await insertQuotes(sql, id, "2031-03-10T03:00:00Z", 5);
  await insertQuotes(sql, id, "2031-03-10T04:00:00Z", 6);
  const days = ["2031-03-08", "2031-04-01"] as const;

  await setTimeZone(apiKey, "America/New_York");
  const { body } = await service.request("/v1/overview?from_date=2031-03-08&to_date=2031-03-09", {
    apiKey,
  });
  const revenue = (bookings: number) => [
    { currency: "USD", paid: 0, awaiting_payment: Math.round(bookings * 1_269) / 100 },
  ];
  const rest = { cancellations: 0, quotes: 0 };
  const expected = {
    data: {
      from_date: "2031-03-08",
      to_date: "2031-03-09",
      days: [
        { date: "2031-03-08", bookings: 1, revenue: revenue(1), ...rest },
        { date: "2031-03-09", bookings: 6, revenue: revenue(6), ...rest, quotes: 5 },
      ],
      totals: {
        bookings: 7,
        cancellations: 0,
        revenue: revenue(7),
        quotes: 5,
        quoted_bookings: 0,
        quote_to_booking: 0,
      },
      time_zone: "America/New_York",
    },
  };
  expect(body).toEqual(expected);
  const byGrpc = await service
    .grpcClient(apiKey, ReportService)
    .getOverview({ fromDate: "2031-03-08", toDate: "2031-03-09" });
  expect(inDialect(GetOverviewResponseSchema, byGrpc)).toEqual(expected);

  expect(await countsOf(apiKey, ...days)).toEqual({
    zone: "America/New_York",
    "2031-03-08": [1, 0],
    "2031-03-09": [6, 5],
    "2031-03-10": [8, 6],
    "2031-03-29": [48, 0],
    "2031-03-30": [192, 0],
  });
  await setTimeZone(apiKey, "Europe/Berlin");
  expect(await countsOf(apiKey, ...days)).toEqual({
    zone: "Europe/Berlin",
    "2031-03-09": [3, 0],
    "2031-03-10": [12, 11],
    "2031-03-29": [16, 0],
    "2031-03-30": [96, 0],
    "2031-03-31": [128, 0],
  });
});

test("a day that begins within an hour counts the quarters of that hour from then on", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await setTimeZone(apiKey, "Asia/Kathmandu");
  await insertBooked(sql, id, "2031-05-02T18:14:59.999Z", { count: 1 });
  await insertBooked(sql, id, "2031-05-02T18:15:00Z", { count: 2 });
  await sql.query(
    `insert into usage_hour (workspace_id, hour, limit_class, calls, second_quarter, third_quarter, fourth_quarter)
     values ($1, '2031-05-02T18:00:00Z', 'quote', 1111, 10, 100, 1000)`,
    [id],
  );
  expect(await countsOf(apiKey, "2031-05-02", "2031-05-04")).toEqual({
    zone: "Asia/Kathmandu",
    "2031-05-02": [1, 1],
    "2031-05-03": [2, 1_110],
  });
  // Each alone has its part of the hour.
  expect(await countsOf(apiKey, "2031-05-02", "2031-05-02")).toMatchObject({
    "2031-05-02": [1, 1],
  });
  expect(await countsOf(apiKey, "2031-05-03", "2031-05-03")).toMatchObject({
    "2031-05-03": [2, 1_110],
  });
});

test("a test twin has the days of its live workspace, and its own clock says which is today", async () => {
  const { apiKey, twin } = await service.addWorkspace();
  await setTimeZone(apiKey, "Pacific/Auckland");
  const lastDay = async (key: string) => {
    const { data } = (await service.request("/v1/overview", { apiKey: key })).body;
    return [data.to_date, data.time_zone];
  };
  // It is 13:00 in UTC, and the day after in Auckland.
  expect(await lastDay(apiKey)).toEqual(["2031-05-21", "Pacific/Auckland"]);
  expect(await lastDay(twin.apiKey)).toEqual(["2031-05-21", "Pacific/Auckland"]);
  const moved = { apiKey: twin.apiKey, body: { time: "2031-05-22T12:00:00Z" } };
  expect((await service.request("/v1/test/clock", moved)).status).toBe(200);
  expect(await lastDay(twin.apiKey)).toEqual(["2031-05-23", "Pacific/Auckland"]);
});

test("without days, an overview is of the last 30; there is no ratio without quotes", async () => {
  const { apiKey } = await service.addWorkspace();
  const { body } = await service.request("/v1/overview", { apiKey });
  const { days, ...rest } = body.data;
  expect(days).toHaveLength(30);
  expect(days[29]).toEqual({ date: "2031-05-20", ...NO_BOOKINGS, quotes: 0 });
  expect(rest).toEqual({
    from_date: "2031-04-21",
    to_date: "2031-05-20",
    totals: { ...NO_BOOKINGS, quotes: 0, quoted_bookings: 0, quote_to_booking: null },
    time_zone: "UTC",
  });
});

test("only bookings that name a quote, by its price or its id, count as quotes that were booked", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const rateOf = async (from: string, quotes: number) => {
    await insertQuotes(sql, id, `${from}T00:00:00Z`, quotes);
    // Each asks for other days, so that no answer is a remembered one.
    const path = `/v1/overview?from_date=${from}&to_date=2031-05-20`;
    const { totals } = (await service.request(path, { apiKey })).body.data;
    return [totals.bookings, totals.quotes, totals.quoted_bookings, totals.quote_to_booking];
  };
  const quote = await service.request("/v1/quotes", { apiKey, body: COVERED_ROUTE });
  const named = [{}, {}, { expected_total: 12.69 }, { quote_id: quote.body.id }];
  for (const fields of named) await book(service, apiKey, fields);
  await sql.query("update shipment set created_at = $1 where workspace_id = $2", [NOW, id]);
  expect(await rateOf("2031-05-03", 2)).toEqual([4, 2, 2, 1]);
  expect(await rateOf("2031-05-02", 6)).toEqual([4, 8, 2, 0.25]);
});

test("a share of quotes is not told where more was booked at their prices than was quoted", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await insertBooked(sql, id, "2031-05-03T12:00:00Z", { count: 3, quoted: true });
  await insertQuotes(sql, id, "2031-05-03T00:00:00Z", 2);
  const { body } = await service.request("/v1/overview", { apiKey });
  expect(body.data.totals).toMatchObject({ bookings: 3, quotes: 2, quote_to_booking: null });
});

test("quotes are absent for days whose counts have been deleted, and then from the totals", async () => {
  const { apiKey } = await service.addWorkspace();
  // 99 days before now is the first whose counts are whole.
  const path = "/v1/overview?from_date=2031-02-09&to_date=2031-02-10";
  const { body } = await service.request(path, { apiKey });
  expect(body.data).toEqual({
    from_date: "2031-02-09",
    to_date: "2031-02-10",
    days: [
      { date: "2031-02-09", ...NO_BOOKINGS, quotes: null },
      { date: "2031-02-10", ...NO_BOOKINGS, quotes: 0 },
    ],
    totals: { ...NO_BOOKINGS, quotes: null, quoted_bookings: 0, quote_to_booking: null },
    time_zone: "UTC",
  });
});

test("a shipment's payment and cancellation change the figures of the day of its booking", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const dayOf = async (from: string) => {
    const path = `/v1/overview?from_date=${from}&to_date=2031-05-20`;
    const { quotes, ...day } = (await service.request(path, { apiKey })).body.data.days.at(-1);
    return [day, quotes];
  };
  const date = "2031-05-20";
  // Each asks for other days, so that no answer is a remembered one.
  const { reference } = await bookAnd(service, apiKey, []);
  await sql.query("update shipment set created_at = $1 where workspace_id = $2", [NOW, id]);
  const revenue = (paid: number, awaiting_payment: number) => [
    { currency: "USD", paid, awaiting_payment },
  ];
  expect(await dayOf("2031-05-01")).toEqual([
    { date, bookings: 1, cancellations: 0, revenue: revenue(0, 12.69) },
    0,
  ]);
  const body = { amount: 12.69, currency: "USD" };
  await service.request(`/v1/shipments/${reference}/payments`, { apiKey, body });
  expect(await dayOf("2031-05-02")).toEqual([
    { date, bookings: 1, cancellations: 0, revenue: revenue(12.69, 0) },
    0,
  ]);
  await service.request(`/v1/shipments/${reference}/cancel`, { apiKey, body: {} });
  expect(await dayOf("2031-05-03")).toEqual([
    { date, bookings: 1, cancellations: 1, revenue: [] },
    0,
  ]);
});

test("days that cannot be reported are refused at their fields, by JSON and by gRPC", async () => {
  const { apiKey } = await service.addWorkspace();
  const path = "/v1/overview?from_date=2031-02-30&to_date=yesterday";
  const { status, body } = await service.request(path, { apiKey });
  expect([status, Object.keys(body.errors)]).toEqual([422, ["to_date"]]);
  const reversed = await service.request("/v1/overview?from_date=2031-05-21", { apiKey });
  expect([reversed.status, reversed.body]).toEqual([
    422,
    errorBody("from_date must not be after to_date.", "from_date"),
  ]);
  const byGrpc = await rpcError(
    service.grpcClient(apiKey, ReportService).getOverview({ fromDate: "2031-05-21" }),
  );
  expect(byGrpc).toMatchObject({ message: "from_date must not be after to_date." });
});

test("every member may read reports, and nobody else", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { key } = await service.addOperator("owner");
  const viewer = await signIn(service, apiKey, { email: "v@example.org", role: "viewer" });
  const headers = { "x-workspace": String(id) };
  for (const path of ["/v1/usage", "/v1/overview"]) {
    expect((await viewer.request(path, { headers })).status).toBe(200);
    expect((await service.request(path, { apiKey: key })).status).toBe(401);
    expect((await service.request(path)).status).toBe(401);
  }
});
