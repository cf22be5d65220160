import { expect, test } from "vitest";
import { purgeTestData } from "../../../src/features/test-mode/delete-test-data.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { book, bookAnd, BOOKING, COVERED_ROUTE, takeStep, type Step } from "../../support/bookings.ts";
import { queriesOf } from "../../support/query-log.ts";
import { EVERY_DAY, scheduleOf } from "../../support/schedules.ts";
import { startReplica, startService, type TestWorkspace } from "../../support/service.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

const REAL = "2026-12-01T09:00:00.000Z";
const now = () => new Date(REAL);
/** A tariff whose slots can be booked until 18:00 in Berlin the day before. */
const tariff = {
  ...SAMPLE_TARIFF,
  schedules: [
    scheduleOf({
      hours: [{ days: EVERY_DAY, opens: "08:00", closes: "10:00" }],
      slot_minutes: 60,
      cut_offs: [{ until: "12:00", days_before: 1, at: "18:00" }],
    }),
  ],
  default_schedule: "day",
};
const service = await startService({ now, tariff });

type Caller = Pick<TestWorkspace, "apiKey">;

const clockOf = ({ apiKey }: Caller) => service.as(apiKey).getTestClock();
const release = ({ apiKey }: Caller) => service.as(apiKey).releaseTestClock();
const move = ({ apiKey }: Caller, time?: string) => service.as(apiKey).moveTestClock({ time });
const frozen = (time: string) => ({ data: { time, frozen: true } });
const moved = (time: string) => ({ ...frozen(time), complete: true });
const REAL_TIME = { data: { time: REAL, frozen: false } };

test("a clock shows the real time until it is frozen, stays until it is moved, and can be released", async () => {
  const { twin } = await service.addWorkspace();
  expect((await clockOf(twin)).body).toEqual(REAL_TIME);
  expect((await move(twin)).body).toEqual(moved(REAL));
  const later = "2027-02-03T04:05:06.789Z";
  for (const _ of ["first", "again"]) expect((await move(twin, later)).body).toEqual(moved(later));
  expect((await clockOf(twin)).body).toEqual(frozen(later));
  expect((await release(twin)).body).toEqual(REAL_TIME);
  expect((await clockOf(twin)).body).toEqual(REAL_TIME);
  expect((await move(twin)).body).toEqual(moved(REAL));
});

test("a clock can be moved neither back nor more than two years ahead", async () => {
  const { twin } = await service.addWorkspace();
  const expectNot = (time: string, text: string) => expectRefused(move(twin, time), "FIELD_INVALID", { time: text });
  await expectNot(
    "2026-12-01T08:59:59.999Z",
    `time must not be before the clock's, which is ${REAL}. The clock only moves forward.`,
  );
  await data(move(twin, "2028-12-01T09:00:00Z"));
  await expectNot(
    "2028-12-01T09:00:00.001Z",
    "time must be at most two years ahead, which is 2028-12-01T09:00:00.000Z at the latest.",
  );
  expect((await move(twin, "2028-12-01T08:59:59Z")).code).toBe("FIELD_INVALID");
});

test("the latest time wins when several calls move a clock at the same time", async () => {
  const { twin } = await service.addWorkspace();
  const days = [3, 9, 5, 7, 2, 8, 4, 6];
  const answers = await Promise.all(days.map((day) => move(twin, `2026-12-0${day}T09:00:00Z`)));
  expect(answers.every(({ status }) => [200, 422].includes(status))).toBe(true);
  expect((await clockOf(twin)).body).toEqual(frozen("2026-12-09T09:00:00.000Z"));
});

test("freezing a clock at its current time succeeds even if it is moved concurrently", async () => {
  const { twin } = await service.addWorkspace();
  const answers = await Promise.all(
    [undefined, "2026-12-03T09:00:00Z", undefined, "2026-12-05T09:00:00Z", undefined].map((time) => move(twin, time)),
  );
  expect([0, 2, 4].map((i) => answers[i]!.status)).toEqual([200, 200, 200]);
});

