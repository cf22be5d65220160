import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { GetOverviewRequestSchema } from "../../../gen/shipments/v1/report_service_pb.js";
import { getOverview } from "../../../src/features/reports/get-overview.ts";
import { FIGURE_NAMES, figuresSql } from "../../../src/features/reports/overview.ts";
import { createRollUpQueue } from "../../../src/features/reports/roll-up-bookings.ts";
import type { Call } from "../../../src/pipeline/call.ts";
import { data } from "../../support/answers.ts";
import { book, takeStep, type Step } from "../../support/bookings.ts";
import { connectTo, openOrm } from "../../support/database.ts";
import { countBookings, endRests } from "../../support/count-bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { CANCELLED, insertBooked, PAID } from "../../support/insert-booked.ts";
import { startService, type TestWorkspace } from "../../support/service.ts";
import { workOff } from "../../support/work-off.ts";

const FIRST_DAY_MS = Date.parse("2031-05-02T12:00:00Z");
const DAY_MS = 24 * 60 * 60 * 1_000;

let clockMs = FIRST_DAY_MS;
const service = await startService({ now: () => new Date(clockMs) });
const sql = await connectTo(service.databaseUrl);
const replicaOf = () => {
  const { em } = openOrm(service.databaseUrl);
  return { rollUp: () => workOff(createRollUpQueue(em)) };
};
const replicas = [replicaOf(), replicaOf()] as const;
const countAll = () => countBookings(sql, service.app.em);

const COUNTED = `
  select workspace_id::int as workspace, date::text, currency, bookings::float8,
    cancellations::float8, quoted::float8, paid_minor::float8 as "paidMinor",
    awaiting_minor::float8 as "awaitingMinor"
  from booking_day order by 1, 2, 3`;

/** SQL that returns days whose totals differ from the sum of their hours. */
const INCONSISTENT_DAYS = `
  select workspace_id, date, hours from booking_day
  where array[bookings, cancellations, quoted, paid_minor, awaiting_minor]::float8[] <> (
    select array[sum((h ->> 1)::float8), sum((h ->> 2)::float8), sum((h ->> 3)::float8),
      sum((h ->> 4)::float8), sum((h ->> 5)::float8)]
    from jsonb_array_elements(hours) as h)`;

const BOOKED_DATE = "(created_at at time zone 'UTC')::date";
const OF_SHIPMENTS = `
  select workspace_id::int as workspace, date, currency, bookings, cancellations, quoted, "paidMinor", "awaitingMinor"
  from (
    select workspace_id, (${BOOKED_DATE})::text as date, currency, ${figuresSql(...FIGURE_NAMES)}
    from shipment group by workspace_id, ${BOOKED_DATE}, currency
  ) as figures
  order by 1, 2, 3`;

/** Expects the counts by day to match all shipments, and returns the counts. */
async function expectCounted(): Promise<readonly { readonly bookings: number }[]> {
  const { rows: counted } = await sql.query(COUNTED);
  expect((await sql.query(INCONSISTENT_DAYS)).rows).toEqual([]);
  const { rows: expected } = await sql.query(OF_SHIPMENTS);
  expect(counted).toEqual(expected);
  return counted;
}

