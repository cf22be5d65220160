import { beforeAll, describe, expect, test } from "vitest";
import { insertPendingAndCancelled } from "../support/insert-shipments.ts";
import { data } from "../support/answers.ts";
import { book } from "../support/bookings.ts";
import type { TestWorkspace } from "../support/service.ts";
import { connectTo } from "../support/database.ts";
import { insertBooked, PAID } from "../support/insert-booked.ts";
import {
  describeDashboard,
  expectWellShown,
  openAsMember,
  openWorkspaceMenu,
  pressInDialog,
  rowsOf,
} from "./browser.ts";

/** Number of shipments booked before today, six hours apart. */
const MANY = 60;

describeDashboard("a workspace", (dashboard) => {
  beforeAll(() =>
    insertPendingAndCancelled(dashboard.service.databaseUrl, {
      workspace: dashboard.workspace.id,
      count: MANY,
      createdAt: "date_trunc('day', now(), 'UTC') - i * interval '6 hours'",
    }),
  );

  const open = (path: string, workspace: TestWorkspace = dashboard.workspace, role = "admin") =>
    openAsMember(dashboard, path, { workspace, role });

  test("switches to its test mode and back, which every page shows", async () => {
    const page = await open("/settings/webhooks");
    const { twin } = dashboard.workspace;
    await (await openWorkspaceMenu(page)).getByRole("link", { name: "Switch to test mode" }).click();
    await page.waitForURL(`**/w/${twin.id}/settings/webhooks`);
    const header = page.getByRole("banner").first();
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    for (const label of await links.allInnerTexts()) {
      if (label === "Docs") continue;
      await links.filter({ hasText: label }).first().click();
      await header.getByText("Test mode", { exact: true }).waitFor();
      await expect.poll(() => page.title()).toMatch(/^Test · /);
      expect(await page.getByRole("alert").count(), label).toBe(0);
    }
    await book(dashboard.service, twin.apiKey);
    await links.filter({ hasText: "Shipments" }).click();
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(1);
    await expectWellShown(page, "test-mode");
    await (await openWorkspaceMenu(page)).getByRole("link", { name: "To live mode" }).click();
    await page.waitForURL(`**/w/${dashboard.workspace.id}/shipments`);
    await header.getByText("Test mode", { exact: true }).waitFor({ state: "detached" });
  });

  describe("the overview", () => {
    test("sums up the bookings of the days in the URL", async () => {
      const page = await open("");
      const figures = page.locator(".figures > div");
      await figures.filter({ hasText: "Bookings" }).getByText("60", { exact: true }).waitFor();
      await expect
        .poll(() => figures.filter({ hasText: "Cancelled" }).innerText())
        .toBe("Cancelled\n20\n33.3% of bookings");
      // There were no quotes by API.
      expect(await figures.filter({ hasText: "Quote to booking" }).count()).toBe(0);
      await expectWellShown(page, "overview");
      // Each figure links to the shipments that it counts.
      const shown = page.locator(".totals");
      for (const [figure, counted] of [
        ["20", /^20 shipments$/],
        ["$507.60 to pay", /^40 shipments · \$507\.60$/],
      ] as const) {
        await figures.getByRole("link", { name: figure }).click();
        await shown.getByText(counted).waitFor();
        await page.goBack();
      }
      await page.locator("summary", { hasText: "Last 30 days: " }).click();
      await page.getByRole("link", { name: "7 days" }).click();
      await page.waitForURL("**?days=7");
      await figures.filter({ hasText: "Bookings" }).getByText("60").waitFor({ state: "hidden" });
      const chart = page.getByRole("table", { name: "Bookings by day" });
      await expect.poll(() => chart.getByRole("rowheader").count()).toBe(7);

      await page.goto(`/w/${dashboard.workspace.id}?from=2026-01-01&to=2026-01-02`);
      await expect.poll(() => chart.getByRole("rowheader").allTextContents()).toEqual(["Jan 1, 2026", "Jan 2, 2026"]);
      await page.goBack();
      await expect.poll(() => chart.getByRole("rowheader").count()).toBe(7);
    });

    test("links to the queues, and counts bookings without a quote separately", async () => {
      const own = await dashboard.service.addWorkspace();
      const sql = await connectTo(dashboard.service.databaseUrl);
      const now = new Date().toISOString();
      await insertBooked(sql, own.id, now, { count: 3, quoted: true, ...PAID });
      await insertBooked(sql, own.id, now, { count: 2, ...PAID });
      await sql.query(
        "insert into usage_hour (workspace_id, hour, limit_class, calls) values ($1, date_trunc('hour', now()), 'quote', 2)",
        [own.id],
      );
      const page = await open("", own);
      const steps = page.getByRole("table", { name: "From booking to delivery" }).locator("tr");
      await expect
        .poll(() => steps.allTextContents())
        .toEqual(["Booked5", "Paid5 · 100%", "Picked up5 · 100%", "Delivered0 · 0%"]);
      await page.getByText("2 bookings without an API quote").waitFor();
      // More bookings than quotes are no share.
      const quoted = page.locator(".figures > div").filter({ hasText: "Quote to booking" });
      expect(await quoted.count()).toBe(0);
      const queues = page.getByRole("region", { name: "Now" });
      await expect.poll(() => queues.innerText()).toBe("Now\nTo pick up\n0\nIn transit\n5\nLate\n0");
      await sql.query("update usage_hour set calls = 4 where workspace_id = $1", [own.id]);
      await expect.poll(() => quoted.innerText()).toBe("Quote to booking\n75%\n3 booked of 4 quotes by API");
      await queues.getByRole("link", { name: "5" }).click();
      await page.waitForURL("**/shipments?status=3");
    });

    test("shows a capped count of late shipments as a lower bound", async () => {
      const own = await dashboard.service.addWorkspace();
      const sql = await connectTo(dashboard.service.databaseUrl);
      await insertBooked(sql, own.id, new Date(Date.now() - 3 * 86_400_000).toISOString(), { count: 101, ...PAID });
      const page = await open("", own);
      const now = page.getByRole("region", { name: "Now" });
      await expect.poll(() => now.innerText()).toBe("Now\nTo pick up\n0\nIn transit\n101\nLate\n100+");
      await now.getByRole("link", { name: "100+" }).click();
      await page.getByRole("link", { name: "Late deliveries 100+" }).waitFor();
      await page.locator(".badge", { hasText: /^100\+$/ }).waitFor();
    });

    test("uses days in the workspace's time zone, next to the previous period, readable by keyboard and pointer", async () => {
      const own = await dashboard.service.addWorkspace();
      const sql = await connectTo(dashboard.service.databaseUrl);
      const { updateWorkspace } = dashboard.service.as(own.apiKey);
      await data(updateWorkspace({ time_zone: "Asia/Kathmandu" }));
      // 18:15 UTC is midnight in this time zone.
      await insertBooked(sql, own.id, "2026-03-01T18:14:59Z", { count: 2 });
      await insertBooked(sql, own.id, "2026-03-01T18:15:00Z", { count: 3, quoted: true });
      await insertBooked(sql, own.id, "2026-03-03T12:00:00Z", { count: 4, ...PAID });
      await insertBooked(sql, own.id, "2026-02-27T12:00:00Z", { count: 6 });
      const page = await open("?from=2026-03-01&to=2026-03-03", own);
      const values = page.getByRole("table", { name: "Bookings by day" }).locator("tbody tr");
      await expect.poll(() => values.allTextContents()).toEqual(["Mar 1, 202620", "Mar 2, 202636", "Mar 3, 202640"]);
      const lead = page.locator("section", {
        has: page.getByRole("heading", { name: "Bookings by day", exact: true }),
      });
      await page.locator(".figures > div").filter({ hasText: "Bookings" }).getByText("Up 50%").waitFor();
      await page.locator("summary", { hasText: "Mar 1 – 3, 2026" }).waitFor();
      await page.getByText("compared to Feb 26 – 28, 2026", { exact: true }).waitFor();
      await page.getByText("in Kathmandu time").waitFor();
      await expectWellShown(page, "overview-compared");

      const reader = lead.getByRole("slider", { name: "Values of Bookings by day" });
      await reader.focus();
      await lead.locator(".reading").getByText("Mar 3, 2026: 4").waitFor();
      await page.keyboard.press("ArrowLeft");
      const second = "Mar 2, 2026: 3; Feb 27, 2026: 6";
      await expect.poll(() => reader.getAttribute("aria-valuetext")).toBe(second);
      await expect.poll(() => lead.locator(".reading").innerText()).toMatch(/^Mar 2, 2026: 3\s*Feb 27, 2026: 6$/);
      await page.keyboard.press("Home");
      await lead.locator(".reading").getByText("Mar 1, 2026: 2").waitFor();
      await expectWellShown(page, "overview-read");
      await reader.blur();
      await lead.locator(".reading").getByText("This period").waitFor();

      const box = (await lead.locator(".plot svg").boundingBox())!;
      await page.mouse.move(box.x + box.width - 20, box.y + 40);
      await lead.locator(".reading").getByText("Mar 3, 2026: 4").waitFor();
      await page.mouse.move(0, 0);
      await lead.locator(".reading").getByText("This period").waitFor();
    });

    test("has a valid layout for one day, for no data, and for today only", async () => {
      const page = await open("?from=2026-01-01&to=2026-01-01");
      const lead = page.locator(".chart").first();
      await expect.poll(() => lead.locator("circle").count()).toBe(1);
      await expectWellShown(page, "overview-one-day");
      // Today is incomplete, so it has no comparison.
      const today = new Date().toISOString().slice(0, 10);
      await page.goto(`/w/${dashboard.workspace.id}?from=${today}&to=${today}`);
      await page.getByText("changes exclude today").waitFor();
      await expect.poll(() => page.locator(".delta").count()).toBe(0);
    });

    test("reports invalid days", async () => {
      const page = await open("?from=2026-02-01&to=2026-01-01");
      const alert = page.getByRole("alert").getByText("First day must not be after “Last day”.");
      await alert.waitFor();
      await expectWellShown(page, "overview-refused");
    });

    test("shows the first steps in a new workspace until something is booked", async () => {
      const own = await dashboard.service.addWorkspace();
      const page = await open("", own);
      await page.getByText("Get a key.").waitFor();
      await expectWellShown(page, "overview-new");
      // The form suggests the browser's time zone.
      await page.getByRole("button", { name: "Change time zone" }).click();
      await pressInDialog(page, "Change time zone");
      await page.getByText("Choose your time zone.").waitFor({ state: "hidden" });
      const { body } = await dashboard.service.request("/v1/workspace", { apiKey: own.apiKey });
      expect(body.data.time_zone).toBe("America/New_York");
      await book(dashboard.service, own.apiKey);
      await page.getByText("Get a key.").waitFor({ state: "hidden" });
    });

    test("shows why booking is blocked, and the fix", async () => {
      const own = await dashboard.service.addWorkspace({ paymentProvider: undefined });
      const page = await open("", own);
      await page.getByText("No payment provider accepts payments for this workspace.").waitFor();
      await expectWellShown(page, "overview-blocked");
      await page.getByRole("link", { name: "Set up payments" }).click();
      await page.getByText("Not connected", { exact: true }).waitFor();
    });
  });

  test("Settings → Payments shows the provider and links to unpaid shipments", async () => {
    const page = await open("/settings", undefined, "viewer");
    await page.getByText("Manual", { exact: true }).waitFor();
    await page.getByRole("link", { name: "To pay" }).click();
    await page.waitForURL("**/shipments?payment_status=1");
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(40);
    await page.goBack();
    await page.getByRole("link", { name: "Refund due" }).click();
    await page.getByText("No refunds due").waitFor();
  });

  test("Settings → Workspace shows its name, id and limits", async () => {
    const page = await open("/settings", undefined, "viewer");
    await page.getByText("10,000/s, burst 20,000").waitFor();
    const facts = await page.locator("dl").first().innerText();
    const { id } = dashboard.workspace;
    const shown = facts.split("\n").map((text) => text.trim());
    expect(shown.filter(Boolean)).toEqual(["Name", "Test", "ID", String(id), "Copy ID", "Time zone", "UTC"]);
    const parts = page.getByRole("navigation", { name: "Parts of the settings" });
    await parts.getByRole("link", { name: "Limits" }).click();
    await page.waitForURL("**/settings#limits");
    await expectWellShown(page, "workspace");
  });

  test("admins choose the time zone, in which times are then shown with its name", async () => {
    const own = await dashboard.service.addWorkspace();
    const { reference } = await book(dashboard.service, own.apiKey);
    const sql = await connectTo(dashboard.service.databaseUrl);
    await sql.query("update shipment set created_at = $1 where workspace_id = $2", ["2025-03-01T18:15:00Z", own.id]);
    const page = await open("/settings", own);
    await page.getByRole("button", { name: "Change time zone" }).click();
    await page.getByLabel("Time zone", { exact: true }).selectOption("Asia/Katmandu");
    await expectWellShown(page, "time-zone-dialog");
    await pressInDialog(page, "Change time zone");
    await page.locator("dl").getByText("Asia/Katmandu").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Change time zone");
    await page.goto(`/w/${own.id}/shipments/${reference}`);
    await page.getByText("Mar 2, 2025, 12:00 AM Katmandu time").first().waitFor();
    // The day filter uses the workspace's time zone too.
    await page.goto(`/w/${own.id}/shipments?from=2025-03-02&to=2025-03-02`);
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(1);
    await page.goto(`/w/${own.id}/shipments?from=2025-03-01&to=2025-03-01`);
    await page.getByText("No shipments match").waitFor();
    const viewer = await open("/settings", own, "viewer");
    await viewer.locator("dl").getByText("Asia/Katmandu").waitFor();
    await expect.poll(() => viewer.getByRole("button", { name: "Change time zone" }).count()).toBe(0);
  });

  test("saving settings keeps those that another admin has changed in the meantime", async () => {
    const own = await dashboard.service.addWorkspace();
    const { updateWorkspace, getWorkspace } = dashboard.service.as(own.apiKey);
    const page = await open("/settings", own);
    await page.getByRole("button", { name: "Change tracking" }).click();
    await data(updateWorkspace({ tracking_contact: "+1 555 0100", tracking_shows_courier: true }));
    await page.getByLabel("Late after").fill("90");
    await pressInDialog(page, "Save");
    await page.locator("#tracking").getByText("90 minutes after the booking").waitFor();
    await page.getByRole("button", { name: "Change couriers" }).click();
    await data(updateWorkspace({ couriers_share_location: true }));
    await page.getByLabel("Couriers can change the order of their stops").check();
    await pressInDialog(page, "Save");
    await page.locator("#couriers").getByText("Couriers can change it").waitFor();
    expect(await data(getWorkspace({}))).toMatchObject({
      late_after_minutes: 90,
      tracking_contact: "+1 555 0100",
      tracking_shows_courier: true,
      couriers_reorder_stops: true,
      couriers_share_location: true,
    });
    await page.getByRole("button", { name: "Change tracking" }).click();
    await page.getByLabel("Contact").fill("");
    await pressInDialog(page, "Save");
    await page.locator("#tracking").getByText("None", { exact: true }).first().waitFor();
    await expect.poll(async () => (await data(getWorkspace({}))).tracking_contact).toBe(null);
  });

  test("the navigation marks only the current page", async () => {
    const page = await open("/settings");
    const here = page.getByRole("navigation", { name: "Pages" }).locator("[aria-current=page]");
    await expect.poll(() => here.allTextContents()).toEqual(["Settings"]);
    await page.getByRole("link", { name: "Overview" }).click();
    await expect.poll(() => here.allTextContents()).toEqual(["Overview"]);
  });
});