test("a live key has no clock", async () => {
  const live = await service.addWorkspace();
  for (const call of [clockOf, move, release]) await expectRefused(call(live), "TEST_MODE_ONLY");
});

test("all changes of a shipment and their events have times of the clock", async () => {
  const { twin, ...live } = await service.addWorkspace();
  const { apiKey } = twin;
  const times = [1, 2, 3, 4, 5, 6].map((day) => `2027-01-0${day}T00:00:00.000Z`);
  await move(twin, times[0]);
  const { reference, created_at, updated_at } = await book(service, apiKey);
  expect([created_at, updated_at]).toEqual([times[0], times[0]]);
  await move(twin, times[1]);
  await service.as(apiKey).updateShipment({ shipment: reference, dropoff_address: "Elsewhere" });
  const step = (kind: Step) => takeStep(service, apiKey, reference, kind);
  await move(twin, times[2]);
  const paid = await step("pay");
  expect(paid.body.payment).toMatchObject({ paid_at: times[2], refunded_at: null });
  await move(twin, times[3]);
  const cancelled = await data(step("cancel"));
  expect(cancelled).toMatchObject({ cancelled_at: times[3], updated_at: times[3] });
  await move(twin, times[4]);
  const refunded = await step("refund");
  expect(refunded.body.payment).toMatchObject({ paid_at: times[2], refunded_at: times[4] });
  expect(await historyOf(apiKey, reference!)).toEqual([
    ["shipment.created", times[0]],
    ["shipment.updated", times[1]],
    ["shipment.paid", times[2]],
    ["shipment.awaiting_pickup", times[2]],
    ["shipment.cancelled", times[3]],
    ["shipment.refunded", times[4]],
  ]);
  await move(twin, times[5]);
  const other = await bookAnd(service, apiKey, ["pay", "advance"]);
  await service.as(apiKey).batchAdvanceShipments({ shipments: [other["reference"]] });
  const dates = (await historyOf(apiKey, other["reference"])).map(([, time]) => time);
  expect(new Set(dates)).toEqual(new Set([times[5]]));
  expect((await book(service, live.apiKey))["created_at"]).toBe(REAL);
});

async function historyOf(apiKey: string, shipment: string): Promise<[string, string][]> {
  const events = await data(service.as(apiKey).listShipmentEvents({ shipment }));
  return events.map(({ type, timestamp }: any) => [type, timestamp]);
}

test("every replica uses the moved clock at once", async () => {
  const { twin } = await service.addWorkspace();
  const { apiKey } = twin;
  const other = await startReplica(service.databaseUrl, { now });
  for (let hour = 10; hour < 20; hour++) {
    const time = `2026-12-01T${hour}:00:00.000Z`;
    await move(twin, time);
    expect((await book(other, apiKey))["created_at"]).toBe(time);
    const quote = await other.as(apiKey).createQuote(COVERED_ROUTE);
    expect(quote.body.created_at).toBe(time);
  }
});

test("a quote expires by the test clock", async () => {
  const { twin } = await service.addWorkspace();
  const { apiKey } = twin;
  await move(twin);
  const caller = service.as(apiKey);
  const { body: quote } = await caller.createQuote(COVERED_ROUTE);
  expect(quote.expires_at).toBe("2026-12-01T09:15:00.000Z");
  const { body: second } = await caller.createQuote(COVERED_ROUTE);
  const bookBy = (quote_id: string) => caller.createShipment({ ...BOOKING, quote_id });
  await move(twin, "2026-12-01T09:14:59.999Z");
  expect((await bookBy(quote.id)).status).toBe(201);
  await move(twin, "2026-12-01T09:15:00Z");
  expect((await bookBy(second.id)).code).toBe("QUOTE_EXPIRED");
});

