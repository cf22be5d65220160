import { describe, expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { book, bookAnd, takeStep, type ShipmentJson } from "../support/bookings.ts";
import { SAMPLE_PICTURES } from "../../src/features/test-mode/sample-pictures.ts";
import { startReceiver } from "../support/receiver.ts";
import { sampleText, UPDATED_TEXTS } from "../support/shipment-texts.ts";
import {
  chooseMore,
  describeDashboard,
  expectWellShown,
  holdBack,
  openAsMember,
  pressInDialog,
  rowsOf,
  type TestPage,
} from "./browser.ts";

describeDashboard("shipment actions", (dashboard) => {
  async function open({ reference }: ShipmentJson, role = "admin", email = `${role}@example.org`) {
    const page = await openAsMember(dashboard, `/shipments/${reference}`, { email, role });
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
    return page;
  }

  async function read({ reference }: ShipmentJson): Promise<ShipmentJson> {
    const { apiKey } = dashboard.workspace;
    return (await dashboard.service.request(`/v1/shipments/${reference}`, { apiKey })).body.data;
  }

  const button = (page: TestPage, name: string) => page.getByRole("button", { name, exact: true });
  const dialog = (page: TestPage) => page.getByRole("dialog");
  const actions = (page: TestPage) => page.locator(".page-header .actions button").allTextContents();

  test("a member takes a shipment from payment to delivery", async () => {
    const shipment = await book(dashboard.service, dashboard.workspace.apiKey);
    const page = await open(shipment, "member");
    await expect.poll(() => actions(page)).toEqual(["Record payment", "Cancel shipment"]);
    await button(page, "Record payment").click();
    await expect.poll(() => dialog(page).getByLabel("Amount").inputValue()).toBe("12.69");
    await expect.poll(() => dialog(page).getByLabel("Currency").inputValue()).toBe("USD");
    await expectWellShown(page, "shipment-pay");
    await pressInDialog(page, "Record payment");
    await button(page, "Mark as picked up").click();
    await pressInDialog(page, "Mark as picked up");
    await button(page, "Mark as delivered").click();
    await pressInDialog(page, "Mark as delivered");
    await expect.poll(() => actions(page)).toEqual([]);
    expect(await read(shipment)).toMatchObject({ status: "delivered", payment_status: "paid" });
    await expect
      .poll(() => page.locator(".timeline li .minor").allTextContents())
      .toEqual(["member@example.org", expect.stringMatching(/^API key \w{4}$/)]);
  });

  test("a member assigns a courier, records a failed attempt, and records the return", async () => {
    const steps = ["pay", "advance"] as const;
    const shipment = await bookAnd(dashboard.service, dashboard.workspace.apiKey, steps);
    const page = await open(shipment, "member");
    await chooseMore(page, "Assign courier");
    await dialog(page).getByLabel("Name").fill("Ada Byron");
    await dialog(page).getByLabel("Phone").fill("555");
    await button(page, "Save courier").click();
    await dialog(page).locator(".field-error").waitFor();
    await expectWellShown(page, "shipment-courier");
    await dialog(page).getByLabel("Phone").fill("+12125550123");
    await button(page, "Save courier").click();
    await page.getByText("Ada Byron", { exact: true }).waitFor();
    await chooseMore(page, "Record attempt");
    await dialog(page).getByLabel("Reason").selectOption("No one there");
    await button(page, "Record attempt").click();
    await page.getByText("Failed attempt: No one there").waitFor();
    await expect
      .poll(() => page.locator(".timeline li > :is(span, p:not(.minor))").allTextContents())
      .toEqual(["Attempt failed", "No one there", "Courier assigned", "Ada Byron", "Picked up", "Paid", "Booked"]);
    await expectWellShown(page, "shipment-attempt");
    await chooseMore(page, "Mark as returned");
    await pressInDialog(page, "Mark as returned");
    await page.locator(".page-header").getByText("Returned", { exact: true }).waitFor();
    await expect.poll(() => actions(page)).toEqual([]);
    expect(await read(shipment)).toMatchObject({
      status: "returned",
      courier: { name: "Ada Byron", phone: "+12125550123" },
      attempts: [{ end: "dropoff", reason: "nobody_there", note: null }],
    });
  });

  test("a member sees the proof of delivery and waives a missing one", async () => {
    const { service, workspace } = dashboard;
    const shipment = await bookAnd(service, workspace.apiKey, ["pay", "advance"], {
      dropoff_verification: "pin",
    });
    const page = await open(shipment, "member");
    const proof = page.locator("section", { hasText: "Required at the door" });
    await proof.getByText(shipment["dropoff_pin"], { exact: true }).waitFor();
    await button(page, "Mark as delivered").click();
    await pressInDialog(page, "Mark as delivered");
    await dialog(page).getByText("cannot be delivered because its PIN was not recorded").waitFor();
    await page.keyboard.press("Escape");
    await chooseMore(page, "Record proof");
    await dialog(page).getByLabel("Received by").fill("Grace Hopper");
    await dialog(page).getByLabel("PIN").fill("12");
    await button(page, "Record proof").click();
    await dialog(page).locator(".field-error").waitFor();
    await dialog(page).getByLabel("PIN").fill("");
    await button(page, "Record proof").click();
    await proof.getByText("Grace Hopper").waitFor();
    const path = `/v1/shipments/${shipment["reference"]}/proof`;
    const pictures = {
      photo: SAMPLE_PICTURES.photo.toString("base64"),
      signature: SAMPLE_PICTURES.signature.toString("base64"),
    };
    await service.request(path, { apiKey: workspace.apiKey, body: pictures });
    const width = (name: string) =>
      proof.getByAltText(name).evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);
    await expect.poll(() => width("Photo taken at the door")).toBe(96);
    await expect.poll(() => width("Signature taken at the door")).toBe(72);
    await chooseMore(page, "Waive verification");
    await dialog(page).getByLabel("Reason").fill("Lost the PIN");
    await expectWellShown(page, "shipment-waive");
    await button(page, "Waive verification").click();
    await proof.getByText("Waived", { exact: true }).first().waitFor();
    await proof.getByText("Lost the PIN").waitFor();
    await page.locator(".timeline").getByText("Verification waived").waitFor();
    await expectWellShown(page, "shipment-proof");
    await button(page, "Mark as delivered").click();
    await pressInDialog(page, "Mark as delivered");
    await expect.poll(() => actions(page)).toEqual([]);
    expect(await read(shipment)).toMatchObject({ status: "delivered" });
  });

  test("a proof that was not required names no requirement", async () => {
    const { service, workspace } = dashboard;
    const shipment = await bookAnd(service, workspace.apiKey, ["pay", "advance"]);
    const proof = { shipment: shipment["reference"], received_by: "Grace Hopper" };
    await data(service.as(workspace.apiKey).recordProof(proof));
    const page = await open(shipment, "member");
    const section = page.locator("section", { has: page.getByRole("heading", { name: "Proof of delivery" }) });
    await expect.poll(() => section.locator("dt").allTextContents()).toEqual(["Received by", "Recorded"]);
  });

  test("refuses a payment of another amount at its field", async () => {
    const page = await open(await book(dashboard.service, dashboard.workspace.apiKey));
    await button(page, "Record payment").click();
    await dialog(page).getByLabel("Amount").fill("12.68");
    await pressInDialog(page, "Record payment");
    const refusal = dialog(page).locator(".field", { hasText: "Amount" }).locator(".field-error");
    await expect.poll(() => refusal.textContent()).toBe("Amount must be the shipment's total, which is 12.69.");
    await expect.poll(() => dialog(page).getByLabel("Amount").getAttribute("aria-invalid")).toBe("true");
    const { requested, release } = await holdBack(page, "RecordPayment");
    await pressInDialog(page, "Record payment");
    await requested;
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog(page).count()).toBe(0);
    // Once the dialog is closed, the page reports the refusal.
    release();
    await page.getByText("Record payment: Amount must be the shipment's total, which is 12.69.").waitFor();
  });

  test("cancels a paid shipment with a reason and a note, and records its refund", async () => {
    const shipment = await bookAnd(dashboard.service, dashboard.workspace.apiKey, ["pay"]);
    const page = await open(shipment);
    await chooseMore(page, "Cancel shipment");
    await dialog(page).getByText("so refund the $12.69 yourself, then record the refund.").waitFor();
    await dialog(page).getByLabel("Reason").selectOption("Requested by the customer");
    await dialog(page).getByLabel("Note").fill("By telephone");
    await expectWellShown(page, "shipment-cancel");
    await button(page, "Cancel shipment").click();
    await page.getByText("Refund due", { exact: true }).waitFor();
    expect(await read(shipment)).toMatchObject({
      status: "cancelled",
      payment_status: "refund_pending",
      cancel_reason: "customer_request",
      cancel_note: "By telephone",
    });
    await button(page, "Record refund").click();
    await pressInDialog(page, "Record refund");
    await page.getByText("Refunded").first().waitFor();
    expect(await read(shipment)).toMatchObject({ payment_status: "refunded" });
  });

  test("records a late payment after the cancellation, which is then to be refunded", async () => {
    const shipment = await bookAnd(dashboard.service, dashboard.workspace.apiKey, ["cancel"]);
    const page = await open(shipment);
    await chooseMore(page, "Record late payment");
    await pressInDialog(page, "Record late payment");
    await page.getByText("Refund due", { exact: true }).waitFor();
    expect(await read(shipment)).toMatchObject({ payment_status: "refund_pending" });
  });

  describe("editing", () => {
    test("changes route, weight, addresses, texts and notes, and shows the new price first", async () => {
      const texts = UPDATED_TEXTS.map((name) => [name, sampleText(name, 2)] as const);
      const booked = Object.fromEntries(UPDATED_TEXTS.map((name) => [name, sampleText(name, 1)]));
      const items = ["Tea", "Cake"].map((name) => ({ name, quantity: 2, external_id: null }));
      const fields = { ...booked, items, metadata: { gate: "B", floor: "3" } };
      const shipment = await book(dashboard.service, dashboard.workspace.apiKey, fields);
      const page = await open(shipment);
      await chooseMore(page, "Edit");
      await page.getByLabel("Pickup address").fill("2 Times Square");
      await page.getByLabel("Weight in kg").fill("5");
      await page.locator(".quote strong data").waitFor();
      for (const [name, text] of texts) {
        const field = page.locator(`[name="${name}"]`);
        await expect.poll(() => field.inputValue()).toBe(booked[name]);
        await field.fill(text);
      }
      await button(page, "Remove item 1").click();
      await page.getByLabel("Quantity of item 1").fill("5");
      await button(page, "Remove note 1").click();
      await page.getByLabel("Text of note 1").fill("4");
      await button(page, "Add note").click();
      await page.getByLabel("Name of note 2").fill("bell");
      await page.getByLabel("Text of note 2").fill("Ring twice");
      await expectWellShown(page, "shipment-edit");
      const total = await page.locator(".quote strong data").getAttribute("value");
      await button(page, "Save changes").click();
      await page.getByText("2 Times Square").waitFor();
      const changed = await read(shipment);
      expect(changed).toMatchObject({
        ...Object.fromEntries(texts),
        pickup_address: "2 Times Square",
        items: [{ name: "Cake", quantity: 5, external_id: null }],
        weight_kg: 5,
        total: Number(total),
      });
      const [first, second] = Object.keys(shipment["metadata"]);
      expect(changed["metadata"]).toEqual({ [second!]: "4", bell: "Ring twice" });
      expect(first).not.toBe(second);
    });

    test("reports an uncovered location at its field", async () => {
      const page = await open(await book(dashboard.service, dashboard.workspace.apiKey));
      await chooseMore(page, "Edit");
      await page.getByLabel("Pickup latitude").fill("95");
      await button(page, "Save changes").click();
      await page.locator(".field", { hasText: "Pickup latitude" }).locator(".field-error").waitFor();
      await page.getByLabel("Pickup latitude").fill("51");
      await page.getByText(/pickup point is outside the coverage zones, [\d,.]+ km/).waitFor();
    });

    test("reports a concurrent change and restarts from the current values", async () => {
      const { apiKey } = dashboard.workspace;
      const shipment = await bookAnd(dashboard.service, apiKey, ["pay"]);
      const page = await open(shipment);
      await chooseMore(page, "Edit");
      await page.getByLabel("Dropoff address").fill("My own");
      const change = { shipment: shipment["reference"], pickup_address: "Somebody else's" };
      await dashboard.service.as(apiKey).updateShipment(change);
      await button(page, "Save changes").click();
      await page.getByText("Someone else has changed the shipment").waitFor();
      expect(await read(shipment)).toMatchObject({ dropoff_address: shipment["dropoff_address"] });
      await expectWellShown(page, "shipment-stale");
      await button(page, "Reload").click();
      await expect.poll(() => page.getByLabel("Pickup address").inputValue()).toBe("Somebody else's");
      await page.getByLabel("Dropoff address").fill("My own");
      const { requested, release } = await holdBack(page, "UpdateShipment");
      await button(page, "Save changes").click();
      await requested;
      await page.getByRole("link", { name: "Customers" }).click();
      release();
      await page.getByText("Changes saved.").waitFor();
      // The page that was opened since stays.
      expect(await page.evaluate("location.pathname")).toBe(`/w/${dashboard.workspace.id}/customers`);
      expect(await read(shipment)).toMatchObject({
        pickup_address: "Somebody else's",
        dropoff_address: "My own",
      });
    });
  });

  test("shows the webhook deliveries of a shipment on request", async () => {
    const { apiKey } = dashboard.workspace;
    const receiver = await startReceiver();
    const { service } = dashboard;
    await service.request("/v1/webhooks", { apiKey, body: { url: receiver.url } });
    const shipment = await bookAnd(service, apiKey, ["cancel"]);
    await book(service, apiKey);
    await expect.poll(() => receiver.received.length).toBe(3);
    const page = await open(shipment);
    await button(page, "Show webhook deliveries").click();
    const rows = rowsOf(page, "Webhook deliveries");
    await expect.poll(() => rows.count()).toBe(2);
    await expect
      .poll(() => rows.locator("td:first-child").allTextContents())
      .toEqual(["shipment.cancelled", "shipment.created"]);
    await expectWellShown(page, "shipment-deliveries");
    await rows.first().getByRole("link").click();
    await page.getByRole("dialog").waitFor();
  });

  test("a viewer has no actions", async () => {
    const shipment = await book(dashboard.service, dashboard.workspace.apiKey);
    const page = await open(shipment, "viewer");
    await expect.poll(() => actions(page)).toEqual([]);
    await page.getByRole("link", { name: "Shipments", exact: true }).first().click();
    await page.getByRole("table", { name: "Shipments" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Book shipment" }).count()).toBe(0);
  });

  test("two browsers see each other's changes immediately", async () => {
    const shipment = await book(dashboard.service, dashboard.workspace.apiKey);
    const ann = await open(shipment, "member", "ann@example.org");
    const bob = await open(shipment, "member", "bob@example.org");
    await button(bob, "Record payment").click();
    await pressInDialog(bob, "Record payment");
    await button(ann, "Mark as picked up").waitFor();
    await ann.locator(".timeline").getByText("bob@example.org").first().waitFor();
    await button(ann, "Mark as picked up").click();
    await pressInDialog(ann, "Mark as picked up");
    await button(bob, "Mark as delivered").waitFor();
    await bob.locator(".timeline").getByText("ann@example.org").first().waitFor();
  });

  test("a dialog for an already changed shipment reports it and does not perform the next step", async () => {
    const { service } = dashboard;
    const shipment = await bookAnd(service, dashboard.workspace.apiKey, ["pay"]);
    const page = await open(shipment);
    await button(page, "Mark as picked up").click();
    await takeStep(service, dashboard.workspace.apiKey, shipment["reference"], "advance");
    await dialog(page).getByText("The shipment has changed").waitFor();
    await expectWellShown(page, "shipment-moved");
    await button(page, "Show shipment").click();
    expect(await read(shipment)).toMatchObject({ status: "in_transit" });
  });
});