/** Terminates all database connections that counted bookings, as a crash does. */
const terminateCounting = () =>
  sql.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query like '%booking_%' and pid <> pg_backend_pid()`,
  );

/** Time zones in which days begin on the hour in UTC, and one in which they do not. */
const ZONES = ["UTC", "America/New_York", "Asia/Kathmandu"] as const;

/** Computes an overview without the report cache. */
async function overviewOf(workspaceId: number, days: { fromDate: string; toDate: string }) {
  const request = create(GetOverviewRequestSchema, days);
  const response = await getOverview(request, { caller: { workspaceId } } as Call, {
    em: service.app.em,
    now: () => new Date(clockMs),
    overviews: { get: (_, compute) => compute() },
  });
  return response.data!;
}

/** Expects a workspace's overview to match its shipments, whether or not they are counted yet. */
async function expectOverview({ id, apiKey }: TestWorkspace, timeZone: string): Promise<void> {
  await data(service.as(apiKey).updateWorkspace({ time_zone: timeZone }));
  const overview = await overviewOf(id, { fromDate: "2031-05-01", toDate: "2031-05-08" });
  const { rows } = await sql.query(
    `select (created_at at time zone $2)::date::text as date, count(*)::int as bookings,
       (count(*) filter (where status = 'cancelled'))::int as cancellations
     from shipment where workspace_id = $1 group by 1 order by 1`,
    [id, timeZone],
  );
  const booked = overview.days.filter(({ bookings }) => bookings > 0n);
  expect(
    booked.map(({ date, bookings, cancellations }) => ({
      date,
      bookings: Number(bookings),
      cancellations: Number(cancellations),
    })),
  ).toEqual(rows);
  const { rows: sums } = await sql.query(
    `select coalesce(sum(total_minor) filter (where payment_status = 'paid'), 0)::float8 / 100 as paid,
       (count(*) filter (where quoted))::int as quoted
     from shipment where workspace_id = $1`,
    [id],
  );
  const { revenue, quotedBookings } = overview.totals!;
  expect({ paid: revenue[0]?.paid ?? 0, quoted: Number(quotedBookings) }).toEqual(sums[0]);
}

type Act =
  | { readonly what: "book"; readonly quoted: boolean }
  | { readonly what: Step | "update"; readonly which: number }
  | { readonly what: "count" | "die"; readonly replica: 0 | 1 }
  | { readonly what: "read"; readonly timeZone: (typeof ZONES)[number] };

const which = fc.nat(20);
const replica = fc.constantFrom(0 as const, 1 as const);
const ACTS: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant("book" as const), quoted: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constantFrom("pay", "advance", "cancel", "refund", "update"),
      which,
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constantFrom("count", "die"), replica }) },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant("read" as const),
      timeZone: fc.constantFrom(...ZONES),
    }),
  },
);
/** Interval between bookings: 5 hours and 10 minutes, so that in every zone days begin between two bookings. */
const STEP_MS = (5 * 60 + 10) * 60_000;
const HISTORY = fc.array(fc.tuple(fc.nat(2), fc.nat(20), ACTS), { minLength: 20, maxLength: 40 });

test("counts by day match the shipments after any history, even if replicas crash while counting", async () => {
  const workspaces = await Promise.all([1, 2, 3].map(() => service.addWorkspace()));
  const booked: string[][] = [[], [], []];
  const counting: Promise<unknown>[] = [];

  async function act(at: number, what: Act): Promise<void> {
    const { apiKey } = workspaces[at]!;
    if ("replica" in what) {
      await endRests(sql);
      counting.push(replicas[what.replica].rollUp());
      if (what.what === "die") await terminateCounting();
    } else if ("timeZone" in what) {
      await expectOverview(workspaces[at]!, what.timeZone);
    } else if ("quoted" in what) {
      const quote = what.quoted ? { expected_total: 12.69, expected_currency: "USD" } : {};
      booked[at]!.push((await book(service, apiKey, quote))["reference"]);
    } else {
      const reference = booked[at]![what.which % Math.max(1, booked[at]!.length)];
      if (reference === undefined) return;
      // Some steps are refused because the shipment's state does not allow them.
      if (what.what !== "update") await takeStep(service, apiKey, reference, what.what);
      else await service.as(apiKey).updateShipment({ shipment: reference, weight_kg: 7 });
    }
  }

  await fc.assert(
    fc.asyncProperty(HISTORY, async (history) => {
      for (const [at, steps, what] of history) {
        clockMs = FIRST_DAY_MS + steps * STEP_MS;
        await act(at, what);
      }
      await Promise.all(counting.splice(0));
      await countAll();
      await expectCounted();
      for (const each of workspaces) await expectOverview(each, "Asia/Kathmandu");
    }),
    { numRuns: 8, endOnFailure: true },
  );
  const counted = await expectCounted();
  const bookings = counted.reduce((sum, each) => sum + each.bookings, 0);
  expect(bookings).toBe(booked.flat().length);
});

test("an overview does not recount days until they change", async () => {
  const workspace = await service.addWorkspace();
  clockMs = FIRST_DAY_MS;
  const { reference } = await book(service, workspace.apiKey);
  await countAll();
  await sql.query("update booking_day set hours = '[[3, 9, 0, 0, 0, 0]]' where workspace_id = $1", [workspace.id]);
  const day = { fromDate: "2031-05-02", toDate: "2031-05-02" };
  const bookings = async () => Number((await overviewOf(workspace.id, day)).totals!.bookings);
  expect(await bookings()).toBe(9);
  await takeStep(service, workspace.apiKey, reference, "pay");
  expect(await bookings()).toBe(1);
});

test("counts shipments from before counting by day was introduced", async () => {
  const { id } = await service.addWorkspace();
  await insertBooked(sql, id, "2029-12-31T23:59:59.999Z", { count: 3, ...PAID, quoted: true });
  await insertBooked(sql, id, "2030-01-01T00:00:00Z", { count: 2, currency: "JPY" });
  await insertBooked(sql, id, "2030-01-01T23:59:59.999Z", { count: 2, ...CANCELLED });
  await countAll();
  expect(await expectCounted()).toEqual(
    expect.arrayContaining([
      {
        workspace: id,
        date: "2029-12-31",
        currency: "USD",
        bookings: 3,
        cancellations: 0,
        quoted: 3,
        paidMinor: 3_807,
        awaitingMinor: 0,
      },
    ]),
  );
});

test("recounts days after unread events were purged, but not at once", async () => {
  const { id, apiKey } = await service.addWorkspace();
  clockMs = FIRST_DAY_MS;
  const { reference } = await book(service, apiKey);
  await countAll();
  clockMs = FIRST_DAY_MS + DAY_MS;
  await takeStep(service, apiKey, reference, "pay");
  await book(service, apiKey);
  await sql.query("delete from event where workspace_id = $1 and position < 4", [id]);
  await endRests(sql);
  await replicas[0].rollUp();
  const pausing = `
    select from booking_roll_up where workspace_id = $1 and fill_before is not null and rest_until > now()`;
  await eventually("a pause", async () => (await sql.query(pausing, [id])).rowCount === 1);
  await countAll();
  await expectCounted();
});

test("removes a currency from a day on which it has no more amounts", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { reference } = await book(service, apiKey);
  await countAll();
  await sql.query("update shipment set currency = 'EUR' where workspace_id = $1", [id]);
  await takeStep(service, apiKey, reference, "pay");
  await takeStep(service, apiKey, reference, "cancel");
  await countAll();
  await expectCounted();
});

test("the background worker pauses between two counts of a workspace", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const bookings = async () => {
    const sum = "select sum(bookings)::int as sum from booking_day where workspace_id = $1";
    return (await sql.query(sum, [id])).rows[0].sum;
  };
  await book(service, apiKey);
  await countAll();
  await book(service, apiKey);
  await replicas[1].rollUp();
  expect(await bookings()).toBe(1);
  await sql.query("update booking_roll_up set rest_until = now() - interval '1 s' where workspace_id = $1", [id]);
  await replicas[1].rollUp();
  // Waits, because the service may be counting the workspace.
  await eventually("the count", async () => (await bookings()) === 2);
});

test("a workspace that cannot be counted does not block others", async () => {
  const [first, second] = [await service.addWorkspace(), await service.addWorkspace()];
  // Adds the constraint before the service can count the workspace.
  await sql.query(`alter table booking_day add constraint refused check (workspace_id <> ${first.id})`);
  for (const { apiKey } of [first, second]) await book(service, apiKey);
  const counted = await eventually("a count", async () => {
    await endRests(sql);
    await replicas[0].rollUp();
    const { rows } = await sql.query("select workspace_id::int as id from booking_day where workspace_id in ($1, $2)", [
      first.id,
      second.id,
    ]);
    return rows.length > 0 && rows;
  });
  expect(counted).toEqual([{ id: second.id }]);
  await sql.query("alter table booking_day drop constraint refused");
  await countAll();
  await expectCounted();
});
