import { describe, expect, test } from "vitest";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import { ANY_TIME, book, BOOKED_SHIPMENT, BOOKING, takeStep } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { EVERY_DAY, scheduleOf } from "../../support/schedules.ts";
import { startService } from "../../support/service.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

/** Current time of the service: a Tuesday, 10:00 in Berlin. */
let now = Date.parse("2026-12-01T09:00Z");

const BERLIN = { pickup_lat: 52.5, pickup_lng: 13.4 };
const NEW_YORK = { dropoff_lat: 40.7, dropoff_lng: -74 };
/** A zone that requires windows, offers them in the evening, and has a cutoff at noon the day before. */
const OSLO = { pickup_lat: 65, pickup_lng: 13.4 };
/** A zone without a schedule. */
const CAPE_TOWN = { pickup_lat: -33.9, pickup_lng: 18.4 };
const ROUTE = { ...BERLIN, ...NEW_YORK, weight_kg: 2 };

const BERLIN_SCHEDULE = {
  name: "berlin",
  hours: [
    { days: EVERY_DAY, opens: "08:00", closes: "12:00" },
    { days: EVERY_DAY, opens: "18:00", closes: "20:00", fee: "2.50" },
  ],
  exceptions: [{ date: "2026-12-25", note: "Christmas Day" }],
  slot_minutes: 60,
  lead_time_minutes: 60,
  cut_offs: [{ until: "12:00", days_before: 1, at: "18:00" }],
};

/**
 * Returns a tariff with one-hour slots in Berlin. Evenings cost more, and mornings have a cutoff at
 * 18:00 the day before. New York has opening hours without slots.
 */
function tariffOf(currency: string) {
  const zones = zonesOf(
    square(0, 40, 30, 60),
    square(-90, 30, -60, 50),
    square(0, 60, 30, 70),
    square(0, -40, 30, -30),
  );
  const { features } = zones as { features: { properties: object }[] };
  for (const [i, schedule] of ["berlin", "new york", "oslo"].entries()) {
    features[i]!.properties = { name: schedule, schedule };
  }
  return worldTariff({
    base_fee: "5.00",
    currency,
    zones,
    schedules: [
      scheduleOf(BERLIN_SCHEDULE),
      scheduleOf({
        ...BERLIN_SCHEDULE,
        name: "oslo",
        cut_offs: [{ from: "18:00", days_before: 1, at: "12:00" }],
        as_soon_as_possible: false,
      }),
      scheduleOf({
        name: "new york",
        time_zone: "America/New_York",
        hours: [
          { days: EVERY_DAY, opens: "08:00", closes: "12:00", fee: "1.00" },
          { days: EVERY_DAY, opens: "12:00", closes: "18:00" },
        ],
      }),
    ],
  });
}

const service = await startService({ tariff: tariffOf("USD"), now: () => new Date(now) });
const { apiKey } = await service.addWorkspace();
const caller = service.as(apiKey);

const window = (start: string, end: string) => ({
  start: `2026-12-${start}:00.000Z`,
  end: `2026-12-${end}:00.000Z`,
});
const MORNING = window("02T07:00", "02T08:00");
const EVENING = window("01T17:00", "01T18:00");
/** Window from 13:00 to 15:00 in New York. */
const AFTERNOON = window("02T18:00", "02T20:00");

const WINDOWS = { pickup_window: EVENING, dropoff_window: AFTERNOON };

const BREAKDOWN = [
  { kind: "minimum", quantity: 1, unit: "shipment", rate: 5, amount: 5 },
  { kind: "window", quantity: 1, unit: "window", rate: 2.5, amount: 2.5 },
];

const PRICE = {
  distance_fee: 0,
  weight_fee: 0,
  base_fee: 5,
  subtotal: 0,
  window_fee: 2.5,
  total: 7.5,
  currency: "USD",
};
const BOOKED_WINDOWS = {
  pickup_window: { ...EVENING, time_zone: "Europe/Berlin" },
  dropoff_window: { ...AFTERNOON, time_zone: "America/New_York" },
};

test("a quote with windows returns them with their time zones and their price", async () => {
  const priced = { covered: true, message: null, failure_type: null, ...PRICE, ...BOOKED_WINDOWS };
  const plain = await caller.quoteShipment({ ...ROUTE, ...WINDOWS });
  expect(plain).toMatchObject({ status: 200, body: priced });
  const held = await caller.createQuote({ ...ROUTE, ...WINDOWS });
  expect(held).toMatchObject({ status: 201, body: { ...priced, breakdown: BREAKDOWN } });
});

