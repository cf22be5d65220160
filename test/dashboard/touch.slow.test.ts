import { expect, test } from "vitest";
import { book, bookAnd, takeStep } from "../support/bookings.ts";
import type { TestWorkspace } from "../support/service.ts";
import {
  chooseMore,
  describeDashboard,
  expectAccessible,
  expectUsable,
  openAsMember,
  PHONE,
  rowsOf,
  takeScreenshot,
  type TestPage,
} from "./browser.ts";

describeDashboard("touch on a phone", (dashboard) => {
  const rows = (page: TestPage) => rowsOf(page, "Shipments");
  const tap = (page: TestPage, name: string | RegExp) => page.getByRole("button", { name, exact: true }).tap();
  const tapLink = (page: TestPage, name: string) => page.getByRole("link", { name }).first().tap();
  const tapInDialog = (page: TestPage, name: string) =>
    page.getByRole("dialog").getByRole("button", { name, exact: true }).tap();
  const tapSummary = (page: TestPage, name: string) => page.locator("summary").filter({ hasText: name }).tap();
  const open = (path: string, workspace: TestWorkspace) => openAsMember(dashboard, path, { workspace }, PHONE);

  test("filters, sorts, arranges, saves and exports a list", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    await bookAnd(service, own.apiKey, ["pay"]);
    await book(service, own.apiKey);
    const page = await open("/shipments", own);
    await expect.poll(() => rows(page).count()).toBe(2);
    await tapLink(page, "To pick up");
    await expect.poll(() => rows(page).count()).toBe(1);
    await tapSummary(page, "+ Filter");
    await tap(page, "Booked");
    await tapLink(page, "Today");
    await page.waitForURL("**days=today**");
    await expectUsable(page);
    await tapLink(page, "All");
    await expect.poll(() => rows(page).count()).toBe(2);
    await tapSummary(page, "Saved");
    await tap(page, "Save view");
    await page.getByRole("dialog").getByLabel("Name").fill("Of today");
    await tapInDialog(page, "Save");
    await page.locator("summary", { hasText: "Saved: Of today" }).waitFor();
    await tapLink(page, "Booked");
    await page.waitForURL("**order_by=created_at");
    await tapSummary(page, "Columns");
    await page.getByText("Parcel", { exact: true }).tap();
    await rows(page).first().getByText("2.5 kg").waitFor();
    await expectUsable(page);
    await tapSummary(page, "Export");
    await tap(page, "CSV file of this list");
    const download = page.waitForEvent("download");
    await tapInDialog(page, "Export");
    expect((await download).suggestedFilename()).toMatch(/^shipments-\d{4}-\d\d-\d\d\.csv$/);
  });

  test("cancels several shipments, retries the failed ones, and shows labels", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    const moved = await bookAnd(service, own.apiKey, ["pay"]);
    await book(service, own.apiKey);
    const page = await open("/shipments", own);
    await page.route("**/WatchEvents", (route) => route.abort());
    await page.reload();
    await expect.poll(() => rows(page).count()).toBe(2);
    for (const row of await rows(page).all()) await row.getByRole("checkbox").tap();
    await page.getByText("2 selected").waitFor();
    await expectUsable(page);
    await chooseMore(page, "Cancel (2)", (_, target) => target.tap());
    await page.getByLabel("Reason for all").selectOption("Goods not available");
    await takeStep(service, own.apiKey, moved["reference"], "advance");
    await tapInDialog(page, "Cancel");
    const failed = page.getByRole("dialog", { name: "1 shipment is not cancelled" });
    await failed.waitFor();
    await expectUsable(page);
    await tapInDialog(page, "Close");
    await chooseMore(page, "Print labels", (_, target) => target.tap());
    await page.getByRole("article", { name: `Label for ${moved["reference"]}` }).waitFor();
    await expectUsable(page);
  });

  test("searches for a customer, edits it, books for it, and takes the shipment to its receipt", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    await book(service, own.apiKey);
    const page = await open("/shipments", own);
    await tap(page, "Search");
    await page.getByRole("combobox", { name: "Search" }).fill("lovelace");
    await page.getByRole("option", { name: "Ada Lovelace ada@example.org" }).tap();
    await page.getByRole("heading", { name: "Ada Lovelace" }).waitFor();
    await chooseMore(page, "Edit", (_, target) => target.tap());
    await page.getByLabel("Phone").fill("555 0101");
    await expectUsable(page);
    await tapInDialog(page, "Save changes");
    await page.getByRole("link", { name: "555 0101" }).waitFor();
    await tapLink(page, "Book for this customer");
    await page.getByLabel("Weight in kg").waitFor();
    for (const [label, text] of [
      ["Pickup address", "1 Times Square"],
      ["Dropoff address", "95 Prospect Park West"],
      ["Pickup latitude", "40.758, -73.9855"],
      ["Dropoff latitude", "40.6782, -73.9442"],
      ["Weight in kg", "2.5"],
    ] as const) {
      await page.getByLabel(label).fill(text);
    }
    await page.getByRole("button", { name: "Book for $12.69" }).waitFor();
    await expectUsable(page);
    // A keyboard takes the lower half of the screen, and the focused field stays visible.
    const weight = page.getByLabel("Weight in kg");
    await weight.focus();
    await page.evaluate("scrollTo(0, 0)");
    await page.setViewportSize({ width: 390, height: 400 });
    await expect.poll(() => weight.evaluate((it) => it.getBoundingClientRect().bottom)).toBeLessThanOrEqual(400);
    await page.setViewportSize(PHONE.viewport);
    await tap(page, "Book for $12.69");
    await page.getByRole("heading", { name: /^SHP-/ }).waitFor();
    await tap(page, "Show map");
    await page.locator(".map .pin.dropoff").waitFor();
    await tap(page, "Record payment");
    await expectUsable(page);
    await tapInDialog(page, "Record payment");
    await page.getByRole("button", { name: "Mark as picked up" }).waitFor();
    await chooseMore(page, "Receipt", (_, target) => target.tap());
    await page.getByText("$12.69 paid.").waitFor();
    await tap(page, "Navigation");
    await tapLink(page, "Shipments");
    await page.getByRole("heading", { name: "Shipments", level: 1 }).waitFor();
    await tap(page, "Navigation");
    await tapLink(page, "Shipments");
    await expect.poll(() => page.locator("#navigation:popover-open").count()).toBe(0);
    await tapSummary(page, "Export");
    await tapLink(page, "Daily manifest");
    await page.getByText("1 shipment, 2.5 kg").waitFor();
    await page.getByLabel("Day of pickup").fill("2027-02-02");
    await page.getByText("No pickups on Tuesday, February 2, 2027").waitFor();
    await expectUsable(page);
  });

  test("shows tabs next to each other and every menu within the screen", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    const { reference, customer } = await bookAnd(service, own.apiKey, ["pay"]);
    const page = await open("/shipments", own);
    await expect.poll(() => rows(page).count()).toBe(1);
    const tabs = await page
      .getByRole("navigation", { name: "Queues" })
      .getByRole("link")
      .evaluateAll((all) => all.map((it) => it.getBoundingClientRect().toJSON()));
    const overlaps = tabs.slice(1).filter(({ left }, i) => left < tabs[i]!.right);
    expect({ count: tabs.length, overlaps }).toEqual({ count: 6, overlaps: [] });
    await expectUsable(page);
    const menus = page.locator("main .menu > summary");
    for (const path of ["/shipments", `/shipments/${reference}`, `/customers/${customer.id}`]) {
      await page.goto(`/w/${own.id}${path}`);
      await menus.last().waitFor();
      for (const menu of await menus.all()) {
        await menu.tap();
        await expectAccessible(page);
        await expectUsable(page);
        await takeScreenshot(page, `menu-${await menu.textContent()}-${path.split("/")[1]}`);
        await page.keyboard.press("Escape");
      }
    }
  });

  test("merges two customers and changes the time zone", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    const { customer } = await book(service, own.apiKey);
    const twice = { customer_name: "A. Byron", customer_email: "a.byron@example.org" };
    await book(service, own.apiKey, twice);
    const page = await open(`/customers/${customer.id}`, own);
    await chooseMore(page, "Merge another customer", (_, target) => target.tap());
    await page.getByLabel("Find customer").fill("byron");
    await page.getByRole("option", { name: "A. Byron" }).tap();
    await expectUsable(page);
    await tapInDialog(page, "Merge A. Byron into Ada Lovelace");
    await expect.poll(() => rows(page).count()).toBe(2);
    await tap(page, "Navigation");
    await tapLink(page, "Settings");
    await tap(page, "Change time zone");
    await page.getByLabel("Time zone", { exact: true }).selectOption("Asia/Tokyo");
    await expectUsable(page);
    await tapInDialog(page, "Change time zone");
    await page.locator("dl").getByText("Asia/Tokyo").waitFor();
  });
});
