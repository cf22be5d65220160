import { expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { book, PAYMENT, takeStep } from "../support/bookings.ts";
import { insertPendingAndCancelled } from "../support/insert-shipments.ts";
import {
  describeDashboard,
  expectUsable,
  expectWellShown,
  holdBack,
  openAsMember,
  PHONE,
  rowsOf,
  type TestPage,
} from "./browser.ts";

/** Pickup points: two 600 m apart, three at one point, and a single one. */
const PICKUPS = [
  [40.758, -73.9855],
  [40.7625, -73.981],
  [40.85, -73.88],
  [40.85, -73.88],
  [40.85, -73.88],
  [40.73, -73.8],
] as const;

/** Two pickups at each of two points. */
const PAIRS = [PICKUPS[0], PICKUPS[0], PICKUPS[2], PICKUPS[2]];

describeDashboard("the shipment map", (dashboard) => {
  /** Creates a workspace with one shipment per pickup point. Returns the references. */
  async function addBooked(pickups: readonly (readonly [number, number])[] = PICKUPS) {
    const own = await dashboard.service.addWorkspace();
    const references: string[] = [];
    for (const [pickup_lat, pickup_lng] of pickups) {
      const booked = await book(dashboard.service, own.apiKey, { pickup_lat, pickup_lng });
      references.push(booked["reference"]);
    }
    return { own, references };
  }

  const marks = (page: TestPage) => page.getByRole("list", { name: "In view, largest first" }).getByRole("button");
  const names = (page: TestPage): Promise<string[]> =>
    marks(page).evaluateAll((found) => found.map((it) => it.getAttribute("aria-label")!));
  const focused = (page: TestPage) => page.evaluate<string | null>("document.activeElement.getAttribute('aria-label')");

  test("zooms clusters until they split and opens a shipment's card, with the keyboard", async () => {
    const { own, references } = await addBooked();
    const page = await openAsMember(dashboard, "/shipments", { workspace: own });
    await page.getByRole("navigation", { name: "View" }).getByRole("link", { name: "Map" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => names(page)).toEqual(["3 shipments", "2 shipments", references[5]]);
    await expect.poll(() => new URL(page.url()).search).toBe("?view=map");
    await page.getByText("All 6 are on the map.").waitFor();
    await expectWellShown(page, "shipment-map");
    await expect.poll(() => names(page)).toEqual(["3 shipments", "2 shipments", references[5]]);

    await page.getByRole("application", { name: /^Pickup locations/ }).focus();
    await page.keyboard.press("Tab");
    await expect.poll(() => focused(page)).toBe("3 shipments");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => focused(page)).toBe("2 shipments");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await names(page)).toSorted()).toEqual(references.slice(0, 2).toSorted());
    await expect.poll(() => focused(page)).toMatch(/^SHP-/);
    const reached = (await focused(page))!;
    await page.keyboard.press("Enter");
    const card = page.getByRole("region", { name: reached });
    await card.getByText("Ada Lovelace").waitFor();
    await expect
      .poll(() => card.getByRole("listitem").innerText())
      .toMatch(new RegExp(`^${reached}\\s+To pay\\s+Ada Lovelace\\s+1 Times Square, New York$`));
    await expectWellShown(page, "shipment-map-card");
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toBe(reached);
  });

  test("shows the rows next to the list and opens them below, or above if there is no space", async () => {
    const { own, references } = await addBooked();
    const page = await openAsMember(dashboard, "/shipments", { workspace: own });
    await page.setViewportSize({ width: 1440, height: 900 });
    const view = page.getByRole("navigation", { name: "View" });
    await view.getByRole("link", { name: "Both" }).click();
    await expect.poll(() => names(page)).toEqual(["3 shipments", "2 shipments", references[5]]);
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(6);
    await page.getByRole("button", { name: references[5]! }).click();
    await page.waitForURL(`**/shipments?view=both&open=${references[5]}`);
    const peek = page.getByRole("region", { name: "Opened beside the list" });
    await peek.getByText("Ada Lovelace").first().waitFor();
    await expectWellShown(page, "shipments-both");
    await peek.waitFor();
    await page.keyboard.press("Escape");
    await peek.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Failed payments" }).click();
    await page.getByText("No failed payments").waitFor();
    await expect.poll(() => page.locator(".map").count()).toBe(0);
  });

  test("phones offer the list and the map, and show the list at the address of both", async () => {
    const { own } = await addBooked();
    const page = await openAsMember(dashboard, "/shipments?view=both", { workspace: own }, PHONE);
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(6);
    const view = page.getByRole("navigation", { name: "View" });
    expect(await view.getByRole("link").allInnerTexts()).toEqual(["List", "Map"]);
    expect(await view.locator("[aria-current]").innerText()).toBe("List");
    expect(await page.locator(".map").count()).toBe(0);
  });

  test("new bookings and changes keep the card and the focus on their shipment", async () => {
    const { own, references } = await addBooked();
    const alone = references[5]!;
    const page = await openAsMember(dashboard, "/shipments?view=map", { workspace: own });
    await page.clock.install();
    await page.reload();
    const mark = page.getByRole("button", { name: alone });
    await mark.focus();
    await page.keyboard.press("Enter");
    const card = page.getByRole("region", { name: alone });
    await card.getByText("To pay").waitFor();
    const { reference } = await book(dashboard.service, own.apiKey, { pickup_lat: 40.66 });
    await takeStep(dashboard.service, own.apiKey, alone, "cancel");
    // The counts are updated before the map.
    await page.locator(".totals", { hasText: /^7 shipments/ }).waitFor();
    await page.clock.fastForward("00:30");
    await expect.poll(() => names(page)).toContain(reference);
    await card.getByText("Cancelled").waitFor();
    await expect.poll(() => card.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
    await expect.poll(() => mark.getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
    await expect.poll(() => mark.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
  });

  test("a card receives the focus from another card with the same name, and closes when its mark disappears", async () => {
    const { own, references } = await addBooked(PAIRS);
    const page = await openAsMember(dashboard, "/shipments?view=map", { workspace: own });
    await expect.poll(() => names(page)).toEqual(["2 shipments", "2 shipments"]);
    const card = page.getByRole("region", { name: "2 shipments" });
    const opened: string[] = [];
    for (const mark of await marks(page).all()) {
      await mark.click();
      await expect.poll(() => mark.getAttribute("aria-expanded")).toBe("true");
      await expect.poll(() => card.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
      opened.push(...(await card.getByRole("link").allInnerTexts()));
    }
    expect(opened.toSorted()).toEqual(references.toSorted());
    for (let i = 0; i < 8; i++) await page.getByRole("button", { name: "Zoom out" }).click();
    await expect.poll(() => names(page)).toEqual(["4 shipments"]);
    await card.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(() => names(page)).toEqual(["2 shipments", "2 shipments"]);
    await expect.poll(() => card.count()).toBe(0);
  });

  test("shows the other end in the same area, and keeps it while other filters load", async () => {
    const { own, references } = await addBooked();
    const page = await openAsMember(dashboard, "/shipments?view=map", { workspace: own });
    await expect.poll(() => names(page)).toContain("2 shipments");
    let loads = 0;
    page.on("request", (request) => {
      if (/\/(GetCoverage|ListShipments)$/.test(request.url())) loads++;
    });
    await page.getByRole("button", { name: "2 shipments" }).click();
    const near = references.slice(0, 2).toSorted();
    await expect.poll(async () => (await names(page)).toSorted()).toEqual(near);
    await page.getByRole("link", { name: "Dropoffs" }).click();
    await expect.poll(() => names(page)).toEqual([]);
    await page.getByRole("link", { name: "Pickups" }).click();
    await expect.poll(async () => (await names(page)).toSorted()).toEqual(near);
    expect(loads).toBe(0);

    const { release } = await holdBack(page, "ListShipments");
    await page.getByRole("link", { name: /^In transit/ }).click();
    const loaded = page.locator(".loaded", { has: page.locator(".shipment-map") });
    await expect.poll(() => loaded.getAttribute("aria-busy")).toBe("true");
    release();
    await page.getByText("No shipments in transit").waitFor();
  });

  test("shows the dropoffs of shipments in transit", async () => {
    const { own, references } = await addBooked([PICKUPS[0]]);
    for (const step of ["pay", "advance"] as const) await takeStep(dashboard.service, own.apiKey, references[0]!, step);
    const page = await openAsMember(dashboard, "/shipments?view=map", { workspace: own });
    await page.getByRole("application", { name: /^Pickup locations/ }).waitFor();
    await page.getByRole("link", { name: /^In transit/ }).click();
    await page.getByRole("application", { name: /^Dropoff locations/ }).waitFor();
  });

  test("shows the color of the longest delay on marks and clusters, and the delay on cards", async () => {
    const { own, references } = await addBooked([PICKUPS[0], PICKUPS[1], PICKUPS[5]]);
    const as = dashboard.service.as(own.apiKey);
    for (const [reference, age] of [
      [references[0], "3 days"],
      [references[2], "5 hours"],
    ] as const) {
      const { total: amount } = await data(as.getShipment({ shipment: reference! }));
      await data(as.recordPayment({ ...PAYMENT, shipment: reference!, amount }));
      await dashboard.service.app.em.execute(
        "update shipment set created_at = now() - ?::interval where workspace_id = ? and reference = ?",
        [age, own.id, reference],
      );
    }
    const page = await openAsMember(dashboard, "/shipments?view=map", { workspace: own });
    await expect.poll(() => names(page)).toEqual(["2 shipments, 1 late", `${references[2]}, late`]);
    await expect
      .poll(() => marks(page).evaluateAll((found) => found.map((it) => it.className.split(" ").at(-1))))
      .toEqual(["bad", "attention"]);
    await page.getByRole("button", { name: references[2]! }).click();
    const card = page.getByRole("region", { name: references[2]! });
    await expect.poll(() => card.locator(".late").textContent()).toBe("1 hr");
  });

  test("shows shipments at one location on one card, with links to their pages and back", async () => {
    const { own, references } = await addBooked();
    const page = await openAsMember(dashboard, "/shipments?view=map", { workspace: own });
    await marks(page).filter({ hasText: "3" }).click();
    const card = page.getByRole("region", { name: "3 shipments" });
    // Zooming in does not separate these shipments, but the map may zoom in first.
    const links = card.getByRole("link");
    await expect.poll(async () => (await links.allInnerTexts()).toSorted()).toEqual(references.slice(2, 5).toSorted());
    const first = await links.first().innerText();
    await links.first().click();
    await page.getByRole("heading", { name: first, level: 1 }).waitFor();
    await page.goBack();
    await expect.poll(() => names(page)).toContain("3 shipments");
  });

  test("shows dropoffs, filtered shipments and the list again", async () => {
    const { own, references } = await addBooked();
    const page = await openAsMember(dashboard, "/shipments?view=map", { workspace: own }, PHONE);
    const mark = page.getByRole("button", { name: references[5]! });
    await mark.tap();
    const card = page.getByRole("region", { name: references[5]! });
    await card.waitFor();
    await expectUsable(page);
    await page.getByRole("button", { name: "Close" }).tap();
    await card.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Dropoffs" }).tap();
    await expect.poll(() => names(page)).toEqual(["6 shipments"]);
    await expect.poll(() => new URL(page.url()).search).toBe("?view=map&end=dropoff");
    await marks(page).tap();
    await page.getByRole("region", { name: "6 shipments" }).waitFor();
    await page.getByRole("button", { name: "Close" }).tap();
    await page
      .getByRole("navigation", { name: "Queues" })
      .getByRole("link", { name: /^In transit/ })
      .tap();
    await page.getByText("No shipments in transit").waitFor();
    await page.getByRole("navigation", { name: "View" }).getByRole("link", { name: "List" }).tap();
    await expect.poll(() => new URL(page.url()).search).toBe("?status=3");
  });

  test("opens after a new deployment by reloading the page", async () => {
    const { own } = await addBooked();
    const page = await openAsMember(dashboard, "/shipments", { workspace: own });
    await expect.poll(() => rowsOf(page, "Shipments").count()).toBe(6);
    let isReloaded = false;
    page.on("request", (request) => {
      if (request.isNavigationRequest()) isReloaded = true;
    });
    await page.route("**/assets/shipment-map-*.js", (route) =>
      isReloaded ? route.continue() : route.fulfill({ status: 404 }),
    );
    await page.getByRole("navigation", { name: "View" }).getByRole("link", { name: "Map" }).click();
    await expect.poll(() => names(page)).toHaveLength(3);
    expect(isReloaded).toBe(true);
  });

  test("shows the number of shown and total shipments next to a list with several pages", async () => {
    const own = await dashboard.service.addWorkspace();
    await insertPendingAndCancelled(dashboard.service.databaseUrl, {
      workspace: own.id,
      count: 81,
      createdAt: "timestamptz '2026-01-01 00:00Z' + i * interval '1 minute'",
    });
    const page = await openAsMember(dashboard, "/shipments?view=both", { workspace: own });
    await page.getByText("50 of 81 are on the map: those of this page.").waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("31 of 81 are on the map: those of this page.").waitFor();
    await expectWellShown(page, "shipments-both-pages");
  });

  test("shows the newest 200 shipments, or up to 1,000 on request, and states the number", async () => {
    const own = await dashboard.service.addWorkspace();
    await insertPendingAndCancelled(dashboard.service.databaseUrl, {
      workspace: own.id,
      count: 1_001,
      createdAt: "timestamptz '2026-01-01 00:00Z' + i * interval '1 minute'",
    });
    const page = await openAsMember(dashboard, "/shipments?view=map", { workspace: own });
    let calls = 0;
    page.on("request", (request) => request.url().endsWith("/ListShipments") && calls++);
    await page.reload();
    await page.getByText("The newest 200 are on the map. Amber or red: at least half are late.").waitFor();
    expect(calls).toBeLessThanOrEqual(2);
    await page.getByRole("button", { name: "Show up to 1,000" }).click();
    await page.getByText("The newest 1,000 are on the map. Amber or red: at least half are late.").waitFor();
    await expect.poll(() => names(page)).toEqual(["1,000 shipments"]);
  });
});