test("a booked shipment and its event contain the windows, and both can be read again", async () => {
  const booked = await book(service, apiKey, { ...ROUTE, ...WINDOWS, expected_total: 7.5 });
  expect(booked).toEqual({
    ...BOOKED_SHIPMENT,
    ...ROUTE,
    ...PRICE,
    ...BOOKED_WINDOWS,
    breakdown: BREAKDOWN,
    distance_km: expect.any(Number),
  });
  const shipment = booked["reference"];
  expect(await data(caller.getShipment({ shipment }))).toEqual(booked);
  const [event] = await data(caller.listShipmentEvents({ shipment }));
  expect(event).toMatchObject({ type: "shipment.created", data: booked });
});

test("a booking with a quote uses its windows and price, and rejects other windows", async () => {
  const { body: quote } = await caller.createQuote({ ...ROUTE, ...WINDOWS });
  const { weight_kg, ...rest } = ROUTE;
  const fields = Object.fromEntries(
    Object.entries({ ...BOOKING, weight_kg, quote_id: quote.id }).filter(([name]) => !(name in rest)),
  );
  const other = { ...fields, pickup_window: window("01T18:00", "01T19:00") };
  await expectRefused(
    caller.createShipment(other),
    "QUOTE_MISMATCH",
    {
      pickup_window: "pickup_window differs from the quote. Omit it, or request another quote.",
    },
    { pickup_window_start: EVENING.start, pickup_window_end: EVENING.end },
  );
  expect(await data(caller.createShipment({ ...fields, dropoff_window: AFTERNOON }))).toMatchObject({
    ...PRICE,
    ...BOOKED_WINDOWS,
    breakdown: BREAKDOWN,
    quote_id: quote.id,
  });
  const { body: plain } = await caller.createQuote(ROUTE);
  const booking = { ...fields, quote_id: plain.id, pickup_window: EVENING };
  expect((await caller.createShipment(booking)).code).toBe("QUOTE_MISMATCH");
});

describe("invalid windows", () => {
  const REFUSED = {
    ...ROUTE,
    pickup_window: window("01T08:00", "01T09:00"),
    dropoff_window: window("01T09:00", "01T09:05"),
  };
  const errors = {
    pickup_window: [
      "pickup_window had to be booked by 2026-11-30T17:00:00.000Z. The next available window is 2026-12-01T17:00:00.000Z to 2026-12-01T18:00:00.000Z.",
      "pickup_window must start at least 60 minutes from now.",
    ],
    dropoff_window: [
      "dropoff_window must last at least 10 minutes. The next available window is 2026-12-01T13:00:00.000Z to 2026-12-01T13:10:00.000Z.",
    ],
  };
  const facts = {
    cut_off_at: "2026-11-30T17:00:00.000Z",
    next_available: "2026-12-01T17:00:00.000Z",
    next_available_end: "2026-12-01T18:00:00.000Z",
    dropoff_next_available: "2026-12-01T13:00:00.000Z",
    dropoff_next_available_end: "2026-12-01T13:10:00.000Z",
  };
  test.each(["quoteShipment", "createQuote", "createShipment"] as const)(
    "are rejected in the same way by %s",
    async (method) => {
      const { code, body } = await caller[method]({ ...BOOKING, ...REFUSED });
      const message = `${errors.pickup_window[0]} (and 2 more errors)`;
      expect({ code, body }).toEqual({
        code: "CUT_OFF_PASSED",
        body: { message, errors, metadata: facts },
      });
    },
  );
  test("are rejected with the next available window and all other errors", async () => {
    const unconnected = await service.addWorkspace({ paymentProvider: undefined });
    const pickup_window = window("02T06:00", "02T07:00");
    const { code, body } = await service.as(unconnected.apiKey).createShipment({ ...BOOKING, ...ROUTE, pickup_window });
    expect({ code, subjects: Object.keys(body.errors), facts: body.metadata }).toEqual({
      code: "OUTSIDE_HOURS",
      subjects: ["pickup_window", "payment_provider"],
      facts: {
        cut_off_at: "2026-12-01T17:00:00.000Z",
        next_available: "2026-12-02T07:00:00.000Z",
        next_available_end: "2026-12-02T08:00:00.000Z",
      },
    });
  });
  test("are rejected in the result of a batch, whose other routes are priced", async () => {
    const { status, body } = await caller.batchCreateQuotes({ routes: [REFUSED, ROUTE] });
    expect({ status, results: body.results }).toMatchObject({
      status: 201,
      results: [
        {
          quote: null,
          error: {
            errors: [
              { field: "pickup_window", text: errors.pickup_window[0] },
              { field: "pickup_window", text: errors.pickup_window[1] },
              { field: "dropoff_window", text: errors.dropoff_window[0] },
            ],
            metadata: facts,
          },
        },
        { quote: { total: 5, window_fee: 0, pickup_window: null }, error: null },
      ],
    });
  });
  test.each([
    [{ start: "2026-12-02T07:00:00Z" }, "pickup_window.end"],
    ["2026-12-02T07:00:00Z", "pickup_window"],
    [{ start: "at 8", end: "2026-12-02T07:00:00Z" }, "pickup_window.start"],
  ])("of the wrong form are an error of that field: %j", async (pickup_window, field) => {
    expect(await invalidFields(caller.quoteShipment({ ...ROUTE, pickup_window }))).toEqual([field]);
  });
});

