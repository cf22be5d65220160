import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { book, BOOKING } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { EVERY_DAY, scheduleOf } from "../../support/schedules.ts";
import { startService } from "../../support/service.ts";
import { draftsOf } from "../../support/tariff-drafts.ts";
import { worldTariff } from "../../support/tariffs.ts";

const NOW = new Date("2026-12-01T09:00Z");
const service = await startService({ tariff: worldTariff(), now: () => NOW });
const { apiKey } = await service.addWorkspace();
const { key: operator } = await service.addOperator();
const as = service.as(operator);
const drafts = draftsOf(service, operator);

/** A schedule with all properties, as in requests. */
const EVENINGS = {
  name: "evenings",
  time_zone: "Europe/Berlin",
  hours: [
    { days: ["mon", "tue", "wed"], opens: "08:00", closes: "18:00" },
    { days: ["tue"], opens: "18:00", closes: "22:00", fee: "2.50" },
  ],
  exceptions: [
    { date: "2026-12-24", hours: [{ opens: "08:00", closes: "12:00", fee: "1" }], capacity: 5 },
    { date: "2026-12-25", note: "Christmas Day" },
  ],
  lead_time_minutes: 30,
  horizon_days: 60,
  slot_minutes: 60,
  cut_offs: [
    { days: ["wed"], until: "12:00", days_before: 1, at: "17:00" },
    { days: ["sun"], at: "07:00" },
  ],
  as_soon_as_possible: false,
  capacity: 10,
  capacity_unit: "kilograms",
  pay_within_minutes: 60,
  attention_above: 20,
};

/** The schedule `EVENINGS` as in responses. */
const READ = {
  default_schedule: "evenings",
  schedules: [
    {
      ...EVENINGS,
      hours: [{ ...EVENINGS.hours[0], fee: "" }, EVENINGS.hours[1]],
      exceptions: [
        { ...EVENINGS.exceptions[0], note: "" },
        { ...EVENINGS.exceptions[1], hours: [], capacity: null },
      ],
      cut_offs: [
        { ...EVENINGS.cut_offs[0], from: "" },
        { days: ["sun"], from: "", until: "", days_before: null, at: "07:00" },
      ],
    },
  ],
};

const patch = (draft: number, schedules: unknown, etag?: string) =>
  data(as.updateTariffDraft({ draft, etag, schedules }));
const schedulesOf = (draft: number) => data(as.getTariffDraftSchedules({ draft }));
const EVENING = { start: "2026-12-01T17:00:00Z", end: "2026-12-01T18:00:00Z" };
const booking = { ...BOOKING, pickup_window: EVENING };
/** Waits for a quote with the tariff now in force. */
const quotedAs = (isMeant: (quote: any) => unknown) =>
  eventually("a quote with the new tariff", async () => {
    const { body } = await service.as(apiKey).quoteShipment(booking);
    return isMeant(body) ? body : undefined;
  });

