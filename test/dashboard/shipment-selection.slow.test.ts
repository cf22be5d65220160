import { describe, expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { book, bookAnd, takeStep, type ShipmentJson } from "../support/bookings.ts";
import type { TestWorkspace } from "../support/service.ts";
import {
  chooseMore,
  describeDashboard,
  enter,
  expectUsable,
  expectWellShown,
  holdBack,
  openAsMember,
  openFilter,
  PHONE,
  pressInDialog,
  rowsOf,
  tabTo,
  type TestPage,
} from "./browser.ts";

describeDashboard("selected shipments", (dashboard) => {
  const rows = (page: TestPage) => rowsOf(page, "Shipments");
  const bar = (page: TestPage) => page.getByRole("region", { name: "Selection" });
  const box = (page: TestPage, { reference }: ShipmentJson) =>
    page.getByRole("checkbox", { name: `Select ${reference}` });
  const all = (page: TestPage) => page.getByRole("checkbox", { name: "Select all on this page: Shipments" });

  async function open(workspace: TestWorkspace, role = "member", path = "/shipments") {
    const page = await openAsMember(dashboard, path, { workspace, role });
    await page.getByRole("table", { name: "Shipments" }).waitFor();
    return page;
  }

  async function read({ apiKey }: TestWorkspace, { reference }: ShipmentJson) {
    return (await dashboard.service.request(`/v1/shipments/${reference}`, { apiKey })).body.data;
  }

  test("are paid, picked up, delivered and cancelled where possible", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { apiKey } = workspace;
    const pending = [await book(service, apiKey), await book(service, apiKey)];
    const paid = await bookAnd(service, apiKey, ["pay"]);
    const page = await open(workspace);
    await expect.poll(() => bar(page).count()).toBe(0);
    await all(page).check();
    await bar(page).getByText("3 selected").waitFor();
    await bar(page).getByRole("button", { name: "Record payments (2)" }).waitFor();
    await expect.poll(() => bar(page).getByText("$38.07").count()).toBe(1);
    await expect
      .poll(() => bar(page).getByRole("button").allTextContents())
      .toEqual(["Clear", "Assign courier (1)", "Record payments (2)"]);
    await expectWellShown(page, "selection");

    await bar(page).getByRole("button", { name: "Record payments" }).click();
    await page.getByText("Each is recorded as paid in full, $25.38 in total. Recorded payments").waitFor();
    await expectWellShown(page, "selection-pay");
    await pressInDialog(page, "Record payments");
    await page.getByText("2 shipments are paid.").waitFor();
    // Shipments whose change succeeded are deselected.
    await bar(page).getByText("1 selected").waitFor();
    expect(await read(workspace, pending[0]!)).toMatchObject({ status: "awaiting_pickup" });

    await all(page).check();
    await bar(page).getByRole("button", { name: "Mark as picked up (3)" }).click();
    await pressInDialog(page, "Mark as picked up");
    await page.getByText("3 shipments are picked up.").waitFor();
    await expect.poll(() => bar(page).count()).toBe(0);

    await box(page, paid).check();
    await bar(page).getByRole("button", { name: "Mark as delivered (1)" }).click();
    await pressInDialog(page, "Mark as delivered");
    await page.getByText("1 shipment is delivered.").waitFor();
    expect(await read(workspace, paid)).toMatchObject({ status: "delivered" });
    await rows(page).filter({ hasText: paid["reference"] }).getByText("Delivered").waitFor();
  });

  test("are assigned to a courier in the proposed order, found by the courier, and unassigned", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { apiKey } = workspace;
    const as = service.as(apiKey);
    const { id: courier } = await data(as.createCourier({ name: "Ada Byron" }));
    const kept = await bookAnd(service, apiKey, ["pay"]);
    await as.assignCourier({ courier, shipments: [{ shipment: kept["reference"], sequence: 4 }] });
    const at = async (pickup_lat: number) => {
      const shipment = await book(service, apiKey, { pickup_lat });
      const { reference, total: amount, currency } = shipment;
      await data(as.recordPayment({ shipment: reference, amount, currency }));
      return shipment;
    };
    const [first, far, near] = [await at(40.758), await at(40.7), await at(40.757)];
    const pending = await book(service, apiKey);
    const page = await open(workspace, "member", "/shipments?courier=unassigned");
    // Unpaid shipments need no courier.
    await expect.poll(() => rows(page).count()).toBe(3);
    expect(await box(page, pending).count()).toBe(0);
    await all(page).check();
    await bar(page).getByRole("button", { name: "Assign courier (3)" }).click();
    const dialog = page.getByRole("dialog", { name: "Assign courier: 3 shipments" });
    const stops = () => dialog.getByRole("listitem").locator("code").allTextContents();
    const references = (...shipments: ShipmentJson[]) => shipments.map(({ reference }) => reference);
    await expect.poll(stops).toEqual(references(first, far, near));
    await dialog.getByLabel("Order of stops").selectOption("Nearest first (proposal)");
    await expect.poll(stops).toEqual(references(first, near, far));
    await pressInDialog(page, "Assign courier");
    await dialog.getByText("Choose a courier.").waitFor();
    await expectWellShown(page, "selection-assign");
    await dialog.getByLabel("Courier").selectOption(courier);
    await pressInDialog(page, "Assign courier");
    await page.getByText("3 shipments are assigned.").waitFor();
    await page.getByText("No shipments match").waitFor();
    for (const [i, shipment] of [first, near, far].entries()) {
      const { name, courier_id, sequence } = (await read(workspace, shipment)).courier;
      expect({ name, courier_id, sequence }).toEqual({ name: "Ada Byron", courier_id: courier, sequence: 5 + i });
    }

    await (await openFilter(page, "Courier")).getByLabel("Courier").selectOption("Ada Byron");
    await expect.poll(() => rows(page).count()).toBe(4);
    await box(page, kept).check();
    await chooseMore(page, "Remove courier (1)");
    await pressInDialog(page, "Remove courier");
    await page.getByText("1 shipment is unassigned.").waitFor();
    await expect.poll(() => rows(page).count()).toBe(3);
    expect(await read(workspace, kept)).toMatchObject({ courier: null });
  });

  test("that were changed concurrently are reported and can be retried, by keyboard", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { apiKey } = workspace;
    const first = await bookAnd(service, apiKey, ["pay"]);
    const second = await book(service, apiKey);
    const page = await open(workspace);
    // Makes the list's data stale by blocking its events.
    await page.route("**/WatchEvents", (route) => route.abort());
    await page.reload();
    await expect.poll(() => rows(page).count()).toBe(2);
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await bar(page).getByText("2 selected").waitFor();
    await chooseMore(page, "Cancel (2)", enter);
    await page
      .getByText("Payments of $12.69 were recorded by hand. Refund them yourself, then record the refunds.")
      .waitFor();
    await page.getByLabel("Reason for all").selectOption("Goods not available");
    await tabTo(page, page.getByLabel("Note"));
    await page.keyboard.type("Fire");
    await takeStep(service, apiKey, first["reference"], "advance");
    await enter(page, page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }));
    const failed = page.getByRole("dialog", { name: "1 shipment is not cancelled" });
    await failed.waitFor();
    await expect
      .poll(() => failed.getByRole("listitem").allInnerTexts())
      .toEqual([`${first["reference"]}\nThe shipment cannot be cancelled because it is in transit.`]);
    await expectWellShown(page, "selection-failed");
    expect(await read(workspace, second)).toMatchObject({
      status: "cancelled",
      cancel_reason: "goods_unavailable",
      cancel_note: "Fire",
    });
    const firstDialog = (await failed.elementHandle())!;
    await enter(page, failed.getByRole("button", { name: "Try again" }));
    await firstDialog.waitForElementState("hidden");
    await failed.getByText("because it is in transit").waitFor();
    await page.keyboard.press("Escape");
    await failed.waitFor({ state: "detached" });
    await bar(page).getByText("1 selected").waitFor();
    await enter(page, bar(page).getByRole("button", { name: "Clear" }));
    // The list before the bar then has the focus and responds to its keys.
    await page.locator("table:focus").waitFor();
    await page.keyboard.press("j");
    await expect.poll(() => page.locator(":focus").textContent()).toContain("SHP-");
  });

  test("wait for the payment method when an action is started at once", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    await bookAnd(service, workspace.apiKey, ["pay"]);
    const page = await open(workspace);
    const { requested, release } = await holdBack(page, "GetPaymentConnection");
    await page.reload();
    await requested;
    await expect.poll(() => rows(page).count()).toBe(1);
    for (const key of ["j", "u"]) await page.keyboard.press(key);
    expect(await page.getByRole("status").allTextContents()).not.toContain(
      "The selected shipments cannot be picked up.",
    );
    release();
    await pressInDialog(page, "Mark as picked up");
    await page.getByText("1 shipment is picked up.").waitFor();
  });

  test("are those of the last action if its dialog loads late", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const as = service.as(workspace.apiKey);
    const { id: courier } = await data(as.createCourier({ name: "Ada Byron" }));
    const older = await bookAnd(service, workspace.apiKey, ["pay"]);
    await bookAnd(service, workspace.apiKey, ["pay"]);
    const page = await open(workspace);
    const { requested, release } = await holdBack(page, "assign-dialog-*.js");
    for (const key of ["j", "a"]) await page.keyboard.press(key);
    await requested;
    for (const key of ["j", "a"]) await page.keyboard.press(key);
    release();
    const dialog = page.getByRole("dialog", { name: `Assign courier: ${older["reference"]}` });
    await dialog.getByLabel("Courier").selectOption(courier);
    // A shipment that has changed since can be assigned by trying again.
    await data(as.updateShipment({ shipment: older["reference"], recipient_name: "Grace" }));
    await pressInDialog(page, "Assign courier");
    await page.getByText("etag is stale because the shipment was changed.").waitFor();
    await pressInDialog(page, "Try again");
    await page.getByText("1 shipment is assigned.").waitFor();
  });

  test("with a lost response are changed once after a retry", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const shipment = await bookAnd(service, workspace.apiKey, ["pay"]);
    const page = await open(workspace);
    await all(page).check();
    await bar(page).getByRole("button", { name: "Mark as picked up (1)" }).click();
    await page.route("**/BatchAdvanceShipments", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await pressInDialog(page, "Mark as picked up");
    await page.getByRole("dialog", { name: "1 shipment is not picked up" }).waitFor();
    await page.unroute("**/BatchAdvanceShipments");
    await pressInDialog(page, "Try again");
    await page.getByText("1 shipment is picked up.").waitFor();
    expect(await read(workspace, shipment)).toMatchObject({ status: "in_transit", etag: "3" });
  });

  test("stay unchanged once the dialog is closed", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    for (let i = 0; i < 26; i++) await book(service, workspace.apiKey);
    const page = await open(workspace);
    await all(page).check();
    const { requested, calls, release } = await holdBack(page, "BatchCancelShipments");
    await chooseMore(page, "Cancel (26)");
    await pressInDialog(page, "Cancel");
    await requested;
    await pressInDialog(page, "Keep them");
    release();
    await page.getByText("25 of 26 shipments are cancelled.").waitFor();
    await bar(page).getByText("1 selected").waitFor();
    expect(calls).toHaveLength(1);
  });

  describe("selection", () => {
    test("a range starts at the selected row, wherever it moves", async () => {
      const { service } = dashboard;
      const workspace = await service.addWorkspace();
      const booked: ShipmentJson[] = [];
      for (let i = 0; i < 51; i++) booked.unshift(await book(service, workspace.apiKey));
      const page = await open(workspace);
      await box(page, booked[2]!).click();
      const newest = await book(service, workspace.apiKey);
      await box(page, newest).waitFor();
      await box(page, booked[4]!).click({ modifiers: ["Shift"] });
      await bar(page).getByText("3 selected").waitFor();
      // The start of a range does not carry over to another page.
      await page.getByRole("button", { name: "Next" }).click();
      await expect.poll(() => rows(page).count()).toBe(2);
      await box(page, booked[50]!).click({ modifiers: ["Shift"] });
      await bar(page).getByText("4 selected").waitFor();
    });

    test("works by keyboard and in ranges, and persists across pages", async () => {
      const { service } = dashboard;
      const workspace = await service.addWorkspace();
      const booked: ShipmentJson[] = [];
      for (let i = 0; i < 52; i++) booked.unshift(await book(service, workspace.apiKey));
      const page = await open(workspace, "member", "/shipments?status=pending&order_by=created_at+desc");
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await bar(page).getByText("1 selected").waitFor();
      await box(page, booked[4]!).click({ modifiers: ["Shift"] });
      await bar(page).getByText("5 selected").waitFor();
      // The focused checkbox takes no text, so the keys work and start from its row.
      const focused = page.locator(":focus");
      await page.keyboard.press("k");
      await expect.poll(() => focused.textContent()).toBe(booked[3]!["reference"]);
      await box(page, booked[4]!).focus();
      await page.keyboard.press("x");
      await bar(page).getByText("4 selected").waitFor();
      await page.keyboard.press("x");
      await bar(page).getByText("5 selected").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Next" }).click();
      await expect.poll(() => rows(page).count()).toBe(2);
      await all(page).check();
      await bar(page).getByText("7 selected").waitFor();
      await bar(page).getByRole("button", { name: "Record payments (7)" }).click();
      await pressInDialog(page, "Record payments");
      await page.getByText("7 shipments are paid.").waitFor();
      // The last page is empty now, but the list is not.
      await page.getByText("No shipments left on this page").waitFor();
      await page.getByRole("button", { name: "Show first page" }).click();
      await expect.poll(() => rows(page).count()).toBe(45);
      // Each list has its own selection.
      await all(page).check();
      await page.getByRole("link", { name: "To pick up" }).click();
      await expect.poll(() => rows(page).count()).toBe(7);
      await expect.poll(() => bar(page).count()).toBe(0);
      await all(page).check();
      await bar(page).getByRole("button", { name: "Clear" }).click();
      await page.getByRole("link", { name: "To pay" }).click();
      await expect.poll(() => rows(page).count()).toBe(45);
      await all(page).check();
      await bar(page).getByText("45 selected").waitFor();
      await page.keyboard.press("z");
      await page.getByText("7 shipments are no longer selected.").waitFor({ state: "detached" });
      await bar(page).getByText("45 selected").waitFor();
    });

    test("can include a whole page, also on a phone", async () => {
      const { service } = dashboard;
      const workspace = await service.addWorkspace();
      for (let i = 0; i < 3; i++) await book(service, workspace.apiKey);
      const member = { workspace, role: "member" };
      const page = await openAsMember(dashboard, "/shipments", member, PHONE);
      await page.getByText("Select all on this page").tap();
      await bar(page).getByText("3 selected").waitFor();
      await expectUsable(page);
      await page.getByText("Select all on this page").tap();
      await expect.poll(() => bar(page).count()).toBe(0);
    });

    test("is not available to a viewer", async () => {
      const { service } = dashboard;
      const workspace = await service.addWorkspace();
      await book(service, workspace.apiKey);
      const page = await open(workspace, "viewer");
      await expect.poll(() => page.getByRole("checkbox").count()).toBe(0);
    });
  });

  test("saves a queue with its own columns and order, and shares views with the workspace", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    await book(service, workspace.apiKey, { external_reference: "order 9" });
    const page = await open(workspace);
    const link = (name: string) => page.getByRole("link", { name, exact: true });
    const saved = page.locator("summary", { hasText: "Saved" });
    const heads = () => page.getByRole("columnheader").allInnerTexts();
    const usual = ["", "Shipment", "State", "Customer", "From, to", "Booked, total ↓"];
    await expect.poll(heads).toEqual(usual);
    await page.getByText("Columns", { exact: true }).first().click();
    await page.getByRole("checkbox", { name: "Pickup" }).check();
    await page.getByRole("checkbox", { name: "From, to" }).uncheck();
    await expectWellShown(page, "columns");
    const chosen = ["", "Shipment", "State", "Customer", "Booked, total ↓", "Pickup"];
    await expect.poll(heads).toEqual(chosen);
    await saved.click();
    await page.getByRole("button", { name: "Save as my “All”" }).click();
    await page.getByText("Saved: All").waitFor();
    // Each queue has its own selection.
    await page.getByRole("link", { name: "To pay" }).click();
    await expect.poll(async () => (await heads()).includes("From, to")).toBe(true);
    await page.getByRole("link", { name: "Total", exact: true }).click();
    await page.waitForURL("**order_by=total+desc");
    await saved.click();
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name").fill("Dear ones");
    await page.getByLabel("Share it with the workspace").check();
    await pressInDialog(page, "Save");
    await page.getByText("Saved: Dear ones").waitFor();
    await link("All").click();
    await expect.poll(heads).toEqual(chosen);

    const viewer = { workspace, role: "viewer", email: "vic@example.org", name: "Vic" };
    const other = await openAsMember(dashboard, "/shipments", viewer);
    await rows(other).getByText("order 9").waitFor();
    await other.locator("summary", { hasText: "Saved" }).click();
    await expectWellShown(other, "shared-view");
    await other.getByRole("link", { name: "Dear ones by Ada Lovelace" }).click();
    await other.waitForURL("**/shipments?order_by=total+desc&status=1");
    await other.locator("summary", { hasText: "Saved: Dear ones" }).click();
    expect(await other.locator(".menu-content").getByRole("button").count()).toBe(0);
  });
});
