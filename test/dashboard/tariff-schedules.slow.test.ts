import { beforeAll, expect, test } from "vitest";
import { EVERY_DAY, scheduleOf } from "../support/schedules.ts";
import { draftsOf, type Drafts } from "../support/tariff-drafts.ts";
import { worldTariff } from "../support/tariffs.ts";
import { describeDashboard, expectWellShown, openAsOperator, type TestPage } from "./browser.ts";

interface OpenedDraft {
  readonly query?: string;
  readonly default_schedule?: string;
}

describeDashboard("tariff schedules", (dashboard) => {
  let drafts: Drafts;

  beforeAll(async () => {
    const { key } = await dashboard.service.addOperator("operator");
    drafts = draftsOf(dashboard.service, key);
  });

  const begin = async (schedules: readonly object[], name: string, default_schedule = "") => {
    const { id } = await drafts.begin(worldTariff(), name);
    const body = { schedules: { schedules, default_schedule } };
    return (await drafts.call("PATCH", `tariff_drafts/${id}`, body)).body.data;
  };
  const open = async (schedules: readonly object[], name: string, more: OpenedDraft = {}) => {
    const { query = "", default_schedule } = more;
    const draft = await begin(schedules, name, default_schedule);
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}${query}`);
    await page.getByRole("button", { name: "Add schedule" }).waitFor();
    if (schedules.length === 1) await page.locator(".schedule summary").click();
    const read = async () => (await drafts.call("GET", `tariff_drafts/${draft.id}/schedules`)).body.data;
    return { page, draft, read };
  };
  const group = (page: TestPage, name: string) => page.getByRole("group", { name, exact: true });
  const save = async (page: TestPage) => {
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("Draft saved.").waitFor();
  };

  test("adds a schedule with its week, dates, slots and cut-offs, and checks it", async () => {
    const { page, read } = await open([], "Spring");
    await page.getByText("None: times cannot be chosen.").waitFor();
    await page.getByRole("button", { name: "Add schedule" }).click();
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await page.getByText("Mon to Fri 08:00 to 18:00").waitFor();
    await page.getByRole("button", { name: "Edit hours" }).click();
    const friday = group(page, "Friday");
    await page.getByRole("button", { name: "Add hours on Friday" }).click();
    await friday.getByLabel("Closes").last().fill("01:00");
    await friday.getByText("the next day").waitFor();
    await friday.getByLabel("Extra charge").last().fill("2,50");
    await page.getByRole("button", { name: "Saturday as on Friday" }).click();
    await page.getByRole("button", { name: "Remove hours 1 of Saturday" }).click();
    await page.getByRole("button", { name: "Add date" }).click();
    await page.getByLabel("Date", { exact: true }).fill("2030-12-25");
    await page.getByLabel("Note", { exact: false }).fill("Christmas Day");
    await page.getByLabel("Slot length, minutes").fill("30");
    await page.getByLabel("Capacity of each slot").fill("2");
    await page.getByLabel("Capacity per slot").fill("8");
    await page.getByLabel("Unit of capacity").selectOption("kilograms");
    await page.getByLabel("Time to pay, minutes").fill("30");
    await page.getByLabel("Alert above").fill("20");
    await page.getByLabel("Lead time, minutes").fill("45");
    await page.getByRole("button", { name: "Add cut-off" }).click();
    const cutOff = group(page, "Cut-off 1");
    await cutOff.getByLabel("Monday").check();
    await cutOff.getByLabel("And before").fill("12:00");
    await cutOff.getByLabel("Book days before").fill("3");
    await page.getByLabel("Offer pickups as soon as possible").uncheck();
    await expectWellShown(page, "schedule-editor");
    await save(page);
    expect(await read()).toEqual({
      default_schedule: "weekdays",
      schedules: [
        {
          name: "weekdays",
          time_zone: "Europe/Berlin",
          hours: [
            { days: ["mon", "tue", "wed", "thu", "fri"], opens: "08:00", closes: "18:00", fee: "" },
            { days: ["fri", "sat"], opens: "18:00", closes: "01:00", fee: "2.50" },
          ],
          exceptions: [{ date: "2030-12-25", hours: [], note: "Christmas Day", capacity: 2 }],
          lead_time_minutes: 45,
          horizon_days: 30,
          slot_minutes: 30,
          capacity: 8,
          capacity_unit: "kilograms",
          pay_within_minutes: 30,
          attention_above: 20,
          cut_offs: [{ days: ["mon"], from: "", until: "12:00", days_before: 3, at: "17:00" }],
          as_soon_as_possible: false,
        },
      ],
    });
    await page.getByRole("button", { name: "Check draft" }).click();
    await page.getByText("No errors, 1 tier and 1 zone. It can be published.").waitFor();
  });

  test("reports errors at their fields and opens the schedule with the error", async () => {
    const night = scheduleOf({
      name: "night",
      time_zone: "Mars/Olympus",
      hours: [
        { days: EVERY_DAY, opens: "18:00", closes: "02:00" },
        { days: ["tue"], opens: "01:00", closes: "03:00" },
      ],
      exceptions: [{ date: "2026-02-30" }],
      slot_minutes: 5,
      cut_offs: [{ from: "12:00", until: "11:00", at: "17:00" }],
    });
    const { page } = await open([scheduleOf(), night], "Faulty", {
      query: "?check=on",
      default_schedule: "gone",
    });
    await page.getByText("6 in schedules").waitFor();
    const errors = page.locator("form", { has: page.getByText("Named schedules") }).locator(".field-error");
    await expect
      .poll(() => errors.allTextContents())
      .toEqual([
        expect.stringContaining("Mars/Olympus"),
        expect.stringContaining("Must not overlap; on tue"),
        expect.stringContaining("Must be a date"),
        expect.stringContaining("10 to 1440"),
        expect.stringContaining("Must be later than from"),
        expect.stringContaining("Must be the name of one of the schedules"),
      ]);
    await expect.poll(() => page.getByLabel("Time zone").getAttribute("aria-invalid")).toBe("true");
    await expectWellShown(page, "schedule-faults");
  });

  test("groups many dates by year and edits one in place", async () => {
    const exceptions = Array.from({ length: 400 }, (_, i) => ({
      date: new Date(Date.UTC(2030, 0, 1 + i * 2)).toISOString().slice(0, 10),
      note: i === 0 ? "New Year" : "",
    }));
    const { page, read } = await open([scheduleOf({ exceptions })], "Holidays");
    await expect.poll(() => page.getByRole("button", { name: "Add date" }).count()).toBe(0);
    await page.getByText("2030 (183)").click();
    await page.getByText("Closed (New Year)").waitFor();
    await expectWellShown(page, "schedule-dates");
    await page.getByRole("button", { name: "Edit Tue, Jan 1, 2030" }).click();
    await page.getByRole("button", { name: "Open at some hours on Tue, Jan 1, 2030" }).click();
    await save(page);
    const [first, ...others] = (await read()).schedules[0].exceptions;
    expect(first).toEqual({
      date: "2030-01-01",
      note: "New Year",
      capacity: null,
      hours: [{ opens: "08:00", closes: "18:00", fee: "" }],
    });
    expect(others).toHaveLength(399);
  });

  test("concurrent changes are not overwritten without confirmation", async () => {
    const { page, draft, read } = await open([scheduleOf()], "Shared");
    await page.getByLabel("Lead time, minutes").fill("5");
    const theirs = { schedules: [scheduleOf({ name: "theirs" })] };
    await drafts.call("PATCH", `tariff_drafts/${draft.id}`, { schedules: theirs });
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("Someone else has changed this draft.").waitFor();
    expect((await read()).schedules[0].name).toBe("theirs");
    await page.getByRole("button", { name: "Keep my changes" }).click();
    await save(page);
    expect((await read()).schedules[0]).toMatchObject({ name: "day", lead_time_minutes: 5 });
  });

  test("assigns a schedule to a zone and lists the zones of each schedule", async () => {
    const { page, draft } = await open([scheduleOf(), scheduleOf({ name: "night" })], "Zones", {
      default_schedule: "day",
    });
    await page.getByText("day, the default").waitFor();
    await page.getByText("Change schedules").click();
    await page.getByLabel("Its schedule").selectOption("night");
    await page.getByLabel("Zone", { exact: true }).selectOption("Zone 1");
    await page.getByRole("button", { name: "Set schedule" }).click();
    await page.getByText("Zones saved.").waitFor();
    await page.getByText("day, the default").waitFor({ state: "detached" });
    await expectWellShown(page, "schedule-zones");
    const zones = await drafts.call("GET", `tariff_drafts/${draft.id}/zones`);
    expect(zones.body.features).toMatchObject([{ properties: { name: "Zone 1", schedule: "night" } }]);
  });

  test("versions show their schedules and their differences in words", async () => {
    const before = await begin([scheduleOf()], "Before");
    const inForce = (await drafts.call("GET", "tariff")).body.data.version;
    await drafts.publish(before.id, inForce);
    const changed = scheduleOf({
      slot_minutes: 60,
      exceptions: [{ date: "2030-12-25", note: "Christmas Day" }],
    });
    const after = await begin([changed], "After", "day");
    await drafts.publish(after.id, inForce + 1);
    const page = await openAsOperator(
      dashboard,
      `/platform/tariff/comparison?from_version=${inForce + 1}&to_version=${inForce + 2}`,
    );
    const table = page.getByRole("table", { name: "Changed schedules" });
    await table.waitFor();
    await expect
      .poll(() => table.locator("tbody tr").allTextContents())
      .toEqual([
        "daySlotsAny time within the hours1 hour",
        "dayWed, Dec 25, 2030As in other weeksClosed (Christmas Day)",
        "Default scheduleNameNo scheduleday",
      ]);
    await expectWellShown(page, "schedule-comparison");
    await page.goto(`/platform/tariff/versions/${inForce + 2}`);
    await page.getByText("Mon to Sun 08:00 to 18:00").waitFor();
    await expectWellShown(page, "schedule-version");

    // A later draft shows the values in force beside the changed ones, and nothing else.
    const { page: next } = await open(
      [
        scheduleOf({
          hours: [{ days: ["mon"], opens: "08:00", closes: "18:00" }],
          exceptions: [],
          slot_minutes: 60,
          capacity: 5,
          lead_time_minutes: 30,
          cut_offs: [{ until: "12:00", days_before: 1, at: "17:00" }],
        }),
      ],
      "Next",
    );
    const hints = next.locator(".hint", { hasText: /^In force: / });
    await expect
      .poll(() => hints.allTextContents())
      .toEqual([
        "In force: Mon to Sun 08:00 to 18:00",
        "In force: Wed, Dec 25, 2030: Closed (Christmas Day)",
        "In force: none",
        "In force: 0",
        "In force: none",
        "In force: day",
      ]);
    await next.getByLabel("Capacity per slot").fill("");
    await next.getByLabel("Offer pickups as soon as possible").uncheck();
    await next.getByLabel("Default schedule").selectOption("day");
    await expect
      .poll(() => hints.allTextContents())
      .toEqual([
        "In force: Mon to Sun 08:00 to 18:00",
        "In force: Wed, Dec 25, 2030: Closed (Christmas Day)",
        "In force: 0",
        "In force: none",
        "In force: offered",
      ]);
    await next.getByText("Changed", { exact: true }).waitFor();
    await expectWellShown(next, "schedule-changed", ["360-dark"]);
  });
});