test("schedules belong to their draft: changed, checked, replayed, published, compared and rolled back", async () => {
  const { id: draft } = await drafts.begin(worldTariff() as Record<string, unknown>);
  const schedules = { schedules: [EVENINGS], default_schedule: "evenings" };
  const { etag } = await patch(draft, schedules);
  expect((await as.getTariffDraftSchedules({ draft })).body).toEqual({ data: READ, etag });

  // An identical update has no effect, and changing the fees keeps the schedules.
  expect((await patch(draft, schedules, etag)).etag).toBe(etag);
  await as.updateTariffDraft({ draft, name: "Evenings" });
  expect(await schedulesOf(draft)).toEqual(READ);

  const checked = await as.checkTariff({ draft });
  expect(checked.body).toMatchObject({ faults: [], same_as_in_force: false });
  expect((await drafts.publish(draft, 1)).body.published).toBe(true);
  expect((await as.getTariffVersionSchedules({ version: 2 })).body).toEqual({ data: READ });
  expect(await quotedAs((quote) => quote.total === 2.5)).toMatchObject({ window_fee: 2.5 });
  await book(service, apiKey, booking);

  // Expects a draft without evening hours to refuse evening bookings and to cost less during the day.
  const { id: next } = await data(as.createTariffDraft({ name: "No evenings", from_version: 2 }));
  const days = {
    ...EVENINGS,
    hours: [{ days: EVERY_DAY, opens: "08:00", closes: "18:00" }],
    exceptions: EVENINGS.exceptions.slice(0, 1),
  };
  await patch(next, { schedules: [days, scheduleOf({ name: "more" })] });
  const replayed = await as.replayTariff({
    draft: next,
    routes: [booking, { ...BOOKING, pickup_window: { start: "2026-12-01T10:00:00Z", end: "2026-12-01T11:00:00Z" } }],
  });
  // In the draft, no zone has a schedule any more.
  const noSchedule = "pickup_window must be omitted: the zone of the pickup has no schedule.";
  expect(replayed.body).toMatchObject({
    shipments: {
      routes: 1,
      served_by_both: 0,
      newly_refused: 1,
      refused: [{ total_in_force: 2.5, message: noSchedule }],
    },
    routes: [
      {
        in_force: { total: 2.5 },
        draft: { covered: false, failure_type: "window", message: noSchedule },
      },
      {
        in_force: { covered: true, total: 0 },
        draft: { covered: false, failure_type: "window" },
      },
    ],
  });
  await patch(next, {
    schedules: [days, scheduleOf({ name: "more" })],
    default_schedule: "evenings",
  });
  const refused = await as.replayTariff({ draft: next });
  expect(refused.body.shipments.refused).toMatchObject([
    { message: expect.stringMatching(/^pickup_window must be within the hours of its zone, /) },
  ]);

  await drafts.publish(next, 2);
  const compared = await as.compareTariffVersions({ from_version: 2, to_version: 3 });
  expect(compared.body).toMatchObject({
    fees: [],
    schedules: [
      {
        path: "schedules[evenings].hours",
        before: JSON.stringify(EVENINGS.hours),
        after: JSON.stringify(days.hours),
      },
      {
        path: "schedules[evenings].exceptions[2026-12-25]",
        before: JSON.stringify(EVENINGS.exceptions[1]),
        after: null,
      },
      { path: "schedules[more]", before: null, after: expect.stringMatching(/^\{"name":"more"/) },
    ],
  });
  expect(await quotedAs((quote) => quote.errors)).toMatchObject({
    errors: { pickup_window: [expect.any(String)] },
  });
  const back = await data(as.rollBackTariff({ version: 2, replaces: 3 }));
  expect(back).toMatchObject({ version: 4, repeats: 2 });
  expect(await quotedAs((quote) => quote.total === 2.5)).toMatchObject({ covered: true });
});

test("a faulty schedule is found by a check, rejected by a publication, and removed with an empty list", async () => {
  const { id: draft } = await drafts.begin(worldTariff() as Record<string, unknown>);
  await patch(draft, {
    schedules: [{ ...EVENINGS, time_zone: "Berlin" }],
    default_schedule: "days",
  });
  const faults = [
    {
      path: "schedules[0].time_zone",
      text: 'must be the IANA name of a time zone, such as "Europe/Berlin"; it is "Berlin"',
    },
    { path: "default_schedule", text: 'must be the name of one of the schedules; it is "days"' },
  ];
  expect((await as.checkTariff({ draft })).body.faults).toEqual(faults);
  const errors = faults.map(({ path, text }) => [path, `${path} ${text}`]);
  await expectRefused(drafts.publish(draft, 4), "TARIFF_FAULTY", Object.fromEntries(errors));
  await patch(draft, { schedules: [] });
  expect(await schedulesOf(draft)).toEqual({ schedules: [], default_schedule: "" });
  expect((await as.checkTariff({ draft })).body.faults).toEqual([]);
});
