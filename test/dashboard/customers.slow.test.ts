import { beforeAll, expect, test } from "vitest";
import { book, bookAnd, takeStep } from "../support/bookings.ts";
import { countCustomers } from "../support/count-bookings.ts";
import { connectTo } from "../support/database.ts";
import { chooseMore, describeDashboard, enter, expectWellShown, openAsMember, rowsOf, tabTo } from "./browser.ts";

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
    const { customer } = await book(service, apiKey);
    await service.as(apiKey).updateCustomer({ customer: customer.id, phone: "555 0100" });
    await countCustomers(await connectTo(service.databaseUrl), service.app.em);
  });

  async function open(role = "member", workspace = dashboard.workspace) {
    const page = await openAsMember(dashboard, "/customers", { workspace, role });
    await page.getByRole("heading", { name: "Customers", level: 1 }).waitFor();
    return page;
  }

  test("are listed page by page, the last booking first", async () => {
    const page = await open();
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(50);
    const cells = rowsOf(page, "Customers").first().getByRole("cell");
    await expect
      .poll(() => cells.allTextContents())
      .toEqual(["Ada Lovelace", "ada@example.org555 0100", "2", expect.stringMatching(/ago$|^now$/), "$25.38 to pay"]);
    const sorted = page.getByRole("columnheader", { name: "Last booking" });
    expect(await sorted.getAttribute("aria-sort")).toBe("descending");
    await expectWellShown(page, "customers");
    await page.keyboard.press("n");
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(2);
  });

  test("are found by words of any field and sorted by name, with both in the URL", async () => {
    const page = await open();
    const first = rowsOf(page, "Customers").first().getByRole("cell").first();
    const heading = page.getByRole("table", { name: "Customers" }).getByRole("link", { name: "Name" });
    for (const [name, search] of [
      ["Ada Lovelace", "?order_by=name"],
      ["Customer 9", "?order_by=name+desc"],
      ["Ada Lovelace", ""],
    ]) {
      await heading.click();
      await expect.poll(() => new URL(page.url()).search).toBe(search);
      await expect.poll(() => first.textContent()).toBe(name);
    }
    await page.getByLabel("Find customers").fill("C7@example.org");
    await page.keyboard.press("Enter");
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(1);
    await expect.poll(() => page.locator("[aria-sort]").count()).toBe(0);
    await expect.poll(() => new URL(page.url()).search).toBe("?text=C7%40example.org");
    await page.getByLabel("Find customers").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("No customers match").waitFor();
    await expectWellShown(page, "customers-none");
    await page.goBack();
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(1);
  });

  test("are sorted by their last booking and their spend, with the order in the URL", async () => {
    const own = await dashboard.service.addWorkspace();
    for (const [customer_name, steps] of [
      ["Ada", ["pay"]],
      ["Bea", []],
      ["Cleo", ["pay"]],
      ["Ada", ["pay"]],
    ] as const) {
      await bookAnd(dashboard.service, own.apiKey, steps, { customer_name });
    }
    await countCustomers(await connectTo(dashboard.service.databaseUrl), dashboard.service.app.em);
    const page = await open("member", own);
    const table = page.getByRole("table", { name: "Customers" });
    const names = () => rowsOf(page, "Customers").locator("td:first-child").allTextContents();
    for (const [heading, search, order] of [
      ["Last booking", "?order_by=last_booked_at", ["Bea", "Cleo", "Ada"]],
      ["Last booking", "", ["Ada", "Cleo", "Bea"]],
      ["Spend", "?order_by=paid+desc", ["Ada", "Cleo", "Bea"]],
      ["Spend", "?order_by=paid", ["Bea", "Cleo", "Ada"]],
    ] as const) {
      await table.getByRole("link", { name: heading }).click();
      await expect.poll(() => new URL(page.url()).search).toBe(search);
      await expect.poll(names).toEqual(order);
    }
    await page.reload();
    await expect.poll(names).toEqual(["Bea", "Cleo", "Ada"]);
    expect(await table.getByRole("columnheader", { name: "Spend" }).getAttribute("aria-sort")).toBe("ascending");
  });

  test("link to their shipments, which appear as they are booked, and to a new booking", async () => {
    const page = await open();
    await rowsOf(page, "Customers").first().getByRole("link").click();
    await page.getByRole("heading", { name: "Ada Lovelace" }).waitFor();
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(2);
    await page.getByText("AB 123").waitFor();
    await expectWellShown(page, "customer");
    await book(dashboard.service, dashboard.workspace.apiKey);
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(3);
    await page.getByRole("link", { name: "Book for this customer" }).click();
    await page.locator(".chosen").getByText("ada@example.org").waitFor();
  });

  test("of a new workspace have an empty state until they appear", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("member", own);
    await page.getByText("No customers yet").waitFor();
    await expectWellShown(page, "customers-new");
    await book(dashboard.service, own.apiKey);
    await expect.poll(() => rowsOf(page, "Customers").count()).toBe(1);
  });

  test("have no booking link for a viewer", async () => {
    const page = await open("viewer");
    await rowsOf(page, "Customers").first().getByRole("link").click();
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBeGreaterThan(1);
    await expect.poll(() => page.getByRole("link", { name: /^Book/ }).count()).toBe(0);
    await expect.poll(() => page.locator("summary[aria-label=More]").count()).toBe(0);
  });

  /** Creates a workspace in which one person is two customers, each with a shipment. One shipment is paid. */
  async function addTwice() {
    const own = await dashboard.service.addWorkspace();
    const { service } = dashboard;
    const first = await book(service, own.apiKey, { customer_name: "Grace Hopper" });
    const twice = { customer_name: "G. Hopper", customer_email: "grace@example.org" };
    const second = await book(service, own.apiKey, twice);
    await takeStep(service, own.apiKey, second["reference"], "pay");
    const change = { phone: "+1 212 555 0100", notes: "Rings twice\nHas a dog" };
    await service.as(own.apiKey).updateCustomer({ customer: second["customer"].id, ...change });
    return { own, stays: first["customer"].id as number, goes: second["customer"].id as number };
  }

  test("are edited with the keyboard without overwriting concurrent changes", async () => {
    const { own, stays } = await addTwice();
    const { service } = dashboard;
    const page = await open("member", own);
    await page.goto(`/w/${own.id}/customers/${stays}`);
    await chooseMore(page, "Edit", enter);
    const dialog = page.getByRole("dialog", { name: "Edit customer" });
    await tabTo(page, dialog.getByLabel("Phone"));
    await page.keyboard.type("555 0101");
    await tabTo(page, dialog.getByLabel("Usual pickup"));
    await page.keyboard.type("1 Main St");
    await page.keyboard.press("Tab");
    await page.keyboard.type("40.7");
    await tabTo(page, dialog.getByLabel("Notes"));
    await page.keyboard.type("Call first");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Then ring");
    await expectWellShown(page, "customer-edit");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    // Keys that the user types as soon as the error appears must go to the invalid field.
    const focused = page.evaluate(`new Promise((resolve) => {
      const isShown = () => document.querySelector("[aria-invalid=true]") !== null;
      const look = () => resolve(document.activeElement.labels?.[0].textContent);
      new MutationObserver(() => isShown() && queueMicrotask(look)).observe(document.body, {
        attributes: true,
        subtree: true,
      });
    })`);
    await page.keyboard.press("Enter");
    expect(await focused).toBe("Pickup longitude (optional)");
    await dialog.getByText("Longitude is required with").waitFor();
    await expect.poll(() => dialog.getByLabel("Longitude").first().getAttribute("aria-invalid")).toBe("true");
    await page.keyboard.type("-73.9");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByText("1 Main St (40.7, -73.9)").waitFor();
    await expect.poll(() => page.locator(".customer-notes").textContent()).toBe("Call first\nThen ring");
    await expect.poll(() => page.getByRole("link", { name: "555 0101" }).getAttribute("href")).toBe("tel:5550101");
    await expectWellShown(page, "customer-facts");

    await chooseMore(page, "Edit");
    await dialog.getByLabel("Name").fill("Grace B. Hopper");
    await service.as(own.apiKey).updateCustomer({ customer: stays, notes: "Theirs" });
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await dialog.getByText("Someone else has changed the customer").waitFor();
    await dialog.getByRole("button", { name: "Reload" }).click();
    await expect.poll(() => dialog.getByLabel("Notes").inputValue()).toBe("Theirs");
    for (const field of ["Usual pickup", "Latitude", "Longitude"]) {
      await dialog.getByLabel(field).first().fill("");
    }
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("1 Main St").waitFor({ state: "detached" });
  });

  test("are merged with the keyboard and are found under the old id", async () => {
    const { own, stays, goes } = await addTwice();
    const page = await open("member", own);
    await page.goto(`/w/${own.id}/customers/${stays}`);
    await chooseMore(page, "Merge another customer", enter);
    const dialog = page.getByRole("dialog", { name: "Merge another customer into Grace Hopper" });
    await enter(page, dialog.getByRole("button", { name: "Merge", exact: true }));
    await dialog.getByText("Choose a customer.").waitFor();
    // The invalid field gets the focus when the error appears.
    await dialog.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.type("hopper");
    await expect.poll(() => dialog.getByRole("option").allTextContents()).toEqual(["G. Hoppergrace@example.org"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await dialog.getByText("+1 212 555 0100").waitFor();
    await expectWellShown(page, "customer-merge");
    await enter(page, dialog.getByRole("button", { name: "Merge G. Hopper into Grace Hopper" }));
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(2);
    await expect
      .poll(() => page.locator(".figures .value").allTextContents())
      .toEqual(["2", expect.anything(), "$12.69"]);
    await page.getByText("Rings twice").waitFor();
    await page.goto(`/w/${own.id}/customers/${goes}`);
    await page.getByText(`Customer ${goes} was merged into this one.`).waitFor();
    await page.getByRole("heading", { name: "Grace Hopper" }).waitFor();
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(2);
  });
});
