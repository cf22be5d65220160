import { expect, test } from "vitest";
import { book, BOOKING, takeStep, type ShipmentJson } from "../support/bookings.ts";
import { EVERY_DAY, scheduleOf } from "../support/schedules.ts";
import { startService } from "../support/service.ts";
import { publishDocument } from "../support/publish-document.ts";
import { square, worldTariff, zonesOf } from "../support/tariffs.ts";
import { chooseMore, describeDashboard, expectWellShown, openAsMember, type TestPage } from "./browser.ts";

/** Fixed time: a Tuesday, 10:00 in Berlin. A slow test does not change it. */
const now = Date.parse("2026-12-01T09:00Z");

const BERLIN = { pickup_lat: 52.5, pickup_lng: 13.4 };
const NEW_YORK = { dropoff_lat: 40.7, dropoff_lng: -74 };
const ROUTE = { ...BERLIN, ...NEW_YORK, weight_kg: 2 };
/** A route in an area without a schedule. */
const CAPE_TOWN = { pickup_lat: -33.9, pickup_lng: 18.4, dropoff_lat: -33.9, dropoff_lng: 18.5 };

/**
 * Returns a tariff with one-hour slots in Berlin. Evenings cost more, and mornings have a cutoff at
 * 18:00 the day before. On December 10, two slots take two shipments each. New York has opening hours without slots.
 */
function tariffOf(): object {
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
        slot_minutes: 60,
        lead_time_minutes: 60,
        cut_offs: [{ until: "12:00", days_before: 1, at: "18:00" }],
        exceptions: [{ date: "2026-12-10", capacity: 2, hours: [{ opens: "10:00", closes: "12:00" }] }],
      }),
      scheduleOf({
        name: "new york",
        time_zone: "America/New_York",
        hours: [{ days: EVERY_DAY, opens: "08:00", closes: "02:00" }],
      }),
    ],
  });
}

const EVENING = { start: "2026-12-01T17:00:00.000Z", end: "2026-12-01T18:00:00.000Z" };