test("rejects a booking without a window if pickup as soon as possible is disabled", async () => {
  const { body } = await caller.createShipment({ ...BOOKING, ...ROUTE, ...OSLO });
  expect(body.errors).toEqual({
    pickup_window: [
      "pickup_window is required: the zone does not offer pickup as soon as possible. The next available window is 2026-12-01T10:00:00.000Z to 2026-12-01T11:00:00.000Z.",
    ],
  });
});

describe("pickup slots", () => {
  const slots = (query: object) => caller.listPickupSlots({ ...ROUTE, ...query });
  const SLOT = { cut_off_at: null, available: true, unavailable_reason: null, price: 7.5 };
  const CUT_OFF = { cut_off_at: "2026-11-30T17:00:00.000Z", available: false, price: 5 };
  const hour = (of: number) => `01T${String(of).padStart(2, "0")}:00`;
  const slot = (from: number) => ({
    ...window(hour(from), hour(from + 1)),
    local_start: `2026-12-${hour(from + 1)}:00+01:00`,
    local_end: `2026-12-${hour(from + 2)}:00+01:00`,
    limited: false,
    remaining: null,
  });
  const TODAY = {
    data: [
      ...[7, 8, 9, 10].map((from) => ({
        ...slot(from),
        ...CUT_OFF,
        unavailable_reason: "cut_off_passed",
      })),
      { ...slot(17), ...SLOT },
      { ...slot(18), ...SLOT },
    ],
    next_page_token: "",
    time_zone: "Europe/Berlin",
    slot_minutes: 60,
    as_soon_as_possible: true,
    currency: "USD",
    capacity_unit: null,
  };

  test("are listed for a route with their prices, and with the reason if they cannot be booked", async () => {
    const { status, body } = await slots({ days: 1 });
    expect({ status, body }).toEqual({ status: 200, body: TODAY });
  });

  test("are listed for the requested dates", async () => {
    const listed = await data(slots({ from_date: "2026-12-24", days: 2 }));
    // The next day is a holiday.
    expect(listed.map((it: any) => it.local_start.slice(0, 10))).toEqual(Array(6).fill("2026-12-24"));
  });

  test("are empty if the zone has no schedule, and bookings without a window still work", async () => {
    const booked = await book(service, apiKey, { ...ROUTE, ...CAPE_TOWN });
    expect(booked).toMatchObject({ total: 5, pickup_window: null });
    const { body } = await slots(CAPE_TOWN);
    expect(body).toEqual({
      data: [],
      next_page_token: "",
      time_zone: null,
      slot_minutes: null,
      as_soon_as_possible: true,
      currency: "USD",
      capacity_unit: null,
    });
  });

  test.each([
    ["an invalid date", { from_date: "2026-02-30" }, "FIELD_INVALID", "from_date"],
    ["a date in another format", { from_date: "tomorrow" }, "FIELD_INVALID", "from_date"],
    ["a date before all schedules", { from_date: "0000-01-01" }, "FIELD_INVALID", "from_date"],
    ["a date beyond the calendar", { from_date: "9999-12-31" }, "FIELD_INVALID", "from_date"],
    ["too many days", { days: 15 }, "FIELD_INVALID", "days"],
    ["an uncovered route", { pickup_lng: 100 }, "ROUTE_NOT_COVERED", "coverage"],
    ["a weight that is not served", { weight_kg: 2_000 }, "WEIGHT_NOT_SERVED", "weight_kg"],
  ])("are rejected for %s", async (_, query, code, field) => {
    const refused = await slots(query);
    expect([refused.code, Object.keys(refused.body.errors)]).toEqual([code, [field]]);
  });
});

