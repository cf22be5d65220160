import { expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import {
  describeDashboard,
  expectAccessible,
  expectUsable,
  expectWellShown,
  openAsMember,
  rowsOf,
  WITHOUT_POINTER,
} from "./browser.ts";

describeDashboard("Developers → Test mode", (dashboard) => {
  /** Creates a workspace whose test mode has two simulations. */
  async function addSimulated() {
    const own = await dashboard.service.addWorkspace();
    for (const scenario of ["deliver", "stuck"]) {
      const simulation = { scenario, step_seconds: 2_000 };
      await book(dashboard.service, own.twin.apiKey, { simulation });
    }
    return own;
  }

  test.for(WITHOUT_POINTER)("moves the clock, takes steps and deletes test data, %s", async ([, options, press]) => {
    const own = await addSimulated();
    const page = await openAsMember(dashboard, "/test", { workspace: own }, options);
    await page.getByText("No page at this address").waitFor();
    await page.goto(`/w/${own.twin.id}/test`);
    const rows = rowsOf(page, "Simulations");
    const stuck = rows.filter({ hasText: "Never picked up" });
    const deliver = rows.filter({ hasText: "Delivered" });
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const inDialog = (name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
    const bar = page.getByRole("banner").getByRole("link", { name: "Test mode" });
    await expect.poll(() => rows.count()).toBe(2);
    expect(await bar.getByRole("time").count()).toBe(0);
    await press(page, button("Stop"));
    await page.getByText("Stopped", { exact: true }).waitFor();
    await bar.locator("time").waitFor();

    await press(page, button("+ 1 hour"));
    await page.getByText("Moved ahead").waitFor();
    await stuck.waitFor({ state: "detached" });
    await deliver.getByText("Pick up").waitFor();
    await expectAccessible(page);
    await expectUsable(page);
    await press(page, deliver.getByRole("button", { name: "Simulate event" }));
    await press(page, inDialog("Simulate event"));
    await deliver.getByText("Courier approaches").waitFor();
    await expectWellShown(page, "test-mode");

    await press(page, button("To a time…"));
    await page.getByLabel("Until").fill("2020-01-01T08:00");
    await press(page, inDialog("Move it"));
    await page.getByText("The clock only moves forward").waitFor();
    await page.keyboard.press("Escape");
    await press(page, button("Real time"));
    await bar.locator("time").waitFor({ state: "detached" });

    await press(page, button("Delete all test data…"));
    await page.getByText("2 shipments, with their payments and simulations").waitFor();
    await expectAccessible(page);
    await expectUsable(page);
    await press(page, inDialog("Delete all test data"));
    await page.getByText("No simulations running").waitFor();
    await press(page, page.getByRole("link", { name: "To live mode" }));
    await page.waitForURL(`**/w/${own.id}/shipments`);
  });

  test("a viewer sees the clock and the due steps, without actions", async () => {
    const own = await addSimulated();
    const page = await openAsMember(dashboard, "", { workspace: own, role: "viewer" });
    await page.goto(`/w/${own.twin.id}/test`);
    await expect.poll(() => rowsOf(page, "Simulations").count()).toBe(2);
    expect(await page.locator("main").getByRole("button").count()).toBe(0);
  });
});
