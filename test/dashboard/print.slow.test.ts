import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { book, bookAnd, BOOKING } from "../support/bookings.ts";
import { connectTo } from "../support/database.ts";
import { insertCustomers, insertShipments } from "../support/insert-shipments.ts";
import {
  chooseMore,
  describeDashboard,
  expectWellShown,
  holdBack,
  openAsMember,
  pressInDialog,
  rowsOf,
} from "./browser.ts";

describeDashboard("exports and printed pages", (dashboard) => {
  test("exports the list with its filters, like the API", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { apiKey } = workspace;
    await book(service, apiKey);
    await bookAnd(service, apiKey, ["pay"]);
    const page = await openAsMember(dashboard, "/shipments?status=2", {
      workspace,
      role: "viewer",
    });
    await page.getByText("Export", { exact: true }).click();
    await page.getByRole("button", { name: "CSV file of this list" }).click();
    const download = page.waitForEvent("download");
    await pressInDialog(page, "Export");
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^shipments-\d{4}-\d\d-\d\d\.csv$/);
    const path = "/v1/shipments/export?status=awaiting_pickup";
    const exported = await fetch(`${service.httpUrl}${path}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(await readFile(await file.path())).toEqual(Buffer.from(await exported.arrayBuffer()));
  });

  test("closing the dialog cancels an export", async () => {
    const page = await openAsMember(dashboard, "/shipments");
    await page.getByText("Export", { exact: true }).click();
    await page.getByRole("button", { name: "CSV file of this list" }).click();
    const { requested, release } = await holdBack(page, "ExportShipments");
    await pressInDialog(page, "Export");
    const request = await requested;
    // Exports have no deadline, because the timeout does not apply while data arrives.
    expect(await request.headerValue("connect-timeout-ms")).toBe(null);
    await page.keyboard.press("Escape");
    expect(await request.response()).toBe(null);
    release();
  });

  test("a label has the data for a courier, and a receipt the payment", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const shipment = await bookAnd(service, workspace.apiKey, ["pay"], {
      external_reference: "Order 7",
      dropoff_instructions: "Ring twice.\nCode 1234",
      package_count: 2,
      dropoff_handover: "leave_at_door",
    });
    const { reference, customer } = shipment;
    await service.as(workspace.apiKey).updateCustomer({ customer: customer.id, phone: "555 0100" });
    const page = await openAsMember(dashboard, `/shipments/${reference}`, {
      workspace,
      role: "viewer",
    });
    const { release } = await holdBack(page, "FindZones");
    await chooseMore(page, "Print label");
    const label = page.getByRole("article", { name: `Label for ${reference}` });
    await label.getByRole("img", { name: `QR code for ${reference}` }).waitFor();
    // The sheet does not wait for the zone and the phone number, but printing does.
    const print = page.getByRole("button", { name: "Print", exact: true });
    await expect.poll(() => label.locator("dd").first().innerText()).toBe("…");
    expect(await print.isDisabled()).toBe(true);
    release();
    await expect.poll(() => print.isDisabled()).toBe(false);
    // A reconnect reloads the sheet, which stays complete.
    await page.context().setOffline(true);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText("This page reconnects automatically").waitFor();
    const again = await holdBack(page, "FindZones");
    const reloaded = page.waitForResponse("**/GetShipment");
    await page.context().setOffline(false);
    await Promise.all([reloaded, again.requested]);
    expect(await label.locator("dd").first().innerText()).toBe("Kings");
    expect(await print.isDisabled()).toBe(false);
    again.release();
    await expect
      .poll(async () => (await label.innerText()).replace(/\n+/g, "\n"))
      .toBe(
        [
          "From",
          BOOKING.pickup_address,
          "To",
          BOOKING.customer_name,
          "555 0100",
          BOOKING.dropoff_address,
          "Ring twice. Code 1234",
          "Zone",
          "Kings",
          "Weight",
          "2.5 kg",
          "Packages",
          "2",
          "Handover",
          "Leave at the door",
          "Pick up",
          "As soon as possible",
          "Your reference",
          "Order 7",
          reference,
        ].join("\n"),
      );
    await expectWellShown(page, "label");
    await page.getByRole("link", { name: `← ${reference}` }).click();
    await chooseMore(page, "Receipt");
    await page.getByText("$12.69 paid.").waitFor();
    await page.getByRole("heading", { name: `Receipt ${reference.replace("SHP", "RCP")}` }).waitFor();
    await expect.poll(() => page.locator(".facts > div").first().innerText()).toBe("Seller\nTest");
    const year = new RegExp(`^Booked\\n.* ${new Date().getUTCFullYear()} at .* UTC$`);
    await expect.poll(() => page.locator(".facts > div", { hasText: "Booked" }).innerText()).toMatch(year);
    await expect
      .poll(() => page.locator("table.sum tr").allInnerTexts())
      .toEqual(["Distance, 9.532 km\t$11.44", "Weight, 2.5 kg\t$1.25", "Total\t$12.69"]);
    await expectWellShown(page, "receipt");
    // Only the sheets may be printed.
    await page.emulateMedia({ media: "print" });
    await expect.poll(() => page.getByRole("banner").isVisible()).toBe(false);
    await expect.poll(() => page.getByRole("button", { name: "Print" }).isVisible()).toBe(false);
    await expect.poll(() => page.getByText("$12.69 paid.").isVisible()).toBe(true);
  });

  test("an unpaid shipment has no receipt", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { reference } = await book(service, workspace.apiKey);
    const page = await openAsMember(dashboard, `/shipments/${reference}/receipt`, { workspace });
    await page.getByText("The receipt is available once the shipment is paid.").waitFor();
  });

  test("a manifest lists the pickups of each courier, and another day's only its own", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { apiKey, id } = workspace;
    const first = await bookAnd(service, apiKey, ["pay"], {
      pickup_address: "2 Broadway",
      pickup_contact_name: "Mary Jackson",
      pickup_contact_phone: "+17185550123",
      pickup_instructions: "Gate 4",
      dropoff_instructions: "Ring twice",
      package_count: 3,
    });
    const second = await bookAnd(service, apiKey, ["pay"], {
      pickup_address: "1 Broadway",
      recipient_phone: "+12125550100",
    });
    const as = service.as(apiKey);
    const { id: courier } = await data(as.createCourier({ name: "Grace", phone: "+12125550123" }));
    await as.assignCourier({ courier, shipments: [{ shipment: second["reference"], sequence: 4 }] });
    await book(service, apiKey);
    const sql = await connectTo(service.databaseUrl);
    const timed = await insertShipments(sql, {
      workspace: id,
      count: 4,
      customer: String(await insertCustomers(sql, id, 1)),
      status: "'awaiting_pickup'",
      paymentStatus: "'paid'",
      pickupAddress: "repeat('12 Broadway, New York ', i)",
      externalReference: "i || repeat('x', 99)",
      windows: `jsonb_build_object('dropoff', null, 'pickup', jsonb_build_object(
        'start', '2026-12-0' || (1 + i % 2) || 'T1' || (8 - i) || ':00:00.000Z',
        'end', '2026-12-02T20:00:00.000Z', 'timeZone', 'America/New_York', 'feeMinor', 0))`,
      salt: `manifest ${id}`,
    });
    const page = await openAsMember(dashboard, "/shipments?status=2", { workspace });
    await page.clock.setFixedTime("2026-12-01T17:00Z");
    await page.getByText("Export", { exact: true }).click();
    await page.getByRole("link", { name: "Daily manifest" }).click();
    const references = (table: string) =>
      rowsOf(page, table)
        .getByRole("rowheader")
        .evaluateAll((cells) => cells.map((cell) => cell.firstChild!.textContent));
    const unassigned = "No courier: 3 shipments, 7.5 kg";
    await expect.poll(() => references(unassigned)).toEqual([timed[3], timed[1], first["reference"]]);
    await expect.poll(() => references("Grace: 1 shipment, 2.5 kg")).toEqual([second["reference"]]);
    await expect.poll(() => rowsOf(page, "Grace: 1 shipment, 2.5 kg").locator(".tick").innerText()).toBe("4");
    await page.getByText(`${BOOKING.customer_name}, +12125550100`).waitFor();
    const texts = await rowsOf(page, unassigned).last().innerText();
    expect(texts.trim().split(/\s*\n\s*/)).toEqual([
      first["reference"],
      "2.5 kg · 3 packages",
      "As soon as possible\t2 Broadway",
      "Mary Jackson, +17185550123",
      "Gate 4",
      BOOKING.dropoff_address,
      BOOKING.customer_name,
      "Ring twice",
    ]);
    await expectWellShown(page, "manifest");
    await page.getByRole("link", { name: "By zone" }).click();
    const ofZone = "New York: 4 shipments, 10 kg";
    await expect.poll(() => references(ofZone)).toEqual([timed[3], timed[1], first["reference"], second["reference"]]);
    await expect.poll(() => page.getByRole("table").count()).toBe(1);
    const stops = rowsOf(page, ofZone).locator(".tick");
    await expect.poll(() => stops.allInnerTexts()).toEqual(["", "", "", ""]);
    await page.getByRole("link", { name: "By courier" }).click();
    // Addresses must have enough space on paper and on a phone, regardless of the other columns.
    const cell = (label: string) => page.locator(`[data-label="${label}"]`).first();
    const shareOf = async (label: string) =>
      (await cell(label).boundingBox())!.width / (await page.getByRole("table").first().boundingBox())!.width;
    await expect.poll(() => shareOf("From")).toBeCloseTo(0.27, 2);
    await expect.poll(() => shareOf("To")).toBeCloseTo(0.27, 2);
    await page.setViewportSize({ width: 390, height: 800 });
    await expect.poll(() => shareOf("From")).toBe(1);
    await expect.poll(() => shareOf("To")).toBe(1);
    await page.emulateMedia({ media: "print" });
    await expect.poll(() => shareOf("From")).toBeCloseTo(0.27, 2);
    await page.emulateMedia({ media: null });
    await page.getByLabel("Day of pickup").fill("2026-12-02");
    await expect.poll(() => references("No courier: 2 shipments, 5 kg")).toEqual([timed[2], timed[0]]);
    await expect.poll(() => page.getByRole("table").count()).toBe(1);
    // An invalid day falls back to today.
    await page.goto(`/w/${id}/shipments/manifest?day=soon`);
    await page.getByText(unassigned).waitFor();
    await page.goto(`/w/${id}/couriers/${courier}`);
    await page.getByRole("link", { name: "Today’s manifest" }).click();
    await expect.poll(() => references("Grace: 1 shipment, 2.5 kg")).toEqual([second["reference"]]);
    await expect.poll(() => page.getByRole("table").count()).toBe(1);
    await page.getByLabel("Day of pickup").fill("2026-12-02");
    await page.getByText("No pickups").first().waitFor();
  });

  test("prints one page per label for selected shipments, however long their addresses", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { apiKey } = workspace;
    const long = "12 Broadway, New York ".repeat(22);
    const fields = {
      pickup_address: long,
      dropoff_address: long,
      external_reference: "x".repeat(100),
    };
    const instructions = { dropoff_instructions: "Ring the bell twice. ".repeat(23) };
    const booked = await Promise.all([{}, fields, instructions].map((extra) => book(service, apiKey, extra)));
    const page = await openAsMember(dashboard, "/shipments", { workspace });
    for (const { reference } of booked) {
      await page.getByRole("checkbox", { name: `Select ${reference}` }).check();
    }
    await chooseMore(page, "Print labels");
    await expect.poll(() => page.getByRole("article").count()).toBe(3);
    await expectWellShown(page, "labels");
    const pdf = await page.pdf({ preferCSSPageSize: true });
    expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(3);
    await page.emulateMedia({ media: "print" });
    const cutOff = await page
      .locator("article, article p")
      .evaluateAll((all) => all.filter((it) => it.scrollHeight > it.clientHeight).length);
    expect(cutOff).toBe(0);
    await page.emulateMedia({ media: null });
    const many = Array.from({ length: 101 }, (_, i) => `shipment=SHP-${i}`).join("&");
    await page.goto(`/w/${workspace.id}/shipments/labels?${many}`);
    await page.getByText("Only the first 100 of 101 selected shipments are shown.").waitFor();
  });
});
