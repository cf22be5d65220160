import { describe, expect, test } from "vitest";
import { BOOKING, book, COVERED_ROUTE } from "../support/bookings.ts";
import { publishDocument } from "../support/publish-document.ts";
import type { TestWorkspace } from "../support/service.ts";
import { sampleText, SHIPMENT_TEXTS } from "../support/shipment-texts.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";
import { describeDashboard, expectWellShown, holdBack, openAsMember, type TestPage, untilMapDrawn } from "./browser.ts";

describeDashboard("quoting and booking", (dashboard) => {
  async function open(query = "", role = "member", workspace = dashboard.workspace) {
    const page = await openAsMember(dashboard, `/book${query}`, { workspace, role });
    await untilMapDrawn(page);
    return page;
  }

  const COVERED = "?pickup_lat=40.758&pickup_lng=-73.9855&dropoff_lat=40.6782&dropoff_lng=-73.9442&weight_kg=2.5";

  /** Fills in the addresses, and for a new customer also the name and email. */
  async function fillRest(page: TestPage, isNew = true): Promise<void> {
    await page.getByLabel("Pickup address").fill(BOOKING.pickup_address);
    await page.getByLabel("Dropoff address").fill(BOOKING.dropoff_address);
    if (!isNew) return;
    await page.getByLabel("Find customer").fill("Grace Hopper");
    await page.getByRole("option", { name: "New customer “Grace Hopper”" }).click();
    await page.getByLabel("Email", { exact: true }).fill("grace@example.org");
  }

  async function listed({ apiKey }: TestWorkspace): Promise<Record<string, any>[]> {
    return (await dashboard.service.request("/v1/shipments", { apiKey })).body.data;
  }

  const total = (page: TestPage) => page.locator(".quote strong data");
  const submit = (page: TestPage) => page.getByRole("button", { name: /^Book/ });

  test("the first click or key after a typed address reaches the next field", async () => {
    const page = await open();
    const [pickup, dropoff] = [page.getByLabel("Pickup address"), page.getByLabel("Dropoff address")];
    const weight = page.getByLabel("Weight in kg");
    await pickup.click();
    await page.keyboard.type("1 Main St");
    await dropoff.click();
    await page.keyboard.type("2 Main St");
    await weight.click();
    await page.keyboard.type("3");
    await page.keyboard.press("Shift+Tab");
    await expect.poll(() => weight.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(false);
    const values = await Promise.all([pickup, dropoff, weight].map((field) => field.inputValue()));
    expect(values).toEqual(["1 Main St", "2 Main St", "3"]);
  });

  test("books the points clicked on the map, once even if the button is clicked repeatedly", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("", "member", own);
    await page.getByText("The price appears when").waitFor();
    await clickWithinZone(page, 0.5);
    await expect.poll(() => page.getByLabel("Pickup latitude").inputValue()).toMatch(/^40\.\d+$/);
    await clickWithinZone(page, 0.65);
    await page.getByLabel("Weight in kg").fill("2,5");
    await total(page).waitFor();
    const shown = await total(page).getAttribute("value");
    await fillRest(page);
    await page.getByText("Instructions, packages and handover").click();
    await page.getByText("Reference and notes").click();
    const texts = Object.fromEntries(SHIPMENT_TEXTS.map(({ name }) => [name, sampleText(name, 1)]));
    for (const [name, text] of Object.entries(texts)) {
      await page.locator(`[name="${name}"]`).fill(text);
    }
    await page.getByLabel("Packages", { exact: true }).fill("2");
    await page.getByLabel("Handover").selectOption("Leave at the door");
    await page.getByLabel("If it cannot be delivered").selectOption("Dispose of it");
    await page.getByRole("button", { name: "Add item" }).click();
    await page.getByLabel("Name of item 1").fill("Tea");
    await page.getByLabel("Quantity of item 1").fill("3");
    await page.getByLabel("Your id of item 1").fill("sku-1");
    await page.getByRole("button", { name: "Add note" }).click();
    await page.getByLabel("Name of note 1").fill("gate");
    await page.getByLabel("Text of note 1").fill("B");
    await expectWellShown(page, "book");
    const field = (name: string) => page.getByLabel(name).inputValue().then(Number);
    const route = {
      pickup_lat: await field("Pickup latitude"),
      pickup_lng: await field("Pickup longitude"),
      dropoff_lat: await field("Dropoff latitude"),
      dropoff_lng: await field("Dropoff longitude"),
    };
    await submit(page).dblclick();
    await page.waitForURL("**/shipments/SHP-*");
    await page.getByText("To pay", { exact: true }).waitFor();
    const { external_reference: externalReference, ...others } = texts;
    for (const text of Object.values(others)) await page.getByText(text, { exact: true }).waitFor();
    await page.getByText(` · ${externalReference}`).waitFor();
    for (const text of ["Leave at the door", "Dispose of it"]) await page.getByText(text, { exact: true }).waitFor();
    await page.getByText("3 × Tea sku-1").waitFor();
    const shipments = await listed(own);
    expect(shipments).toHaveLength(1);
    expect(shipments[0]).toMatchObject({
      ...route,
      reference: page.url().split("/").at(-1),
      weight_kg: 2.5,
      total: Number(shown),
      pickup_address: BOOKING.pickup_address,
      customer: { name: "Grace Hopper", email: "grace@example.org" },
      created_by: `member.of.${own.id}@example.org`,
      ...texts,
      package_count: 2,
      dropoff_handover: "leave_at_door",
      dropoff_verification: "photo",
      if_undeliverable: "dispose",
      items: [{ name: "Tea", quantity: 3, external_id: "sku-1" }],
      metadata: { gate: "B" },
    });
  });

  test("retrying a booking with a lost response books once", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open(COVERED, "member", own);
    await total(page).waitFor();
    await fillRest(page);
    const address = "**/shipments.v1.ShipmentService/CreateShipment";
    await page.route(address, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await submit(page).click();
    await page.getByText("The service cannot be reached.", { exact: true }).waitFor();
    await page.unroute(address);
    await submit(page).click();
    await page.waitForURL("**/shipments/SHP-*");
    const references = (await listed(own)).map((it) => it["reference"]);
    expect(references).toEqual([page.url().split("/").at(-1)]);
  });

  test("stays on the page that is opened during a booking, which reports the result", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open(COVERED, "member", own);
    const { calls, release } = await holdBack(page, "CreateShipment");
    const bookAndLeave = async (count: number) => {
      await total(page).waitFor();
      await submit(page).click();
      await expect.poll(() => calls.length).toBe(count);
      await page.getByRole("link", { name: "Customers" }).click();
    };
    await bookAndLeave(1);
    await page.goBack();
    await total(page).waitFor();
    await fillRest(page);
    await bookAndLeave(2);
    release();
    await page.getByText("Book: ").waitFor();
    await page.getByText("Shipment booked.").waitFor();
    expect(await page.evaluate("location.pathname")).toBe(`/w/${own.id}/customers`);
    expect(await listed(own)).toHaveLength(1);
  });

  test("chooses locations with the keyboard, at the cross in the center of the map", async () => {
    const page = await open();
    await page.getByRole("application").focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByLabel("Pickup latitude").inputValue()).toMatch(/^40\.\d+$/);
    const [pickup, dropoff] = [
      await page.getByLabel("Pickup longitude").inputValue(),
      await page.getByLabel("Dropoff longitude").inputValue(),
    ];
    expect(Number(dropoff)).toBeGreaterThan(Number(pickup));
  });

  test("the price is that of the URL and follows typed and pasted changes", async () => {
    const page = await open(COVERED);
    await expect.poll(() => total(page).getAttribute("value")).toBe("12.69");
    await page.getByLabel("Weight in kg").fill("5");
    await expect.poll(() => total(page).getAttribute("value")).not.toBe("12.69");
    await expect.poll(() => new URL(page.url()).searchParams.get("weight_kg")).toBe("5");
    await page.getByLabel("Pickup latitude").fill("40.6782, -73.9442");
    await expect.poll(() => page.getByLabel("Pickup longitude").inputValue()).toBe("-73.9442");
    await page.getByText("for 0 km").waitFor();
    // All steps must fit on one screen, or on three phone screens.
    for (const [width, height, screens] of [
      [1440, 900, 1],
      [390, 800, 3],
    ] as const) {
      await page.setViewportSize({ width, height });
      const length = await page.evaluate<number>("document.documentElement.scrollHeight");
      expect({ width, isLonger: length > height * screens }).toEqual({ width, isLonger: false });
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.reload();
    await expect.poll(() => page.getByLabel("Pickup latitude").inputValue()).toBe("40.6782");
  });

  test("an uncovered location reports its distance to the zones and cannot be booked", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open(COVERED.replace("40.758", "41.9"), "member", own);
    await page.getByText(/pickup point is outside the coverage zones, \d+ km from/).waitFor();
    await page.getByText(/^Pickup is \d+ km outside the coverage zones\.$/).waitFor();
    await expectWellShown(page, "book-outside");
    await fillRest(page);
    await submit(page).click();
    await page.locator("form > .problem").waitFor();
    expect(await listed(own)).toEqual([]);
  });

  test("reports all missing fields of an empty booking together", async () => {
    const page = await open("");
    await page.getByText("The price appears when").waitFor();
    await submit(page).click();
    await page.locator(".field-error", { hasText: "Choose a customer." }).waitFor();
    const errors = page.locator(".field:has(.field-error) label");
    expect((await errors.allTextContents()).toSorted()).toEqual([
      "Dropoff address",
      "Dropoff latitude",
      "Dropoff longitude",
      "Find customer",
      "Pickup address",
      "Pickup latitude",
      "Pickup longitude",
      "Weight in kg",
    ]);
  });

  test("reports missing or invalid values at their fields", async () => {
    const page = await open(COVERED);
    await page.getByLabel("Find customer").fill("not an address");
    await page.getByRole("option", { name: "New customer" }).click();
    await page.getByLabel("Name", { exact: true }).fill("");
    await page.getByLabel("Email", { exact: true }).fill("not an address");
    await total(page).waitFor();
    await submit(page).click();
    const errors = page.locator(".field:has(.field-error) label");
    await expect.poll(() => errors.allTextContents()).toEqual(["Pickup address", "Dropoff address", "Name", "Email"]);
    await expectWellShown(page, "book-refused");

    // Changing a field removes only its own error and red border.
    const invalid = page.locator("[aria-invalid=true]");
    const texts = () => page.locator(".field-error, form [role=alert]").allTextContents();
    await expect
      .poll(texts)
      .toEqual([
        "Pickup address is required.",
        "Dropoff address is required.",
        "Name is required.",
        "Email must be a valid email address.",
        "Fix the highlighted fields.",
      ]);
    await page.getByLabel("Email", { exact: true }).fill("g");
    await expect
      .poll(texts)
      .toEqual(["Pickup address is required.", "Dropoff address is required.", "Name is required."]);
    await expect.poll(() => invalid.count()).toBe(3);
    await submit(page).click();
    await expect.poll(() => invalid.count()).toBe(4);
  });

  test("finds an existing customer by a part of the name or by the email", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    await book(service, own.apiKey, { customer_name: "Alan Turing", customer_email: "al@x.org" });
    await book(service, own.apiKey);
    const page = await open(COVERED, "member", own);
    await fillRest(page, false);
    await submit(page).click();
    await page.locator(".field-error", { hasText: "Choose a customer." }).waitFor();
    await expectWellShown(page, "book-customer");
    await page.getByLabel("Find customer").fill("AL@X.org");
    const found = page.getByRole("listbox").getByRole("option").filter({ hasNotText: "New customer" });
    await expect.poll(() => found.allTextContents()).toEqual(["Alan Turingal@x.org"]);
    await page.getByLabel("Find customer").fill("lovel");
    await expect.poll(() => found.allTextContents()).toEqual(["Ada Lovelaceada@example.org"]);
    await found.click();
    await submit(page).click();
    await page.waitForURL("**/shipments/SHP-*");
    const [made, before] = await listed(own);
    expect(made!["customer"]).toEqual(before!["customer"]);
  });

  describe("a price that changes before the booking", () => {
    const higherPrice = { ...SAMPLE_TARIFF, base_fee: "20.00" };

    test("does not affect a booking with the shown quote", async () => {
      const { service } = dashboard;
      const own = await service.addWorkspace();
      const page = await open(COVERED, "member", own);
      await expect.poll(() => total(page).getAttribute("value")).toBe("12.69");
      await fillRest(page);
      await publishDocument(service.app.em, higherPrice);
      await submit(page).click();
      await page.waitForURL("**/shipments/SHP-*");
      const [shipment] = await listed(own);
      expect(shipment).toMatchObject({ total: 12.69, quote_id: expect.stringMatching(/^quo_/) });
      await publishDocument(service.app.em, SAMPLE_TARIFF);
    });

    test("is shown if quotes are not honored, and must be seen before booking", async () => {
      const { service } = dashboard;
      const own = await service.addWorkspace();
      const page = await open(COVERED, "member", own);
      await expect.poll(() => total(page).getAttribute("value")).toBe("12.69");
      await fillRest(page);
      await publishDocument(service.app.em, higherPrice, { honoursQuotes: false });
      await submit(page).click();
      await page.getByText("The price has changed to $20.00.").waitFor();
      expect(await listed(own)).toEqual([]);
      await expect.poll(() => submit(page).textContent()).toBe("Book for $20.00");
      await submit(page).click();
      await page.waitForURL("**/shipments/SHP-*");
      expect((await listed(own)).map((it) => it["total"])).toEqual([20]);
      await publishDocument(service.app.em, SAMPLE_TARIFF);
    });
  });

  test("counts down how long the price holds and requests a new one when it expires", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    const page = await open(COVERED, "member", own);
    await page.clock.install();
    await page.reload();
    const left = page.getByRole("timer");
    await expect.poll(() => left.textContent()).toMatch(/^Valid for 1[45]:\d\d$/);
    // Again if the page requested a new quote meanwhile, as it does when its connection returns.
    const afterTen = () => page.clock.fastForward("10:00").then(() => left.textContent());
    await expect.poll(afterTen).toMatch(/^Valid for [45]:\d\d$/);
    await publishDocument(service.app.em, { ...SAMPLE_TARIFF, base_fee: "20.00" });
    const quote = { apiKey: own.apiKey, body: COVERED_ROUTE };
    const quoted = async () => (await service.request("/v1/quotes", quote)).body.total;
    await expect.poll(quoted).toBe(20);
    await page.clock.fastForward("05:00");
    await expect.poll(() => total(page).getAttribute("value")).toBe("20");
    await expect.poll(() => left.textContent()).toMatch(/^Valid for 1[45]:\d\d$/);
    await publishDocument(service.app.em, SAMPLE_TARIFF);
  });

  test("a workspace that cannot book shows the fix and still gives prices", async () => {
    const own = await dashboard.service.addWorkspace({ paymentProvider: undefined });
    const page = await open(COVERED, "member", own);
    await page.getByText("Bookings are currently blocked.").waitFor();
    await page.getByText("No payment provider accepts payments for this workspace.").waitFor();
    await total(page).waitFor();
    await expect.poll(() => submit(page).count()).toBe(0);
    await expectWellShown(page, "book-blocked");
  });

  test("a viewer gets prices but cannot book", async () => {
    const page = await open(COVERED, "viewer");
    await total(page).waitFor();
    await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toBe("Quote");
    await expect.poll(() => submit(page).count()).toBe(0);
    await expect.poll(() => page.getByLabel("Pickup address").count()).toBe(1);
    await expectWellShown(page, "quote");
  });
});

/** Clicks the map in a zone. `down` is the share of the map's height from the top. */
async function clickWithinZone(page: TestPage, down: number): Promise<void> {
  const canvas = page.getByRole("application", { name: /^Coverage/ });
  const box = (await canvas.boundingBox())!;
  const y = box.y + box.height * down;
  for (let across = 0.3; across < 0.7; across += 0.05) {
    const x = box.x + box.width * across;
    await page.mouse.move(x, y);
    const caption = await page.locator(".map figcaption").textContent();
    if (caption === "" || caption?.startsWith("Outside")) continue;
    await page.mouse.click(x, y);
    return;
  }
  throw new Error("the map shows no zone at this height");
}