describe("an update of windows", () => {
  const update = (shipment: { reference?: string }, fields: object) =>
    caller.updateShipment({ shipment: shipment.reference, ...fields });

  test("moves a pending shipment with a new price, and clears a named window", async () => {
    const booked = await book(service, apiKey, { ...ROUTE, pickup_window: MORNING });
    const moved = await update(booked, { pickup_window: EVENING, dropoff_window: AFTERNOON });
    expect(moved.body.data).toEqual({
      ...booked,
      ...PRICE,
      ...BOOKED_WINDOWS,
      breakdown: BREAKDOWN,
      updated_at: ANY_TIME,
      etag: "2",
    });
    const cleared = await update(booked, { clear: ["pickup_window", "dropoff_window"] });
    expect(cleared.body.data).toEqual({ ...booked, pickup_window: null, etag: "3" });
    const events = await data(caller.listShipmentEvents({ shipment: booked["reference"] }));
    expect(events.map((it: any) => [it.type, it.data.window_fee])).toEqual([
      ["shipment.created", 0],
      ["shipment.updated", 2.5],
      ["shipment.updated", 0],
    ]);
  });

  test("follows the same rules as a booking, but does not recheck an unchanged window", async () => {
    const booked = await book(service, apiKey, { ...ROUTE, pickup_window: MORNING });
    const before = now;
    try {
      // The cutoff for the next morning has passed.
      now = Date.parse("2026-12-01T20:00Z");
      const refused = await update(booked, { pickup_window: window("02T08:00", "02T09:00") });
      expect(refused.code).toBe("CUT_OFF_PASSED");
      const heavier = await update(booked, { weight_kg: 3, dropoff_window: AFTERNOON });
      expect(heavier.body.data).toMatchObject({
        weight_kg: 3,
        pickup_window: { ...MORNING, time_zone: "Europe/Berlin" },
        dropoff_window: BOOKED_WINDOWS.dropoff_window,
      });
      const away = await update(booked, { pickup_lat: 53 });
      expect(away.code).toBe("CUT_OFF_PASSED");
    } finally {
      now = before;
    }
  });

  test("keeps the price of a paid shipment, and is rejected if the window costs more", async () => {
    const booked = await book(service, apiKey, { ...ROUTE, pickup_window: MORNING });
    const shipment = booked["reference"];
    await data(caller.recordPayment({ shipment, amount: 5, currency: "USD" }));
    const dearer = await update(booked, { pickup_window: EVENING });
    expect([dearer.code, dearer.body.errors]).toEqual([
      "PRICE_CHANGED",
      { pickup_window: ["The windows cost 2.5 USD, but 0 USD was paid for windows."] },
    ]);
    const later = window("02T08:00", "02T09:00");
    const moved = await update(booked, { pickup_window: later });
    expect(moved.body.data).toMatchObject({
      total: 5,
      pickup_window: later,
      status: "awaiting_pickup",
    });
    expect((await update(booked, { weight_kg: 9 })).code).toBe("SHIPMENT_STATE");
    await takeStep(service, apiKey, shipment, "advance");
    const late = await update(booked, { pickup_window: MORNING });
    expect(late).toMatchObject({
      code: "SHIPMENT_STATE",
      body: { message: "The shipment's windows cannot be changed because it is in transit." },
    });
  });
});

test("after a currency change, updates of a paid shipment keep its window and reject only more expensive ones", async () => {
  const pickup_window = window("02T17:00", "02T18:00");
  const { reference: shipment } = await book(service, apiKey, { ...ROUTE, ...OSLO, pickup_window });
  await data(caller.recordPayment({ shipment, amount: 7.5, currency: "USD" }));
  await publishDocument(service.app.em, tariffOf("EUR"));
  await eventually("prices in euros", async () => {
    const { body } = await caller.quoteShipment(ROUTE);
    return body.currency === "EUR";
  });
  // The cutoff for its pickup has passed.
  now = Date.parse("2026-12-01T12:00Z");
  const update = (windows: object) => caller.updateShipment({ shipment, ...windows });
  expect(await data(update({ dropoff_window: window("03T18:00", "03T20:00") }))).toMatchObject({
    total: 7.5,
    window_fee: 2.5,
    currency: "USD",
    pickup_window,
    dropoff_window: window("03T18:00", "03T20:00"),
  });
  // A window at 10:00 in New York costs one euro.
  const dearer = await update({ dropoff_window: window("03T15:00", "03T16:00") });
  expect([dearer.code, dearer.body.errors]).toEqual([
    "PRICE_CHANGED",
    { dropoff_window: ["The windows cost 1 EUR, but 2.5 USD was paid for windows."] },
  ]);
  const moved = await update({ pickup_window: window("03T17:00", "03T18:00") });
  expect(moved.body.errors).toEqual({
    pickup_window: ["The windows cost 2.5 EUR, but 2.5 USD was paid for windows."],
  });
});