describeDashboard(
  "a shipment's time windows",
  (dashboard) => {
    const open = (path: string, role = "member") => openAsMember(dashboard, path, { role });
    const routePath = (route: object) =>
      `/book?${new URLSearchParams(Object.entries(route).map(([name, value]) => [name, String(value)]))}`;
    const read = async (reference: string): Promise<ShipmentJson> => {
      const { apiKey } = dashboard.workspace;
      return (await dashboard.service.request(`/v1/shipments/${reference}`, { apiKey })).body.data;
    };
    const group = (page: TestPage, name: string) => page.getByRole("radiogroup", { name });
    const total = (page: TestPage) => page.locator(".quote strong data");
    const fillRest = async (page: TestPage) => {
      await page.getByLabel("Pickup address").fill(BOOKING.pickup_address);
      await page.getByLabel("Dropoff address").fill(BOOKING.dropoff_address);
      await page.getByLabel("Find customer").fill("Grace Hopper");
      await page.getByRole("option", { name: "New customer" }).click();
      await page.getByLabel("Email", { exact: true }).fill("grace@example.org");
    };
    const bookAt = (windows: object) => book(dashboard.service, dashboard.workspace.apiKey, { ...ROUTE, ...windows });

    test("books a slot on a day, with a line in the price", async () => {
      const page = await open(routePath(ROUTE));
      await expect.poll(() => total(page).getAttribute("value")).toBe("5");
      const pickup = group(page, "Pickup time");
      await expect.poll(() => pickup.getByLabel("As soon as possible").isChecked()).toBe(true);
      await pickup.getByLabel("At a time").check();
      await expect.poll(() => pickup.getByLabel("Day").locator("option").first().textContent()).toBe("Tue, Dec 1");
      await expect
        .poll(() => pickup.locator(".slots label").allTextContents())
        .toEqual([
          "8:00 – 9:00 AM had to be booked by Mon, Nov 30, 6:00 PM Berlin time",
          "9:00 – 10:00 AM had to be booked by Mon, Nov 30, 6:00 PM Berlin time",
          "10:00 – 11:00 AM had to be booked by Mon, Nov 30, 6:00 PM Berlin time",
          "11:00 AM – 12:00 PM had to be booked by Mon, Nov 30, 6:00 PM Berlin time",
          "6:00 – 7:00 PM +$2.50",
          "7:00 – 8:00 PM +$2.50",
        ]);
      await pickup.getByText("Times are Berlin time.").waitFor();
      await expect.poll(() => total(page).getAttribute("value")).toBe("7.5");
      const dropoff = group(page, "Dropoff time");
      await dropoff.getByLabel("At a time").check();
      await dropoff.getByLabel("Day").selectOption("Wed, Dec 2");
      await dropoff.getByLabel("From").fill("22:00");
      await dropoff.getByLabel("Until").fill("01:30");
      await dropoff.getByText("On the next day.").waitFor();
      await dropoff.getByText("Open Wed, Dec 2, 8:00 AM – Thu, Dec 3, 2:00 AM").waitFor();
      await expect.poll(() => page.locator(".quote").textContent()).toContain("Chosen times$2.50");
      await expectWellShown(page, "book-windows");
      await fillRest(page);
      await page.getByRole("button", { name: "Book for $7.50" }).click();
      await page.waitForURL("**/shipments/SHP-*");
      const shown = page.locator(".stops");
      await shown.getByText("Tue, Dec 1, 6:00 – 7:00 PM Berlin time").waitFor();
      await shown.getByText("Tue, Dec 1, 12:00 – 1:00 PM your time").waitFor();
      await shown.getByText("10:00 PM – Thu, Dec 3, 1:30 AM").waitFor();
      await expectWellShown(page, "shipment-windows");
      expect(await read(page.url().split("/").at(-1)!)).toMatchObject({
        total: 7.5,
        window_fee: 2.5,
        pickup_window: { ...EVENING, time_zone: "Europe/Berlin" },
        dropoff_window: { start: "2026-12-03T03:00:00.000Z", end: "2026-12-03T06:30:00.000Z" },
      });
    });

    test("shows the remaining places of limited slots when booking and rescheduling", async () => {
      const pickup_window = { start: "2026-12-10T09:00:00.000Z", end: "2026-12-10T10:00:00.000Z" };
      await bookAt({ pickup_window });
      const page = await open(routePath(ROUTE));
      const choose = async () => {
        await group(page, "Pickup time").getByLabel("At a time").check();
        await group(page, "Pickup time").getByLabel("Day").selectOption("Thu, Dec 10");
      };
      const slots = () => group(page, "Pickup time").locator(".slots label").allTextContents();
      await choose();
      await expect.poll(slots).toEqual(["10:00 – 11:00 AM 1 left", "11:00 AM – 12:00 PM 2 left"]);
      await expectWellShown(page, "book-windows-limited", ["360-dark"]);
      await bookAt({ pickup_window });
      const { reference } = await bookAt({});
      await page.goto(new URL(`shipments/${reference}`, page.url()).href);
      await chooseMore(page, "Reschedule");
      await choose();
      await expect.poll(slots).toEqual(["10:00 – 11:00 AM full", "11:00 AM – 12:00 PM 2 left"]);
    });

    test("shows no time choice without a schedule", async () => {
      const page = await open(routePath({ ...CAPE_TOWN, weight_kg: 2 }));
      await expect.poll(() => total(page).getAttribute("value")).toBe("5");
      await expect.poll(() => page.getByRole("radiogroup").count()).toBe(0);
    });

    test("lists days up to the end of the horizon", async () => {
      const page = await open(routePath(ROUTE));
      const pickup = group(page, "Pickup time");
      await pickup.getByLabel("At a time").check();
      const days = pickup.getByLabel("Day").locator("option");
      const later = pickup.getByRole("button", { name: "Show later days" });
      await expect.poll(() => days.last().textContent()).toBe("Mon, Dec 14");
      await expectWellShown(page, "book-windows-later");
      await later.click();
      await expect.poll(() => days.last().textContent()).toBe("Mon, Dec 28");
      await later.click();
      await expect.poll(() => days.last().textContent()).toBe("Thu, Dec 31");
      expect([await days.count(), await later.count()]).toEqual([31, 0]);
      await pickup.getByLabel("Day").selectOption("Thu, Dec 31");
      await pickup.getByLabel("8:00 – 9:00 AM").check();
      await expect.poll(() => total(page).getAttribute("value")).toBe("5");
    });

    test("refreshes slots every minute on pages that only show slots", async () => {
      const { reference } = await bookAt({});
      const listed = async (path: string, isThere: (page: TestPage) => Promise<unknown>, atFirst = 0) => {
        const page = await open(path);
        await page.clock.install();
        let answered = 0;
        const isList = (request: { url(): string }) => request.url().endsWith("/ListPickupSlots");
        page.on("requestfinished", (request) => {
          if (isList(request)) answered++;
        });
        await page.reload();
        await isThere(page);
        await expect.poll(() => answered).toBeGreaterThanOrEqual(atFirst);
        let count = 0;
        page.on("request", (request) => {
          if (isList(request)) count++;
        });
        await page.clock.runFor(61_000);
        await page.evaluate(() => fetch("/healthz"));
        return count;
      };
      const quoted = async (page: TestPage) => {
        await page.clock.runFor(1_000);
        await expect.poll(() => total(page).getAttribute("value")).toBe("5");
      };
      expect(await listed(routePath(ROUTE), quoted, 2)).toBe(2);
      expect(await listed(routePath({ ...CAPE_TOWN, weight_kg: 2 }), quoted)).toBe(0);
      const isShown = async (page: TestPage) => {
        await page.clock.runFor(1_000);
        await page.locator(".menu-content", { hasText: "Reschedule" }).waitFor({ state: "attached" });
      };
      expect(await listed(`/shipments/${reference}`, isShown)).toBe(0);
    });

    test("refuses unavailable times with an explanation and offers the next available one", async () => {
      const page = await open(routePath(ROUTE));
      const dropoff = group(page, "Dropoff time");
      await dropoff.getByLabel("At a time").check();
      await dropoff.getByLabel("Day").selectOption("Wed, Dec 2");
      await dropoff.getByLabel("From").fill("04:00");
      await dropoff.getByLabel("Until").fill("05:00");
      const refusal = page.locator(".problem.attention");
      await expect
        .poll(() => refusal.locator("p").allTextContents())
        .toEqual([
          "Dropoff time must be within the hours of its zone, in the time zone America/New York. The next available window is Wed, Dec 2, 8:00 – 9:00 AM.",
        ]);
      await expectWellShown(page, "book-windows-refused");
      await refusal.getByRole("button", { name: "Use Wed, Dec 2, 8:00 – 9:00 AM" }).click();
      await expect.poll(() => total(page).getAttribute("value")).toBe("5");
      await expect.poll(() => dropoff.getByLabel("From").inputValue()).toBe("08:00");
    });

    test("chooses times with the keyboard", async () => {
      const page = await open(routePath(ROUTE));
      const pickup = group(page, "Pickup time");
      await pickup.getByLabel("As soon as possible").focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      await page.keyboard.press("ArrowDown");
      await expect.poll(() => pickup.getByLabel("Day").inputValue()).toBe("2026-12-02");
      await page.keyboard.press("Tab");
      await page.keyboard.press("ArrowDown");
      await expect.poll(() => pickup.getByLabel("9:00 – 10:00 AM").isChecked()).toBe(true);
      await expect.poll(() => total(page).getAttribute("value")).toBe("5");
    });

    test("reschedules a shipment until its pickup, and back to as soon as possible", async () => {
      const { reference } = await bookAt({ pickup_window: EVENING });
      const page = await open(`/shipments/${reference}`);
      await chooseMore(page, "Reschedule");
      const pickup = group(page, "Pickup time");
      await pickup.getByLabel("As booked: Tue, Dec 1, 6:00 – 7:00 PM Berlin time").waitFor();
      await pickup.getByLabel("At a time").check();
      await pickup.getByLabel("Day").selectOption("Thu, Dec 3");
      await pickup.getByLabel("10:00 – 11:00 AM").check();
      await expectWellShown(page, "shipment-reschedule");
      await page.getByRole("button", { name: "Save times" }).click();
      await page.getByText("Thu, Dec 3, 10:00 – 11:00 AM Berlin time").waitFor();
      expect(await read(reference)).toMatchObject({
        total: 5,
        pickup_window: { start: "2026-12-03T09:00:00.000Z", end: "2026-12-03T10:00:00.000Z" },
      });
      await chooseMore(page, "Reschedule");
      await pickup.getByLabel("As soon as possible").check();
      await page.getByRole("button", { name: "Save times" }).click();
      await page.locator(".stops").getByText("Berlin time").waitFor({ state: "detached" });
      expect(await read(reference)).toMatchObject({ pickup_window: null });
    });

    test("refuses to reschedule a paid shipment to a more expensive time, with the reason", async () => {
      const { apiKey } = dashboard.workspace;
      const booked = await bookAt({});
      const path = `/v1/shipments/${booked["reference"]}/payments`;
      await dashboard.service.request(path, { apiKey, body: { amount: 5, currency: "USD" } });
      const page = await open(`/shipments/${booked["reference"]}`);
      await chooseMore(page, "Reschedule");
      const pickup = group(page, "Pickup time");
      await pickup.getByLabel("At a time").check();
      await pickup.getByLabel("6:00 – 7:00 PM").check();
      await page.getByRole("button", { name: "Save times" }).click();
      await page.getByText("The shipment is already paid").waitFor();
      await expectWellShown(page, "shipment-reschedule-refused");
      expect(await read(booked["reference"])).toMatchObject({ pickup_window: null, total: 5 });
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await takeStep(dashboard.service, apiKey, booked["reference"], "advance");
      await expect.poll(() => page.locator(".menu-content").textContent()).not.toContain("Reschedule");
    });

    test("changes a note of a shipment without a time, even if the schedule now requires one", async () => {
      const { service, workspace } = dashboard;
      const { reference } = await book(service, workspace.apiKey, { ...CAPE_TOWN, weight_kg: 2 });
      const schedule = scheduleOf({ name: "cape town", as_soon_as_possible: false });
      const zones = zonesOf(square(0, -40, 30, -30));
      const [zone] = (zones as { features: { properties: object }[] }).features;
      zone!.properties = { name: "Cape Town", schedule: "cape town" };
      await publishDocument(service.app.em, worldTariff({ base_fee: "7.00", zones, schedules: [schedule] }));
      const page = await open(`/shipments/${reference}`);
      await chooseMore(page, "Edit");
      await page.getByText("Reference and notes").click();
      await page.getByRole("button", { name: "Add note" }).click();
      await page.getByLabel("Name of note 1").fill("gate");
      await page.getByLabel("Text of note 1").fill("B");
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.getByText("Changes saved.").waitFor();
      expect(await read(reference)).toMatchObject({
        metadata: { gate: "B" },
        pickup_window: null,
        total: 5,
      });
    });
  },
  () => startService({ dashboard: true, tariff: tariffOf(), now: () => new Date(now) }),
);
