import { expect, test } from "vitest";
import { book, bookAnd } from "../support/bookings.ts";
import {
  chooseMore,
  describeDashboard,
  enter,
  expectAccessible,
  openAsMember,
  rowsOf,
  tabTo,
  type TestPage,
} from "./browser.ts";

describeDashboard("keyboard only", (dashboard) => {
  const rows = (page: TestPage) => rowsOf(page, "Shipments");
  const button = (page: TestPage, name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const link = (page: TestPage, name: string) => page.getByRole("link", { name });
  const inDialog = (page: TestPage, name: string) =>
    page.getByRole("dialog").getByRole("button", { name, exact: true });
  const focused = (page: TestPage) => page.locator(":focus");
  const summary = (page: TestPage, name: string) => page.locator("summary").filter({ hasText: name });

  test("filters, sorts, arranges, saves and exports a list", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    const { reference } = await bookAnd(service, own.apiKey, ["pay"]);
    await book(service, own.apiKey);
    const page = await openAsMember(dashboard, "/shipments", { workspace: own });
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Add filter").waitFor();
    expect(await page.getByRole("dialog").evaluate((it) => it.scrollTop)).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.type("gu");
    await page.getByRole("heading", { name: "Couriers", level: 1 }).waitFor();
    await page.keyboard.type("gs");
    await expect.poll(() => rows(page).count()).toBe(2);
    await enter(page, link(page, "Skip to main content"));
    await enter(page, link(page, "To pick up"));
    await expect.poll(() => rows(page).count()).toBe(1);
    await enter(page, link(page, "All"));
    await page.keyboard.press("f");
    await expect.poll(() => focused(page).textContent()).toBe("Status");
    await page.keyboard.press("Enter");
    await enter(page, link(page, "Cancelled"));
    await page.getByText("No shipments match").waitFor();
    await expect.poll(() => focused(page).textContent()).toBe("Status: Cancelled");
    await enter(page, button(page, "Remove filter Status"));
    await expect.poll(() => rows(page).count()).toBe(2);
    // After the pressed button is removed, the focus stays at its position.
    await expect.poll(() => focused(page).textContent()).toBe("+ Filter");
    await page.keyboard.press("Enter");
    await enter(page, button(page, "Booked"));
    await enter(page, link(page, "Today"));
    await page.waitForURL("**/shipments?days=today");
    await enter(page, summary(page, "Saved"));
    await enter(page, button(page, "Save view"));
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("Of today");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => focused(page).textContent()).toBe("Saved: Of today");
    await enter(page, page.getByRole("columnheader").getByRole("link", { name: "Booked" }));
    await page.waitForURL("**order_by=created_at");
    await enter(page, summary(page, "Columns"));
    await tabTo(page, page.getByLabel("Parcel"));
    await page.keyboard.press("Space");
    await page.getByRole("columnheader", { name: "Parcel" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page).textContent()).toBe("Columns");
    await enter(page, summary(page, "Export"));
    await enter(page, button(page, "CSV file of this list"));
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page).textContent()).toBe("Export");
    await page.keyboard.press("Enter");
    await enter(page, button(page, "CSV file of this list"));
    await tabTo(page, inDialog(page, "Export"));
    const download = page.waitForEvent("download");
    await page.keyboard.press("Enter");
    expect((await download).suggestedFilename()).toMatch(/^shipments-\d{4}-\d\d-\d\d\.csv$/);
    await expectAccessible(page);
    // Opening a row and going back selects the same row.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await expect.poll(() => focused(page).textContent()).toBe(reference);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
    await page.goBack();
    await expect.poll(() => focused(page).textContent()).toBe(reference);
  });

  test("the focus moves to the empty state when all of a queue is picked up", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    await bookAnd(service, own.apiKey, ["pay"]);
    const page = await openAsMember(dashboard, "/shipments?status=2", { workspace: own });
    await expect.poll(() => rows(page).count()).toBe(1);
    for (const key of ["j", "u"]) await page.keyboard.press(key);
    await enter(page, inDialog(page, "Mark as picked up"));
    await page.getByText("No shipments to pick up").waitFor();
    await expect.poll(() => focused(page).textContent()).toBe("Show all shipments");
  });

  test("the focus moves to the page if its last focusable element disappears", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await openAsMember(dashboard, "/attention", { workspace: own });
    const shown = page.locator("main");
    await shown.getByText("Nothing needs attention").waitFor();
    await shown.evaluate((main) => {
      const last = main.ownerDocument.createElement("button");
      for (const child of main.children) child.hidden = true;
      main.append(last);
      last.focus();
      last.remove();
    });
    await expect.poll(() => focused(page).getAttribute("id")).toBe("main");
  });

  test("books a shipment for a customer, prints its label, records its payment and pickup, and shows its receipt", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    await book(service, own.apiKey);
    const page = await openAsMember(dashboard, "/shipments", { workspace: own });
    await enter(page, link(page, "Quote and book"));
    await page.getByRole("heading", { name: "Quote and book" }).waitFor();
    for (const [label, text] of [
      ["Pickup address", "1 Times Square"],
      ["Dropoff address", "95 Prospect Park West"],
      ["Pickup latitude", "40.758"],
      ["Pickup longitude", "-73.9855"],
      ["Dropoff latitude", "40.6782"],
      ["Dropoff longitude", "-73.9442"],
      ["Weight in kg", "2.5"],
    ] as const) {
      await tabTo(page, page.getByLabel(label));
      await page.keyboard.type(text);
    }
    await tabTo(page, page.getByLabel("Find customer"));
    await page.keyboard.type("lovelace");
    await page.getByRole("option", { name: "Ada Lovelace" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page).textContent()).toBe("Change");
    await enter(page, button(page, "Book for $12.69"));
    await page.getByRole("heading", { name: /^SHP-/ }).waitFor();
    await chooseMore(page, "Print label", enter);
    await page.getByRole("article", { name: /^Label for/ }).waitFor();
    await enter(page, link(page, "← SHP-"));
    await enter(page, button(page, "Record payment"));
    await enter(page, inDialog(page, "Record payment"));
    // The button for the next step replaces the previous one.
    await page.locator("button:focus", { hasText: "Mark as picked up" }).waitFor();
    await page.keyboard.press("Enter");
    await enter(page, inDialog(page, "Mark as picked up"));
    await button(page, "Mark as delivered").waitFor();
    await chooseMore(page, "Receipt", enter);
    await page.getByText("$12.69 paid.").waitFor();
  });

  test("opens the manifest of another day with one history entry", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    await bookAnd(service, own.apiKey, ["pay"]);
    const page = await openAsMember(dashboard, "/shipments", { workspace: own });
    await enter(page, summary(page, "Export"));
    await enter(page, link(page, "Daily manifest"));
    await page.getByText("1 shipment, 2.5 kg").waitFor();
    await tabTo(page, page.getByLabel("Day of pickup"));
    await page.keyboard.type("02022027");
    await page.getByText("No pickups on Tuesday, February 2, 2027").waitFor();
    await page.goBack();
    await page.waitForURL("**/shipments");
  });

  test("records a due refund, which then needs no attention", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    await bookAnd(service, own.apiKey, ["pay", "cancel"]);
    const page = await openAsMember(dashboard, "/attention", { workspace: own });
    const entry = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Needs attention" });
    await entry.getByText("1", { exact: true }).waitFor();
    await enter(page, link(page, "SHP-"));
    await enter(page, button(page, "Record refund"));
    await enter(page, inDialog(page, "Record refund"));
    await expect.poll(() => entry.innerText()).toBe("Needs attention");
  });
});