test("cutoffs and slots follow the test clock", async () => {
  const { twin } = await service.addWorkspace();
  const caller = service.as(twin.apiKey);
  const slots = async () => {
    const listed = await data(caller.listPickupSlots({ ...COVERED_ROUTE, days: 2 }));
    return listed.map((slot: any) => [slot.start, slot.unavailable_reason]);
  };
  const moveTo = (time: string) => move(twin, `${time}:00Z`);
  const pickup_window = { start: "2026-12-02T07:00:00Z", end: "2026-12-02T08:00:00Z" };
  const fields = { ...BOOKING, pickup_window };
  const codes = async () => {
    const { quoteShipment, createQuote, createShipment } = caller;
    const calls = [quoteShipment, createQuote, createShipment].map((call) => call(fields));
    return (await Promise.all(calls)).map(({ code }) => code);
  };

  // Moves the clock to 17:59 in Berlin.
  await moveTo("2026-12-01T16:59");
  expect(await slots()).toEqual([
    ["2026-12-01T07:00:00.000Z", "cut_off_passed"],
    ["2026-12-01T08:00:00.000Z", "cut_off_passed"],
    ["2026-12-02T07:00:00.000Z", null],
    ["2026-12-02T08:00:00.000Z", null],
  ]);
  expect(await codes()).toEqual([undefined, undefined, undefined]);
  await moveTo("2026-12-01T17:01");
  expect((await slots()).at(-1)).toEqual(["2026-12-02T08:00:00.000Z", "cut_off_passed"]);
  expect(await codes()).toEqual(["CUT_OFF_PASSED", "CUT_OFF_PASSED", "CUT_OFF_PASSED"]);
  await moveTo("2026-12-05T12:00");
  expect((await slots()).map(([start]: string[]) => start)).toEqual([
    "2026-12-05T07:00:00.000Z",
    "2026-12-05T08:00:00.000Z",
    "2026-12-06T07:00:00.000Z",
    "2026-12-06T08:00:00.000Z",
  ]);
});

test("a booking in test mode takes no more round trips than a live booking, which reads no test clock", async () => {
  const { twin, apiKey } = await service.addWorkspace();
  const asksForClock = async (key: string) => {
    await book(service, key);
    const sent = await queriesOf(service.app.em, () => book(service, key));
    const own = sent.map(({ sql }) => sql.replace(/\s+/g, " ").trim());
    const begin = own.findIndex((sql) => sql.startsWith("begin"));
    const commit = own.indexOf("commit");
    return own.slice(begin, commit).filter((sql) => sql.includes("from test_clock")).length;
  };
  expect(await asksForClock(apiKey)).toBe(0);
  expect(await asksForClock(twin.apiKey)).toBe(1);
});

test("deleting test data includes data with future dates, and resets the clock to the real time", async () => {
  const { twin } = await service.addWorkspace();
  const { apiKey } = twin;
  await move(twin, "2028-01-01T00:00:00Z");
  await book(service, apiKey);
  await release(twin);
  await move(twin, "2027-01-01T00:00:00Z");
  expect((await service.as(apiKey).deleteTestData()).body).toEqual({ complete: true });
  expect(await data(service.as(apiKey).listShipments())).toEqual([]);
  expect((await clockOf(twin)).body).toEqual(REAL_TIME);
});

test("a clock that is frozen for 30 days keeps its data until then, and is released", async () => {
  const { twin } = await service.addWorkspace();
  const { apiKey } = twin;
  await move(twin);
  await book(service, apiKey);
  const inDays = (days: number) => new Date(now().getTime() + days * 24 * 60 * 60_000);
  const count = async () => (await data(service.as(apiKey).listShipments())).length;
  await purgeTestData(service.app.em, inDays(29.9));
  expect([await count(), (await clockOf(twin)).body]).toEqual([1, frozen(REAL)]);
  await purgeTestData(service.app.em, inDays(30.1));
  expect([await count(), (await clockOf(twin)).body]).toEqual([1, REAL_TIME]);
  await purgeTestData(service.app.em, inDays(30.1));
  expect(await count()).toBe(0);
});
