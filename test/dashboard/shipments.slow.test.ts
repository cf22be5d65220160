import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { book, BOOKING } from "../support/bookings.ts";
import { insertCustomers, insertShipments } from "../support/insert-shipments.ts";
import type { TestWorkspace } from "../support/service.ts";
import {
  describeDashboard,
  expectWellShown,
  openAsMember,
  rowsOf,
  signInTo,
  type TestPage,
} from "./browser.ts";

/** How many shipments there are besides the one that was booked: two pages and a bit. */
const MANY = 120;

describeDashboard("shipments", (dashboard) => {
  let reference: string;

  beforeAll(async () => {
    const { workspace } = dashboard;
    await addMany(dashboard.service.databaseUrl, workspace);
    const body = { ...BOOKING, external_reference: "order 7", metadata: { gate: "B" } };
    const { apiKey } = workspace;
    const booked = await dashboard.service.request("/v1/shipments", { apiKey, body });
    reference = booked.body.data.reference;
    const path = `/v1/shipments/${reference}/payments`;
    const payment = { amount: 12.69, currency: "USD" };
    await dashboard.service.request(path, { apiKey, body: payment });
  });

  async function openList(query = ""): Promise<TestPage> {
    const page = await openAsMember(dashboard, `/shipments${query}`);
    await page.getByRole("heading", { name: "Shipments", level: 1 }).waitFor();
    return page;
  }

  const rows = (page: TestPage) => rowsOf(page, "Shipments");

  describe("the list", () => {
    test("shows the newest first, fifty on a page", async () => {
      const page = await openList();
      await expect.poll(() => rows(page).count()).toBe(50);
      const first = rows(page).first();
      expect(await first.getByRole("cell").allTextContents()).toEqual([
        reference,
        "Awaiting pickup",
        "Paid",
        "Ada Lovelace",
        "1 Times Square, New York → 95 Prospect Park West, Brooklyn",
        "$12.69",
        expect.stringMatching(/^(now|\d+ (minute|second)s? ago)$/),
      ]);
      expect(await first.locator("data").getAttribute("title")).toBe("12.69 USD");
      await expectWellShown(page, "shipments");
    });

    test("is filtered, with the filters in the address, and back again", async () => {
      const page = await openList();
      await page.getByLabel("Status").selectOption("Cancelled");
      await expect.poll(() => rows(page).count()).toBe(40);
      expect(new URL(page.url()).search).toBe("?status=5");
      await page.getByLabel("External reference").fill("nothing has this");
      await page.keyboard.press("Enter");
      await page.getByText("No shipments match").waitFor();
      expect(new URL(page.url()).search).toBe("?status=5&external_reference=nothing+has+this");
      await expectWellShown(page, "shipments-none");
      await page.goBack();
      await expect.poll(() => rows(page).count()).toBe(40);
      expect(await page.getByLabel("External reference").inputValue()).toBe("");
      await page.getByRole("button", { name: "Clear" }).click();
      await expect.poll(() => rows(page).count()).toBe(50);
    });

    test("leaves the focus at a filter that is changed", async () => {
      const page = await openList();
      await page.getByLabel("Status").focus();
      await page.keyboard.press("ArrowDown");
      await page.waitForURL("**/shipments?status=1");
      await page.getByText("Filters (1)").waitFor({ state: "attached" });
      expect(await page.evaluate<string>("document.activeElement.name")).toBe("status");
    });

    test("is filtered by days of the reader's own time zone, both included", async () => {
      const page = await openList("?from=2026-01-02&to=2026-01-02");
      // One shipment was booked every hour in UTC, which is five hours ahead of New York.
      await expect.poll(() => rows(page).count()).toBe(24);
    });

    test("says what of the address cannot be, and what can be chosen", async () => {
      const page = await openList("?status=99&from=2026-02-31&customer=ada&payment_status=1");
      await expect.poll(() => rows(page).count()).toBe(50);
      expect(await page.getByRole("status").locator("p").allTextContents()).toEqual([
        "“99” is left out of the filters: Status can be Pending, Awaiting pickup, In transit, Delivered, or Cancelled.",
        "“2026-02-31” is left out of the filters: Booked from takes a day such as 2026-11-01.",
        "“ada” is left out of the filters: Customer number takes a whole number.",
      ]);
      expect(await page.getByLabel("Payment").inputValue()).toBe("1");
      await expectWellShown(page, "shipments-left-out");
      await page.goto(`/w/${dashboard.workspace.id}/shipments?status=pending&payment_status=PAID`);
      await page.getByText("No shipments match").waitFor();
      expect(await page.getByLabel("Status").inputValue()).toBe("1");
      expect(await page.getByLabel("Payment").inputValue()).toBe("2");
      await page.goto(`/w/${dashboard.workspace.id}/shipments?page_token=x`);
      await page.getByText("The list has no such page with these filters.").waitFor();
      await page.getByRole("button", { name: "Show the first page" }).click();
      await expect.poll(() => rows(page).count()).toBe(50);
    });

    test("is paged by keys, there and back, and a page has an address", async () => {
      const page = await openList();
      await expect.poll(() => rows(page).count()).toBe(50);
      const focused = () => page.evaluate("document.activeElement.textContent");
      // By its reference: what else a row says, such as how long ago it was booked, changes by itself.
      const topmost = () => rows(page).first().getByRole("cell").first().textContent();
      const first = await topmost();
      await page.keyboard.press("n");
      await page.waitForURL("**page_token=**");
      await expect.poll(topmost).not.toBe(first);
      await expect.poll(focused).toBe(await topmost());
      await page.keyboard.press("n");
      await expect.poll(() => rows(page).count()).toBe(MANY + 1 - 100);
      await page.reload();
      await expect.poll(() => rows(page).count()).toBe(MANY + 1 - 100);
      await page.keyboard.press("p");
      await expect.poll(() => rows(page).count()).toBe(50);
      await page.keyboard.press("p");
      await expect.poll(topmost).toBe(first);
      await expect.poll(focused).toBe(first);
      // Nor is it lost with a button that is of no use any more.
      const next = page.getByRole("button", { name: "Next" });
      for (const count of [50, MANY + 1 - 100]) {
        const before = await topmost();
        await next.press("Enter");
        await expect.poll(topmost).not.toBe(before);
        await expect.poll(() => rows(page).count()).toBe(count);
      }
      expect(await focused()).toBe("Next →");
    });

    test("leads to a shipment by keys, and back to the same list", async () => {
      const page = await openList();
      await expect.poll(() => rows(page).count()).toBe(50);
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/shipments/${reference}`);
      await page.goBack();
      await expect.poll(() => rows(page).count()).toBe(50);
    });

    test.each([
      ["a reference in any case", () => reference.toLowerCase(), () => `/shipments/${reference}`],
      ["an external reference", () => "order 7", () => "/shipments?external_reference=order+7"],
    ])("finds by %s", async (_, text, address) => {
      const page = await openList();
      await page.keyboard.press("/");
      await page.keyboard.type(text());
      await page.keyboard.press("Enter");
      await page.waitForURL(`**${address()}`);
      await page.getByText(reference).first().waitFor();
    });

    test("finds the shipments of a customer by the name, and has the reader choose among several", async () => {
      const { apiKey } = dashboard.workspace;
      for (const customer_name of ["Radia Perlman", "Radia Smith"]) {
        await book(dashboard.service, apiKey, { customer_name });
      }
      const page = await openList();
      const search = page.getByRole("searchbox", { name: "Find shipments" });
      await search.fill("radia p");
      await expectWellShown(page, "shipments-search");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/shipments?customer=*");
      await expect.poll(() => rows(page).count()).toBe(1);
      await rows(page).getByText("Radia Perlman").waitFor();

      await search.fill("Radia");
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/w/${dashboard.workspace.id}/customers?name=Radia`);
      await page.getByText("Customers whose first or last name begins with Radia.").waitFor();
      await page.getByRole("link", { name: "Radia Smith" }).click();
      await page.waitForURL("**/customers/*");
      await expect.poll(() => rows(page).count()).toBe(1);
    });

    test("says what it found nothing by, until something else is typed", async () => {
      const page = await openList();
      const search = page.getByRole("searchbox", { name: "Find shipments" });
      const note = page.getByText("Nothing is found by “Grace”.");
      await search.fill("Grace");
      await page.keyboard.press("Enter");
      await note.waitFor();
      await expectWellShown(page, "shipments-search-none");
      await search.fill("Grace H");
      await note.waitFor({ state: "detached" });
      expect(new URL(page.url()).search).toBe("");
    });

    test("finds the shipments of a customer by the email", async () => {
      const page = await openList();
      await page.getByRole("searchbox", { name: "Find shipments" }).fill("C1@example.org");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/shipments?customer=*");
      await expect.poll(() => rows(page).count()).toBe(50);
    });

    test("of a new workspace says where shipments come from", async () => {
      const page = await dashboard.newPage();
      await signInTo(page, dashboard, await dashboard.service.addWorkspace(), {
        email: "new@example.org",
      });
      await page.getByText("No shipments yet").waitFor();
      await expectWellShown(page, "shipments-new");
    });
  });

  describe("one shipment", () => {
    test("shows its route, price, customer, notes and what happened", async () => {
      const page = await openList();
      await page.goto(`/w/${dashboard.workspace.id}/shipments/${reference}`);
      await page.getByRole("heading", { name: reference }).waitFor();
      const map = page.getByRole("application", { name: /^Route of the shipment/ });
      expect(await map.getAttribute("aria-label")).toBe(
        "Route of the shipment. Pickup at 40.758, -73.9855. Dropoff at 40.6782, -73.9442. " +
          "Zones: Bronx, Kings, New York, Queens, Richmond",
      );
      const facts = await page.locator("dl").allInnerTexts();
      for (const fact of ["9.532 km", "2.5 kg", "order 7", "Ada Lovelace", "gate"]) {
        expect(facts.join("\n")).toContain(fact);
      }
      expect(await page.locator("table.sum tr").allInnerTexts()).toEqual([
        "Distance\t$11.44",
        "Weight\t$1.25",
        "Subtotal\t$12.69",
        "Total\t$12.69",
      ]);
      expect(await page.locator(".timeline li > span").allTextContents()).toEqual([
        "Ready for pickup",
        "Paid",
        "Booked",
      ]);
      await expectWellShown(page, "shipment");
    });

    test("that there is not is said, with a way back", async () => {
      const page = await openList();
      await page.goto(`/w/${dashboard.workspace.id}/shipments/SHP-000000000000`);
      await page.getByText("There is no such shipment").waitFor();
      await page.getByRole("link", { name: "Show all shipments" }).click();
      await expect.poll(() => rows(page).count()).toBe(50);
    });
  });

  test("what others do is shown without loading the page anew", async () => {
    const own = await dashboard.service.addWorkspace();
    const { apiKey } = own;
    const page = await dashboard.newPage();
    await signInTo(page, dashboard, own);
    await page.getByText("No shipments yet").waitFor();
    const booked = await dashboard.service.request("/v1/shipments", { apiKey, body: BOOKING });
    const made = rows(page).filter({ hasText: booked.body.data.reference });
    await made.getByText("Pending").waitFor();
    await made.getByRole("link").click();
    await page.getByText("Awaiting payment").waitFor();
    const path = `/v1/shipments/${booked.body.data.reference}/cancel`;
    await dashboard.service.request(path, { apiKey, body: { reason: "other", note: "By hand" } });
    await page.getByText("Voided").waitFor();
    await page.getByText("By hand").waitFor();
    expect(await page.locator(".timeline li > span").allTextContents()).toEqual([
      "Cancelled",
      "Booked",
    ]);
  });

  test("a lost connection is said, and heals by itself", async () => {
    const page = await openList();
    await expect.poll(() => rows(page).count()).toBe(50);
    await page.context().setOffline(true);
    await page.getByLabel("Status").selectOption("Cancelled");
    await page.getByText("This page goes on by itself").waitFor();
    await expectWellShown(page, "shipments-offline");
    await page.context().setOffline(false);
    await expect.poll(() => rows(page).count()).toBe(40);
    expect(await page.getByText("This page goes on by itself").count()).toBe(0);
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
      createdAt: "timestamptz '2026-01-01 00:00Z' + i * interval '1 hour'",
    });
  } finally {
    await client.end();
  }
}
