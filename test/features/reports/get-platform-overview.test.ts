import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { countBookings } from "../../support/count-bookings.ts";
import { connectTo } from "../../support/database.ts";
import { CANCELLED, insertBooked, insertQuotes, PAID } from "../../support/insert-booked.ts";
import { startService } from "../../support/service.ts";

const NOW = new Date("2031-05-20T13:00:00Z");

const service = await startService({ now: () => NOW });
const sql = await connectTo(service.databaseUrl);
const as = service.as((await service.addOperator("viewer")).key);

test("an operator reads the bookings of all workspaces, and the ten workspaces with the most", async () => {
  const ids: number[] = [];
  for (let i = 0; i < 12; i++) ids.push((await service.addWorkspace()).id);
  const [first, second, ...others] = ids as [number, number, ...number[]];
  await sql.query("update workspace set name = 'The most' where id = $1", [second]);
  const inYen = { count: 3, currency: "JPY", ...PAID, quoted: true };
  await insertBooked(sql, first, "2031-05-02T12:00:00Z", inYen);
  await insertBooked(sql, second, "2031-05-02T12:00:00Z", { count: 2 });
  await insertBooked(sql, second, "2031-05-03T12:00:00Z", { count: 2, ...CANCELLED });
  for (const id of others) await insertBooked(sql, id, "2031-05-03T12:00:00Z", { count: 2 });
  await insertBooked(sql, others[9]!, "2031-05-04T00:00:00Z", { count: 20 });
  await insertQuotes(sql, first, "2031-05-02T07:00:00Z", 2);
  await insertQuotes(sql, second, "2031-05-02T07:00:00Z", 1);
  await insertQuotes(sql, second, "2031-05-03T07:00:00Z", 3);
  await countBookings(sql, service.app.em);

  const yen = { currency: "JPY", paid: 3_807, awaiting_payment: 0 };
  const dollars = (awaiting_payment: number) => ({ currency: "USD", paid: 0, awaiting_payment });
  const figures = (bookings: number, cancellations: number, ...revenue: object[]) => {
    return { bookings, cancellations, revenue };
  };
  const { body } = await as.getPlatformOverview({ from_date: "2031-05-02", to_date: "2031-05-03" });
  expect(body).toEqual({
    data: {
      from_date: "2031-05-02",
      to_date: "2031-05-03",
      days: [
        { date: "2031-05-02", ...figures(5, 0, yen, dollars(25.38)), quotes: 3 },
        { date: "2031-05-03", ...figures(22, 2, dollars(253.8)), quotes: 3 },
      ],
      totals: {
        ...figures(27, 2, yen, dollars(279.18)),
        quotes: 6,
        quoted_bookings: 3,
        quote_to_booking: 0.5,
      },
      time_zone: "UTC",
      deliveries: null,
      couriers: [],
      zones: [],
    },
    top_workspaces: [
      { workspace: second, name: "The most", ...figures(4, 2, dollars(25.38)) },
      { workspace: first, name: "Test", ...figures(3, 0, yen) },
      ...others.slice(0, 8).map((workspace) => {
        return { workspace, name: "Test", ...figures(2, 0, dollars(25.38)) };
      }),
    ],
    slots: [],
  });
});

test("a platform overview covers the last 30 days by default, and rejects invalid days", async () => {
  const { from_date, to_date } = await data(as.getPlatformOverview());
  expect([from_date, to_date]).toEqual(["2031-04-21", "2031-05-20"]);
  await expectRefused(as.getPlatformOverview({ to_date: "2031-04-31" }), "FIELD_INVALID", {
    to_date: "to_date must be a calendar date, such as 2026-11-01.",
  });
});
