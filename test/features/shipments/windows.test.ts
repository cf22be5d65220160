import { afterEach, describe, expect, test } from "vitest";
import {
  ListPickupSlotsResponseSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { compileEncodeJson } from "../../../src/json/encode-json.ts";
import { ANY_TIME, book, BOOKED_SHIPMENT, BOOKING, takeStep } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { EVERY_DAY, scheduleOf } from "../../support/schedules.ts";
import { startService } from "../../support/service.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

/** A Tuesday, when it is 10:00 in Berlin. */
let now = Date.parse("2026-12-01T09:00Z");

const BERLIN = { pickup_lat: 52.5, pickup_lng: 13.4 };
const NEW_YORK = { dropoff_lat: 40.7, dropoff_lng: -74 };
/** A zone without a schedule. */
const CAPE_TOWN = { pickup_lat: -33.9, pickup_lng: 18.4 };
const ROUTE = { ...BERLIN, ...NEW_YORK, weight_kg: 2 };

/** In Berlin slots of an hour, the evening dearer, the morning by 18:00 of the day before; free in New York. */
function tariffOf(changes: object = {}, document: object = {}) {
  const zones = zonesOf(square(0, 40, 30, 60), square(-90, 30, -60, 50), square(0, -40, 30, -30));
  const { features } = zones as { features: { properties: object }[] };
  features[0]!.properties = { name: "Berlin", schedule: "berlin" };
  features[1]!.properties = { name: "New York", schedule: "new york" };
  return worldTariff({
    base_fee: "5.00",
    zones,
    schedules: [
      scheduleOf({
        name: "berlin",
        hours: [
          { days: EVERY_DAY, opens: "08:00", closes: "12:00" },
          { days: EVERY_DAY, opens: "18:00", closes: "20:00", fee: "2.50" },
        ],
        exceptions: [{ date: "2026-12-25", note: "Christmas Day" }],
        slot_minutes: 60,
        lead_time_minutes: 60,
        cut_offs: [{ until: "12:00", days_before: 1, at: "18:00" }],
        ...changes,
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
    ...document,
  });
}

const service = await startService({ tariff: tariffOf(), now: () => new Date(now) });
const { apiKey } = await service.addWorkspace();

const window = (start: string, end: string) => ({
  start: `2026-12-${start}:00.000Z`,
  end: `2026-12-${end}:00.000Z`,
});
const MORNING = window("02T07:00", "02T08:00");
const EVENING = window("01T17:00", "01T18:00");
/** 13:00 to 15:00 in New York. */
const AFTERNOON = window("02T18:00", "02T20:00");

const post = (path: string, body: object) => service.request(path, { apiKey, body });
const slots = (query: object) => {
  const parameters = new URLSearchParams(
    Object.entries({ ...ROUTE, ...query }).map(([name, value]) => [name, String(value)]),
  );
  return service.request(`/v1/pickup_slots?${parameters}`, { apiKey });
};

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

test("a quote with windows tells them with their time zones, and what they cost", async () => {
  const windows = { pickup_window: EVENING, dropoff_window: AFTERNOON };
  const priced = {
    covered: true,
    message: null,
    failure_type: null,
    distance_km: expect.any(Number),
  };
  const plain = await post("/v1/shipments/quote", { ...ROUTE, ...windows });
  expect(plain).toMatchObject({ status: 200, body: { ...priced, ...PRICE, ...BOOKED_WINDOWS } });
  const held = await post("/v1/quotes", { ...ROUTE, ...windows });
  expect(held).toMatchObject({
    status: 201,
    body: {
      ...priced,
      ...PRICE,
      ...BOOKED_WINDOWS,
      breakdown: BREAKDOWN,
    },
  });
});

test("a booked shipment, and its event, tell the windows, and both can be read again", async () => {
  const windows = { pickup_window: EVENING, dropoff_window: AFTERNOON };
  const booked = await book(service, apiKey, { ...ROUTE, ...windows, expected_total: 7.5 });
  expect(booked).toEqual({
    ...BOOKED_SHIPMENT,
    ...ROUTE,
    ...PRICE,
    ...BOOKED_WINDOWS,
    breakdown: BREAKDOWN,
    distance_km: expect.any(Number),
  });
  const found = await service.request(`/v1/shipments/${booked["reference"]}`, { apiKey });
  expect(found.body.data).toEqual(booked);
  const events = await service.request(`/v1/shipments/${booked["reference"]}/events`, { apiKey });
  expect(events.body.data[0]).toMatchObject({ type: "shipment.created", data: booked });
});

test("a booking by a quote takes its windows, at its price, and other windows are not those of the quote", async () => {
  const windows = { pickup_window: EVENING, dropoff_window: AFTERNOON };
  const { body: quote } = await post("/v1/quotes", { ...ROUTE, ...windows });
  const fields = {
    customer_name: BOOKING.customer_name,
    customer_email: BOOKING.customer_email,
    pickup_address: BOOKING.pickup_address,
    dropoff_address: BOOKING.dropoff_address,
    quote_id: quote.id,
  };
  const other = window("01T18:00", "01T19:00");
  const { status, code, body } = await post("/v1/shipments", { ...fields, pickup_window: other });
  expect({ status, code, errors: body.errors, metadata: body.metadata }).toEqual({
    status: 422,
    code: "QUOTE_MISMATCH",
    metadata: { pickup_window_start: EVENING.start, pickup_window_end: EVENING.end },
    errors: {
      pickup_window: [
        "pickup_window is not that of the quote; leave it out, or ask for another quote.",
      ],
    },
  });
  const booked = await post("/v1/shipments", { ...fields, dropoff_window: AFTERNOON });
  expect(booked).toMatchObject({
    status: 201,
    body: { data: { ...PRICE, ...BOOKED_WINDOWS, breakdown: BREAKDOWN, quote_id: quote.id } },
  });
  const { body: plain } = await post("/v1/quotes", ROUTE);
  const given = await post("/v1/shipments", {
    ...fields,
    quote_id: plain.id,
    pickup_window: EVENING,
  });
  expect(given.code).toBe("QUOTE_MISMATCH");
});

describe("windows that cannot be booked", () => {
  const REFUSED = {
    ...ROUTE,
    pickup_window: window("01T08:00", "01T09:00"),
    dropoff_window: window("01T09:00", "01T09:05"),
  };
  const errors = {
    pickup_window: [
      "pickup_window had to be booked by 2026-11-30T17:00:00.000Z; the next that can be booked is 2026-12-01T17:00:00.000Z to 2026-12-01T18:00:00.000Z.",
      "pickup_window must not start before 60 minutes from now.",
    ],
    dropoff_window: [
      "dropoff_window must last at least 10 minutes; the next that can be booked is 2026-12-01T13:00:00.000Z to 2026-12-01T13:10:00.000Z.",
    ],
  };
  const facts = {
    cut_off_at: "2026-11-30T17:00:00.000Z",
    next_available: "2026-12-01T17:00:00.000Z",
    next_available_end: "2026-12-01T18:00:00.000Z",
    dropoff_next_available: "2026-12-01T13:00:00.000Z",
    dropoff_next_available_end: "2026-12-01T13:10:00.000Z",
  };
  test.each(["/v1/shipments/quote", "/v1/quotes", "/v1/shipments"])(
    "are refused alike by POST %s",
    async (path) => {
      const { status, code, body } = await post(path, { ...BOOKING, ...REFUSED });
      const message = `${errors.pickup_window[0]} (and 2 more errors)`;
      expect({ status, code, body }).toEqual({
        status: 422,
        code: "CUT_OFF_PASSED",
        body: { message, errors, metadata: facts },
      });
    },
  );
  test("have what would do among the facts by gRPC, beside everything else that is wrong", async () => {
    const unconnected = await service.addWorkspace({ paymentProvider: undefined });
    const client = service.grpcClient(unconnected.apiKey);
    const at = (text: string) => ({ seconds: BigInt(Date.parse(text) / 1_000) });
    const refused = client.createShipment({
      customerName: BOOKING.customer_name,
      customerEmail: BOOKING.customer_email,
      pickupAddress: BOOKING.pickup_address,
      dropoffAddress: BOOKING.dropoff_address,
      pickupLat: BERLIN.pickup_lat,
      pickupLng: BERLIN.pickup_lng,
      dropoffLat: NEW_YORK.dropoff_lat,
      dropoffLng: NEW_YORK.dropoff_lng,
      weightKg: 2,
      pickupWindow: { start: at("2026-12-02T06:00Z"), end: at("2026-12-02T07:00Z") },
    });
    expect(await rpcError(refused)).toMatchObject({
      code: "FailedPrecondition",
      details: {
        ErrorInfo: {
          reason: "OUTSIDE_HOURS",
          metadata: {
            cut_off_at: "2026-12-01T17:00:00.000Z",
            next_available: "2026-12-02T07:00:00.000Z",
            next_available_end: "2026-12-02T08:00:00.000Z",
          },
        },
        PreconditionFailure: {
          violations: [
            { type: "OUTSIDE_HOURS", subject: "pickup_window" },
            { type: "PAYMENT_PROVIDER_NOT_CONNECTED", subject: "payment_provider" },
          ],
        },
      },
    });
  });
  test("are said in the result of a batch, whose other routes are priced", async () => {
    const { status, body } = await post("/v1/quotes/batch", { routes: [REFUSED, ROUTE] });
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
  ])("of the wrong form are the error of that field: %j", async (pickup_window, field) => {
    const { status, code, body } = await post("/v1/shipments/quote", { ...ROUTE, pickup_window });
    expect({ status, code, fields: Object.keys(body.errors) }).toEqual({
      status: 422,
      code: "FIELD_INVALID",
      fields: [field],
    });
  });
  test("at the ends of time are refused, too", async () => {
    const ofAllTime = { start: "0001-01-01T00:00:00Z", end: "9999-12-31T23:59:59.999999999Z" };
    const last = { start: "9999-12-31T23:00:00Z", end: "9999-12-31T23:59:00Z" };
    for (const pickup_window of [ofAllTime, last]) {
      const { status } = await post("/v1/shipments/quote", { ...ROUTE, pickup_window });
      expect(status).toBe(422);
    }
    for (const date of ["0001-01-01", "1899-12-31", "1969-12-31"]) {
      const pickup_window = { start: `${date}T10:00:00Z`, end: `${date}T11:00:00Z` };
      const { code } = await post("/v1/shipments/quote", { ...ROUTE, pickup_window });
      expect(code, date).toBe("TOO_SOON");
    }
  });
});

test("a window where the zone has no schedule is refused, and a booking without one is as ever", async () => {
  const there = { ...ROUTE, ...CAPE_TOWN };
  const { status, body } = await post("/v1/shipments", {
    ...BOOKING,
    ...there,
    pickup_window: MORNING,
  });
  expect({ status, errors: body.errors }).toEqual({
    status: 422,
    errors: {
      pickup_window: ["pickup_window must be left out: the zone of the pickup has no schedule."],
    },
  });
  expect(await book(service, apiKey, there)).toMatchObject({ total: 5, pickup_window: null });
});

describe("GET /v1/pickup_slots", () => {
  const SLOT = { cut_off_at: null, available: true, unavailable_reason: null, price: 7.5 };
  const CUT_OFF = { cut_off_at: "2026-11-30T17:00:00.000Z", available: false, price: 5 };
  const slot = (from: number) => ({
    ...window(
      `01T${String(from).padStart(2, "0")}:00`,
      `01T${String(from + 1).padStart(2, "0")}:00`,
    ),
    local_start: `2026-12-01T${String(from + 1).padStart(2, "0")}:00:00+01:00`,
    local_end: `2026-12-01T${String(from + 2).padStart(2, "0")}:00:00+01:00`,
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
  };

  test("lists the slots of a route with their prices, and why some cannot be booked", async () => {
    const { status, body } = await slots({ days: 1 });
    expect({ status, body }).toEqual({ status: 200, body: TODAY });
  });

  test.each(["gRPC on the gRPC server", "Connect on the HTTP server"] as const)(
    "answers by %s what it answers by JSON",
    async (protocol) => {
      const client = rpcClient(ShipmentService, PROTOCOLS[protocol], service, apiKey);
      const answer = await client.listPickupSlots({
        pickupLat: BERLIN.pickup_lat,
        pickupLng: BERLIN.pickup_lng,
        dropoffLat: NEW_YORK.dropoff_lat,
        dropoffLng: NEW_YORK.dropoff_lng,
        weightKg: 2,
        days: 1,
      });
      expect(compileEncodeJson(ListPickupSlotsResponseSchema)(answer)).toEqual(TODAY);
    },
  );

  test("every slot that is available can be quoted and booked at its price, and no other", async () => {
    const { body } = await slots({ days: 2 });
    for (const { start, end, available, price } of body.data) {
      const pickup_window = { start, end };
      const quoted = await post("/v1/shipments/quote", { ...ROUTE, pickup_window });
      expect([quoted.status, quoted.body.total]).toEqual(
        available ? [200, price] : [422, undefined],
      );
      const fields = { ...BOOKING, ...ROUTE, pickup_window, expected_total: price };
      const booked = await post("/v1/shipments", fields);
      expect(booked.status).toBe(available ? 201 : 422);
    }
  });

  test("lists the dates that are asked for: none of a holiday, and those beyond the horizon as too far", async () => {
    const holidays = await slots({ from_date: "2026-12-24", days: 2 });
    expect(new Set(holidays.body.data.map((it: any) => it.local_start.slice(0, 10)))).toEqual(
      new Set(["2026-12-24"]),
    );
    const far = await slots({ from_date: "2027-01-01", days: 1 });
    expect(far.body.data[0]).toMatchObject({
      available: false,
      unavailable_reason: "too_far_ahead",
    });
    const { body } = await slots({ days: 14 });
    expect(body.data).toHaveLength(14 * 6);
  });

  test("is empty where the zone has no schedule", async () => {
    const { body } = await slots(CAPE_TOWN);
    expect(body).toEqual({
      data: [],
      next_page_token: "",
      time_zone: null,
      slot_minutes: null,
      as_soon_as_possible: true,
      currency: "USD",
    });
  });

  test.each([
    ["a date that there is not", { from_date: "2026-02-30" }, "FIELD_INVALID", "from_date"],
    ["a date of another form", { from_date: "tomorrow" }, "FIELD_INVALID", "from_date"],
    ["a date before all hours", { from_date: "0000-01-01" }, "FIELD_INVALID", "from_date"],
    ["a date at the end of time", { from_date: "9999-12-31" }, "FIELD_INVALID", "from_date"],
    ["too many days", { days: 15 }, "FIELD_INVALID", "days"],
    ["a route that is not covered", { pickup_lng: 100 }, "ROUTE_NOT_COVERED", "coverage"],
    ["a weight that is not served", { weight_kg: 2_000 }, "WEIGHT_NOT_SERVED", "weight_kg"],
  ])("refuses %s", async (_, query, code, field) => {
    const { status, code: reason, body } = await slots(query);
    expect({ status, code: reason, fields: Object.keys(body.errors) }).toEqual({
      status: 422,
      code,
      fields: [field],
    });
  });
});

describe("an update of windows", () => {
  const patch = (shipment: { reference?: string }, body: object) =>
    service.request(`/v1/shipments/${shipment.reference}`, { apiKey, method: "PATCH", body });

  test("moves a pending shipment, priced anew, and clears a window by its name", async () => {
    const booked = await book(service, apiKey, { ...ROUTE, pickup_window: MORNING });
    const moved = await patch(booked, { pickup_window: EVENING, dropoff_window: AFTERNOON });
    expect(moved.body.data).toEqual({
      ...booked,
      ...PRICE,
      ...BOOKED_WINDOWS,
      breakdown: BREAKDOWN,
      updated_at: ANY_TIME,
      etag: "2",
    });
    const cleared = await patch(booked, { clear: ["pickup_window", "dropoff_window"] });
    expect(cleared.body.data).toEqual({ ...booked, pickup_window: null, etag: "3" });
    const events = await service.request(`/v1/shipments/${booked["reference"]}/events`, { apiKey });
    expect(events.body.data.map(({ type, data }: any) => [type, data.window_fee])).toEqual([
      ["shipment.created", 0],
      ["shipment.updated", 2.5],
      ["shipment.updated", 0],
    ]);
  });

  test("is decided like a booking, but a window that stays is not decided again", async () => {
    const booked = await book(service, apiKey, { ...ROUTE, pickup_window: MORNING });
    const before = now;
    try {
      // After the cut-off of the morning.
      now = Date.parse("2026-12-01T20:00Z");
      const refused = await patch(booked, { pickup_window: window("02T08:00", "02T09:00") });
      expect({ status: refused.status, code: refused.code }).toEqual({
        status: 422,
        code: "CUT_OFF_PASSED",
      });
      const heavier = await patch(booked, { weight_kg: 3, dropoff_window: AFTERNOON });
      expect(heavier.body.data).toMatchObject({
        weight_kg: 3,
        pickup_window: { ...MORNING, time_zone: "Europe/Berlin" },
        dropoff_window: BOOKED_WINDOWS.dropoff_window,
      });
      const away = await patch(booked, { pickup_lat: 53 });
      expect(away.code).toBe("CUT_OFF_PASSED");
    } finally {
      now = before;
    }
  });

  test("keeps the price of a shipment that is paid, and is refused when the window costs more", async () => {
    const booked = await book(service, apiKey, { ...ROUTE, pickup_window: MORNING });
    const pay = (amount: number) =>
      post(`/v1/shipments/${booked["reference"]}/payments`, { amount, currency: "USD" });
    expect((await pay(5)).status).toBe(200);
    const dearer = await patch(booked, { pickup_window: EVENING });
    expect({ status: dearer.status, code: dearer.code, errors: dearer.body.errors }).toEqual({
      status: 422,
      code: "PRICE_CHANGED",
      errors: { pickup_window: ["The windows cost 2.5 USD, and 0 USD was paid for windows."] },
    });
    const later = window("02T08:00", "02T09:00");
    const moved = await patch(booked, { pickup_window: later });
    expect(moved.body.data).toMatchObject({
      total: 5,
      pickup_window: later,
      status: "awaiting_pickup",
    });
    expect((await patch(booked, { weight_kg: 9 })).code).toBe("SHIPMENT_STATE");
    await takeStep(service, apiKey, booked["reference"], "advance");
    const late = await patch(booked, { pickup_window: MORNING });
    expect(late).toMatchObject({
      code: "SHIPMENT_STATE",
      body: { message: "The shipment's windows cannot be changed because it is in transit." },
    });
  });
});

describe("an update of a paid shipment, after a tariff in another currency", () => {
  const before = now;
  afterEach(() => {
    now = before;
  });

  /** Its pickup is in the next evening, and by now past its cut-off. */
  async function paidAndCutOff() {
    const cutOffs = [{ from: "18:00", days_before: 1, at: "12:00" }];
    const changing = await startService({
      tariff: tariffOf({ cut_offs: cutOffs }),
      now: () => new Date(now),
    });
    const workspace = await changing.addWorkspace();
    const pickup_window = window("02T17:00", "02T18:00");
    const { reference } = await book(changing, workspace.apiKey, { ...ROUTE, pickup_window });
    const path = `/v1/shipments/${reference}`;
    await changing.request(`${path}/payments`, {
      apiKey: workspace.apiKey,
      body: { amount: 7.5, currency: "USD" },
    });
    await publishDocument(changing.app.em, tariffOf({ cut_offs: cutOffs }, { currency: "EUR" }));
    await eventually("prices in euros", async () => {
      const quoted = await changing.request("/v1/shipments/quote", {
        apiKey: workspace.apiKey,
        body: ROUTE,
      });
      return quoted.body.currency === "EUR";
    });
    now = Date.parse("2026-12-01T12:00Z");
    const patch = (body: object) =>
      changing.request(path, { apiKey: workspace.apiKey, method: "PATCH", body });
    return { pickup_window, patch };
  }

  test("keeps the window that stays, and refuses only what costs more itself", async () => {
    const { pickup_window, patch } = await paidAndCutOff();
    const free = await patch({ dropoff_window: window("03T18:00", "03T20:00") });
    expect(free.body.data).toMatchObject({
      total: 7.5,
      window_fee: 2.5,
      currency: "USD",
      pickup_window,
      dropoff_window: window("03T18:00", "03T20:00"),
    });
    // 10:00 in New York costs a euro.
    const dearer = await patch({ dropoff_window: window("03T15:00", "03T16:00") });
    expect({ status: dearer.status, code: dearer.code, errors: dearer.body.errors }).toEqual({
      status: 422,
      code: "PRICE_CHANGED",
      errors: { dropoff_window: ["The windows cost 1 EUR, and 2.5 USD was paid for windows."] },
    });
    const moved = await patch({ pickup_window: window("03T17:00", "03T18:00") });
    expect(moved.body.errors).toEqual({
      pickup_window: ["The windows cost 2.5 EUR, and 2.5 USD was paid for windows."],
    });
  });
});

test("where no pickup is offered as soon as possible, one without a window is refused", async () => {
  const strict = await startService({
    tariff: tariffOf({ as_soon_as_possible: false }),
    now: () => new Date(now),
  });
  const workspace = await strict.addWorkspace();
  const { status, body } = await strict.request("/v1/shipments", {
    apiKey: workspace.apiKey,
    body: { ...BOOKING, ...ROUTE },
  });
  expect({ status, errors: body.errors }).toEqual({
    status: 422,
    errors: {
      pickup_window: [
        "pickup_window must be given: the zone offers no pickup as soon as possible; the next that can be booked is 2026-12-01T17:00:00.000Z to 2026-12-01T18:00:00.000Z.",
      ],
    },
  });
});
