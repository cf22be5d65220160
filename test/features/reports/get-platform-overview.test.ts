import { expect, test } from "vitest";
import {
  GetPlatformOverviewResponseSchema,
  PlatformReportService,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { countBookings } from "../../support/count-bookings.ts";
import { connectTo } from "../../support/database.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { CANCELLED, insertBooked, insertQuotes, PAID } from "../../support/insert-booked.ts";
import { startService } from "../../support/service.ts";

const NOW = new Date("2031-05-20T13:00:00Z");

const service = await startService({ now: () => NOW });
const sql = await connectTo(service.databaseUrl);

/** Figures of nothing but shipments of 12.69 USD that await their payment. */
const awaiting = (count: number) => ({
  bookings: count,
  cancellations: 0,
  revenue: [{ currency: "USD", paid: 0, awaiting_payment: (count * 1_269) / 100 }],
});

test("an operator reads what all workspaces booked, and which ten booked most, by JSON and by gRPC", async () => {
  const { key } = await service.addOperator("viewer");
  const ids: number[] = [];
  for (let i = 0; i < 12; i++) ids.push((await service.addWorkspace()).id);
  const [first, second, ...others] = ids as [number, number, ...number[]];
  await sql.query("update workspace set name = 'The most' where id = $1", [second]);
  await insertBooked(sql, first, "2031-05-02T12:00:00Z", {
    count: 3,
    currency: "JPY",
    ...PAID,
    quoted: true,
  });
  await insertBooked(sql, second, "2031-05-02T12:00:00Z", { count: 2 });
  await insertBooked(sql, second, "2031-05-03T12:00:00Z", { count: 2, ...CANCELLED });
  for (const id of others) await insertBooked(sql, id, "2031-05-03T12:00:00Z", { count: 2 });
  await insertBooked(sql, others[9]!, "2031-05-04T00:00:00Z", { count: 20 });
  await insertQuotes(sql, first, "2031-05-02T07:00:00Z", 2);
  await insertQuotes(sql, second, "2031-05-02T07:00:00Z", 1);
  await insertQuotes(sql, second, "2031-05-03T07:00:00Z", 3);

  const yen = { currency: "JPY", paid: 3_807, awaiting_payment: 0 };
  const dollars = (awaiting_payment: number) => ({ currency: "USD", paid: 0, awaiting_payment });
  const expected = {
    data: {
      from_date: "2031-05-02",
      to_date: "2031-05-03",
      days: [
        {
          date: "2031-05-02",
          bookings: 5,
          cancellations: 0,
          revenue: [yen, dollars(25.38)],
          quotes: 3,
        },
        {
          date: "2031-05-03",
          bookings: 22,
          cancellations: 2,
          revenue: [dollars(253.8)],
          quotes: 3,
        },
      ],
      totals: {
        bookings: 27,
        cancellations: 2,
        revenue: [yen, dollars(279.18)],
        quotes: 6,
        quoted_bookings: 3,
        quote_to_booking: 0.5,
      },
      time_zone: "UTC",
    },
    top_workspaces: [
      {
        workspace: second,
        name: "The most",
        bookings: 4,
        cancellations: 2,
        revenue: [dollars(25.38)],
      },
      { workspace: first, name: "Test", bookings: 3, cancellations: 0, revenue: [yen] },
      ...others.slice(0, 8).map((workspace) => ({ workspace, name: "Test", ...awaiting(2) })),
    ],
  };
  const path = "/admin/v1/overview?from_date=2031-05-02&to_date=2031-05-03";
  await countBookings(sql, service.app.em);
  const { status, body } = await service.request(path, { apiKey: key });
  expect({ status, body }).toEqual({ status: 200, body: expected });
  const byGrpc = await service
    .grpcClient(key, PlatformReportService)
    .getPlatformOverview({ fromDate: "2031-05-02", toDate: "2031-05-03" });
  expect(inDialect(GetPlatformOverviewResponseSchema, byGrpc)).toEqual(expected);
});

test("without days, a platform's overview is of the last 30, and days that are none are refused", async () => {
  const { key } = await service.addOperator("viewer");
  const { body } = await service.request("/admin/v1/overview", { apiKey: key });
  expect([body.data.from_date, body.data.to_date]).toEqual(["2031-04-21", "2031-05-20"]);
  const refused = await service.request("/admin/v1/overview?to_date=2031-04-31", { apiKey: key });
  const text = "to_date must be a day of the calendar, such as 2026-11-01.";
  expect([refused.status, refused.body]).toEqual([422, errorBody(text, "to_date")]);
});

test("reports of the platform are for operators alone", async () => {
  const { apiKey } = await service.addWorkspace();
  for (const path of ["/admin/v1/overview", "/admin/v1/health"]) {
    expect((await service.request(path, { apiKey })).status).toBe(401);
    expect((await service.request(path)).status).toBe(401);
  }
});
