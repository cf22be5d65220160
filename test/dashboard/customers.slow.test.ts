import { beforeAll, expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import { describeDashboard, expectWellShown, openAsMember, rowsOf } from "./browser.ts";

describeDashboard("customers", (dashboard) => {
  beforeAll(async () => {
    const { service, workspace } = dashboard;
    const { apiKey } = workspace;
    for (let i = 1; i <= 51; i++) {
      const customer_email = `c${i}@example.org`;
      await book(service, apiKey, { customer_name: `Customer ${i}`, customer_email });
    }
    const customer_id_number = "AB 123";
    await book(service, apiKey, { customer_id_number });
    await book(service, apiKey);
  });

  async function open(role = "member", workspace = dashboard.workspace) {
    const email = `${role}.of.${workspace.id}@example.org`;
    const page = await openAsMember(dashboard, "/customers", { workspace, email, role });
    await page.getByRole("heading", { name: "Customers", level: 1 }).waitFor();
    return page;
  }

  test("are listed, the newest first, page by page", async () => {
    const page = await open();
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(50);
    const cells = rowsOf(page, "Customers").first().getByRole("cell");
    expect(await cells.allTextContents()).toEqual([
      "Ada Lovelace",
      "ada@example.org",
      "AB 123",
      expect.stringMatching(/^\d+$/),
    ]);
    await expectWellShown(page, "customers");
    await page.keyboard.press("n");
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(2);
  });

  test("are found by the email in any case, with the search in the address", async () => {
    const page = await open();
    await page.keyboard.press("/");
    await page.keyboard.type("C7@example.org");
    await page.keyboard.press("Enter");
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(1);
    expect(new URL(page.url()).search).toBe("?email=C7%40example.org");
    await page.getByRole("searchbox").fill("nobody@example.org");
    await page.keyboard.press("Enter");
    await page.getByText("No customer is found").waitFor();
    await expectWellShown(page, "customers-none");
    await page.goBack();
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(1);
  });

  test("lead to their shipments, which appear as they are booked, and to booking another", async () => {
    const page = await open();
    await rowsOf(page, "Customers").first().getByRole("link").click();
    await page.getByRole("heading", { name: "Ada Lovelace" }).waitFor();
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(2);
    await page.getByText("AB 123").waitFor();
    await expectWellShown(page, "customer");
    await book(dashboard.service, dashboard.workspace.apiKey);
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(3);
    await page.getByRole("link", { name: "Book for this customer" }).click();
    expect(await page.getByLabel("Existing customer").isChecked()).toBe(true);
    await page.locator(".chosen").getByText("ada@example.org").waitFor();
  });

  test("that there are not are said, with a way back", async () => {
    const page = await open();
    await page.goto(`/w/${dashboard.workspace.id}/customers/none`);
    await page.getByText("There is no such customer").waitFor();
    await page.getByRole("link", { name: "Show all customers" }).click();
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(50);
  });

  test("of a new workspace say where they come from, and appear as they do", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("member", own);
    await page.getByText("No customers yet").waitFor();
    await expectWellShown(page, "customers-new");
    await book(dashboard.service, own.apiKey);
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(1);
  });

  test("offer a viewer nothing to book", async () => {
    const page = await open("viewer");
    await rowsOf(page, "Customers").first().getByRole("link").click();
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBeGreaterThan(1);
    expect(await page.getByRole("link", { name: /^Book/ }).count()).toBe(0);
  });
});
