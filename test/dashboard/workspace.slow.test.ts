import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { insertCustomers, insertShipments } from "../support/insert-shipments.ts";
import type { TestWorkspace } from "../support/service.ts";
import { BOOKING } from "../support/bookings.ts";
import { describeDashboard, expectWellShown, openAsMember, rowsOf } from "./browser.ts";

/** How many shipments were booked on the days before today, one each six hours. */
const MANY = 60;

describeDashboard("a workspace", (dashboard) => {
  beforeAll(() => addMany(dashboard.service.databaseUrl, dashboard.workspace));

  const open = (path: string, workspace = dashboard.workspace, role = "admin") =>
    openAsMember(dashboard, path, { workspace, email: `${role}@example.org`, role });

  describe("the overview", () => {
    test("sums up the bookings of the days in the address", async () => {
      const page = await open("");
      const figures = page.locator(".figures > div");
      await figures.filter({ hasText: "Bookings" }).getByText("60", { exact: true }).waitFor();
      expect(await figures.filter({ hasText: "Cancelled" }).innerText()).toBe(
        "Cancelled\n20\n33.3% of them",
      );
      await expectWellShown(page, "overview");
      await page.getByRole("link", { name: "7 days" }).click();
      await page.waitForURL("**?days=7");
      await figures.filter({ hasText: "Bookings" }).getByText("60").waitFor({ state: "hidden" });
      const chart = page.getByRole("table", { name: "Bookings by day" });
      await expect.poll(() => chart.getByRole("rowheader").count()).toBe(7);

      await page.goto(`/w/${dashboard.workspace.id}?from=2026-01-01&to=2026-01-02`);
      await expect
        .poll(() => chart.getByRole("rowheader").allTextContents())
        .toEqual(["Jan 1, 2026", "Jan 2, 2026"]);
      await page.goBack();
      await expect.poll(() => chart.getByRole("rowheader").count()).toBe(7);
    });

    test("says what is wrong with days that cannot be", async () => {
      const page = await open("?from=2026-02-01&to=2026-01-01");
      const alert = page.getByRole("alert").getByText("First day must not be after “Last day”.");
      await alert.waitFor();
      await expectWellShown(page, "overview-refused");
    });

    test("of a new workspace says the first steps, and goes on by itself when something is booked", async () => {
      const own = await dashboard.service.addWorkspace();
      const page = await open("", own);
      await page.getByText("Get a key.").waitFor();
      await expectWellShown(page, "overview-new");
      const { apiKey } = own;
      await dashboard.service.request("/v1/shipments", { apiKey, body: BOOKING });
      await page.getByText("Get a key.").waitFor({ state: "hidden", timeout: 50_000 });
    });

    test("says what stands in the way of booking, and what to do", async () => {
      const own = await dashboard.service.addWorkspace({ paymentProvider: undefined });
      const page = await open("", own);
      await page.getByText("No payment provider is connected.").waitFor();
      await expectWellShown(page, "overview-blocked");
      await page.getByRole("link", { name: "Payments", exact: true }).click();
      await page.getByText("Not connected").waitFor();
      await expectWellShown(page, "payments-none");
    });
  });

  test("Settings → Payments says who is paid, and leads to what waits for money", async () => {
    const page = await open("/settings/payments", undefined, "viewer");
    await page.getByText("manual").waitFor();
    await expectWellShown(page, "payments");
    await page.getByRole("link", { name: "Shipments that wait for their payment" }).click();
    await page.waitForURL("**/shipments?payment_status=1");
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(40);
    await page.goBack();
    await page.getByRole("link", { name: "Shipments that wait for their refund" }).click();
    await page.getByText("No shipments match").waitFor();
  });

  test("Settings → Workspace says its name, id and limits", async () => {
    const page = await open("/settings/workspace", undefined, "viewer");
    await page.getByText("10,000 a second, 20,000 at once").waitFor();
    const facts = await page.locator("dl").first().innerText();
    expect(facts.split("\n").map((text) => text.trim())).toEqual(
      expect.arrayContaining(["Test", String(dashboard.workspace.id), "manual", "Possible"]),
    );
    await expectWellShown(page, "workspace");
  });

  test("the navigation marks the page that is shown, and no other", async () => {
    const page = await open("/settings/workspace");
    const here = page.getByRole("navigation", { name: "Pages" }).locator("[aria-current=page]");
    await expect.poll(() => here.allTextContents()).toEqual(["Workspace"]);
    await page.getByRole("link", { name: "Overview" }).click();
    await expect.poll(() => here.allTextContents()).toEqual(["Overview"]);
  });
});

async function addMany(databaseUrl: string, { id }: TestWorkspace): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const customer = String(await insertCustomers(client, id, 1));
    await insertShipments(client, {
      workspace: id,
      count: MANY,
      customer,
      status: "case when i % 3 = 0 then 'cancelled' else 'pending' end",
      paymentStatus: "case when i % 3 = 0 then 'voided' else 'awaiting_payment' end",
      createdAt: "date_trunc('day', now(), 'UTC') - i * interval '6 hours'",
    });
  } finally {
    await client.end();
  }
}
