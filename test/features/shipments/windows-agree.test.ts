import fc from "fast-check";
import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { book, BOOKING } from "../../support/bookings.ts";
import { EVERY_DAY, scheduleOf } from "../../support/schedules.ts";
import { startService } from "../../support/service.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

/** Time zones with a point in each. The zones are adjacent, start at 0° east and are 10° wide. */
const TIME_ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia"];
const pickupIn = (zone: number) => ({ pickup_lat: 5, pickup_lng: zone * 10 + 5 });
const dropoffIn = (zone: number) => ({ dropoff_lat: 6, dropoff_lng: zone * 10 + 6 });

/** Days just before clock changes in these zones, and one day without a change. */
const STARTS = ["2026-10-02", "2026-10-23", "2026-10-30", "2027-03-12", "2027-03-26", "2026-12-01"];

const HALF_HOUR_MS = 1_800_000;

let nowMs = 0;
const service = await startService({ tariff: tariff(), now: () => new Date(nowMs) });
const { apiKey } = await service.addWorkspace();
const caller = service.as(apiKey);

/** Returns a tariff in which each zone has a different schedule. Every second schedule has slots. */
function tariff(): object {
  const zones = zonesOf(...TIME_ZONES.map((_, i) => square(i * 10, 0, i * 10 + 10, 10)));
  const { features } = zones as { features: { properties: object }[] };
  features.forEach((feature, i) => {
    feature.properties = { name: TIME_ZONES[i], schedule: TIME_ZONES[i] };
  });
  return worldTariff({
    zones,
    schedules: TIME_ZONES.map((time_zone, i) =>
      scheduleOf({
        name: time_zone,
        time_zone,
        hours: [
          { days: ["mon", "tue", "sat", "sun"], opens: "00:30", closes: "05:00", fee: "1.50" },
          { days: EVERY_DAY, opens: "07:30", closes: "18:00" },
          { days: ["fri", "sat"], opens: "20:00", closes: "00:30", fee: "2.50" },
        ],
        ...(i % 2 === 0 ? { slot_minutes: 30 } : {}),
        lead_time_minutes: 45,
        horizon_days: 4,
        cut_offs: [{ until: "12:00", days_before: 1, at: "17:00" }],
      }),
    ),
  });
}

const zone = fc.nat(TIME_ZONES.length - 1);
const window = fc
  .tuple(fc.integer({ min: 0, max: 5 * 48 }), fc.constantFrom(1, 1, 1, 1, 3))
  .map(([from, length]) => (base: number) => ({
    start: new Date(base + from * HALF_HOUR_MS).toISOString(),
    end: new Date(base + (from + length) * HALF_HOUR_MS).toISOString(),
  }));

test("slots, quotes, bookings and updates agree on whether any window is available, and on its price", async () => {
  const one = fc.record({
    start: fc.constantFrom(...STARTS),
    minute: fc.nat(1_440),
    pickup: zone,
    dropoff: zone,
    pickupWindow: window,
    dropoffWindow: fc.option(window, { nil: undefined, freq: 1 }),
  });
  const outcomes: boolean[] = [];
  await fc.assert(
    fc.asyncProperty(one, async ({ start, minute, pickup, dropoff, ...windows }) => {
      const dayMs = Date.parse(start);
      nowMs = dayMs + minute * 60_000;
      const route = { ...pickupIn(pickup), ...dropoffIn(dropoff) };
      const chosen = {
        pickup_window: windows.pickupWindow(dayMs),
        dropoff_window: windows.dropoffWindow?.(dayMs),
      };
      const quoted = await caller.quoteShipment({ ...route, weight_kg: 2, ...chosen });
      const held = await caller.createQuote({ ...route, weight_kg: 2, ...chosen });
      const booked = await caller.createShipment({ ...BOOKING, ...route, ...chosen });
      const { reference: shipment } = await book(service, apiKey, route);
      const updated = await caller.updateShipment({ shipment, ...chosen });

      const answers = [quoted, held, booked, updated].map(({ status, body }) => {
        const { total, pickup_window, dropoff_window } = { ...body, ...body.data };
        return status < 300 ? { total, pickup_window, dropoff_window } : body;
      });
      expect(answers).toEqual(answers.map(() => answers[0]));
      outcomes.push(quoted.status === 200);

      if (pickup % 2 !== 0 || chosen.dropoff_window !== undefined) return;
      const fields = { ...route, weight_kg: 2, from_date: start, days: 8 };
      const slots = await data(caller.listPickupSlots(fields));
      const slot = slots.find(
        (it: { start: string; end: string }) =>
          it.start === chosen.pickup_window.start && it.end === chosen.pickup_window.end,
      );
      expect(slot?.available ?? false).toBe(quoted.status === 200);
      if (slot?.available === true) expect(slot).toMatchObject({ price: quoted.body.total });
    }),
    { numRuns: 100, seed: 24 },
  );
  expect(outcomes.filter(Boolean).length).toBeGreaterThan(20);
  expect(outcomes.filter((isTaken) => !isTaken).length).toBeGreaterThan(20);
});
