import { expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { book } from "../support/bookings.ts";
import { publishDocument } from "../support/publish-document.ts";
import { scheduleOf } from "../support/schedules.ts";
import { worldTariff } from "../support/tariffs.ts";
import {
  describeDashboard,
  enter,
  expectUsable,
  expectWellShown,
  openAsOperator,
  PHONE,
  rowsOf,
  type TestPage,
} from "./browser.ts";

/** Five slots of ten kilograms a day in Berlin, and two slots of one shipment a day in Tokyo. */
const TARIFF = worldTariff({
  schedules: [
    scheduleOf({ slot_minutes: 120, capacity: 10, capacity_unit: "kilograms" }),
    scheduleOf({ name: "unlimited" }),
    scheduleOf({ name: "tokyo", time_zone: "Asia/Tokyo", slot_minutes: 300, capacity: 1 }),
  ],
  default_schedule: "day",
});

/** Returns the rows of slots, without the headings of days. */
const slotsOn = (page: TestPage) => rowsOf(page, "Slots").and(page.locator(":not(.group)"));

describeDashboard("slots", (dashboard) => {
  test("without a capacity, the page links to the tariff drafts", async () => {
    const page = await openAsOperator(dashboard, "/platform");
    await page.getByRole("link", { name: "Slots", exact: true }).click();
    await page.getByText("No slot has a capacity").waitFor();
    await expectWellShown(page, "slots-none", ["360-dark"]);
    await page.getByRole("link", { name: "Show drafts" }).click();
    await page.getByRole("heading", { name: "Drafts", level: 1 }).waitFor();
  });

  test("are listed by schedule and week, and operators change their capacity", async () => {
    const { service, workspace } = dashboard;
    await publishDocument(service.app.em, TARIFF);
    const { listSlots } = service.as((await service.addOperator("operator")).key);
    await expect.poll(async () => (await listSlots({ schedule: "day" })).status).toBe(200);
    /** Returns the last two slots of tomorrow. */
    const listed = async () => (await data(listSlots({ schedule: "day", days: 2 }))).slice(-2);
    const slots = await listed();
    for (const [i, weight_kg] of [9.5, 10].entries()) {
      const { start, end } = slots[i];
      await book(service, workspace.apiKey, { weight_kg, pickup_window: { start, end } });
    }

    const page = await openAsOperator(dashboard, "/platform/slots");
    await page.getByText("Times are in Berlin time.").waitFor();
    const rows = slotsOn(page);
    const textOf = async (state: string | RegExp) =>
      (await rows.filter({ hasText: state }).getByRole("cell").allTextContents()).join("|");
    await expect.poll(() => textOf("Nearly full")).toMatch(/^2:00\s–\s4:00\sPM Nearly full\|9.5 of 10 kg \|Change$/);
    expect(await textOf(/Full/)).toMatch(/4:00\s–\s6:00\sPM Full\|10 of 10 kg \|Change$/);
    await expectWellShown(page, "slots");

    const button = (state: string) => rows.filter({ hasText: state }).getByRole("button");
    const capacity = page.getByLabel("Capacity, kg");
    await enter(page, button("Nearly full"));
    await page.getByText("9.5 of 10 kg booked.").waitFor();
    await capacity.fill("9.4");
    await page.keyboard.press("Enter");
    await page.getByText("must be greater than or equal to 0 and less than or equal to 100000").waitFor();
    await capacity.fill("9");
    await page.getByText("9.5 kg are booked. They stay booked, and nothing more can be booked.").waitFor();
    await expectWellShown(page, "slot-capacity", ["360-dark"]);
    await capacity.fill("0");
    await page.keyboard.press("Enter");
    await rows.filter({ hasText: "Closed" }).waitFor();
    const [{ start, end }, other] = slots;
    const places = { start, end, unit: "kilograms", booked: 9.5, held: 0 };
    const booked = { ...other, booked: 10, remaining: 0 };
    expect(await listed()).toEqual([{ ...places, capacity: 0, set_capacity: 0, remaining: 0 }, booked]);
    await enter(page, button("Closed"));
    await capacity.fill("");
    await page.keyboard.press("Enter");
    await rows.filter({ hasText: "Nearly full" }).waitFor();
    expect(await listed()).toEqual([{ ...places, capacity: 10, set_capacity: null, remaining: 0.5 }, booked]);

    await page.getByRole("navigation", { name: "Week" }).getByRole("link").last().click();
    await expect.poll(() => rows.count()).toBe(35);
    await expect.poll(() => rowsOf(page, "Slots").locator("[colspan]").count()).toBe(7);
    const schedule = page.getByLabel("Schedule");
    expect(await schedule.getByRole("option").allTextContents()).toEqual(["day", "tokyo"]);
    await schedule.selectOption("tokyo");
    await expect.poll(() => rows.count()).toBe(14);

    const viewer = await openAsOperator(dashboard, page.url(), "viewer", PHONE);
    await expect.poll(() => slotsOn(viewer).count()).toBe(14);
    expect(await viewer.getByRole("button", { name: /^Change/ }).count()).toBe(0);
    await expectUsable(viewer);

    const tokyo = await data(listSlots({ schedule: "tokyo", days: 2 }));
    const next = tokyo.find((slot: any) => Date.parse(slot.start) > Date.now() + 60_000);
    await service.app.em.execute(
      "insert into slot (id, schedule, starts_at, ends_at, shipments) values ('next', 'tokyo', ?, ?, 1)",
      [next.start, next.end],
    );
    const attention = await openAsOperator(dashboard, "/platform/attention");
    await attention.getByRole("heading", { name: "Busy slots" }).waitFor();
    await attention.getByText("1 of 1 taken, starts").waitFor();
    await expectWellShown(attention, "attention-slots", ["360-dark"]);
    await attention.getByRole("link", { name: "tokyo" }).click();
    await expect.poll(() => attention.getByLabel("Schedule").inputValue()).toBe("tokyo");
    await attention.goto("/platform");
    await attention.getByRole("row", { name: "tokyo 1 of 2 shipments" }).waitFor();
    await expectWellShown(attention, "platform-slots", ["360-dark"]);
  });
});
