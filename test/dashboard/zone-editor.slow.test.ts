import type { Locator } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { book, COVERED_ROUTE } from "../support/bookings.ts";
import { draftsOf, type Drafts } from "../support/tariff-drafts.ts";
import { SAMPLE_TARIFF, square, zonesOf } from "../support/tariffs.ts";
import {
  describeDashboard,
  enter,
  expectUsable,
  expectWellShown,
  holdBack,
  openAsOperator,
  PHONE,
  pressInDialog,
  tabTo,
  type TestPage,
  untilMapDrawn,
} from "./browser.ts";

type Position = [lng: number, lat: number];

const [WEST, SOUTH, EAST, NORTH] = [-74.2, 40.5, -74, 40.7];

describeDashboard("the zone editor", (dashboard) => {
  let drafts: Drafts;

  beforeAll(async () => {
    const { key } = await dashboard.service.addOperator("operator");
    drafts = draftsOf(dashboard.service, key);
  });

  const begin = (zones: object, name: string) => drafts.begin({ ...SAMPLE_TARIFF, zones }, name);
  const featuresOf = async ({ id }: { readonly id: number }) =>
    (await drafts.call("GET", `tariff_drafts/${id}/zones`)).body.features;
  const tools = (page: TestPage, name: string) => page.getByRole("button", { name, exact: true });
  const corner = (page: TestPage, name: string) => page.getByRole("button", { name: new RegExp(`^${name} at`) });
  const open = async (draft: { readonly id: number }, options = {}) => {
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`, "operator", options);
    await untilMapDrawn(page);
    return page;
  };
  const save = async (page: TestPage) => {
    await tools(page, "Save zone").click();
    await page.getByText("Zone saved.").waitFor();
  };

  /** Returns the spot of a position on a map that shows the sample tariff's zones and a draft's zones. */
  const spotOf = async (page: TestPage, position: Position, zones: object) => {
    const { width, height } = (await page.locator(".map-view").boundingBox())!;
    const flat = (at: Position) => [at[0], (Math.asinh(Math.tan((at[1] * Math.PI) / 180)) * 180) / Math.PI] as const;
    const all = [SAMPLE_TARIFF["zones"], zones].flatMap((it) => positionsIn(it)).map(flat);
    const [left, right] = [Math.min(...all.map(([lng]) => lng)), Math.max(...all.map(([lng]) => lng))];
    const [bottom, top] = [Math.min(...all.map(([, lat]) => lat)), Math.max(...all.map(([, lat]) => lat))];
    const margin = Math.min(width, height) * 0.08;
    const degrees = Math.max((right - left) / (width - 2 * margin), (top - bottom) / (height - 2 * margin));
    const [lng, lat] = flat(position);
    return {
      x: width / 2 + (lng - (left + right) / 2) / degrees,
      y: height / 2 - (lat - (bottom + top) / 2) / degrees,
    };
  };

  const middleOf = async (handle: Locator) => {
    const { x, y, width, height } = (await handle.boundingBox())!;
    return [x + width / 2, y + height / 2] as const;
  };

  const drag = async (page: TestPage, handle: Locator, dx: number, dy: number) => {
    await page.locator(".map-view").scrollIntoViewIfNeeded();
    const [fromX, fromY] = await middleOf(handle);
    await page.mouse.move(fromX, fromY);
    await page.mouse.down();
    await page.mouse.move(fromX + dx, fromY + dy, { steps: 4 });
    await page.mouse.up();
  };

  test("a zone is drawn, snapped, changed, undone, saved, published and used by a quote", async () => {
    const zones = zonesOf(square(WEST, SOUTH, EAST, NORTH));
    const draft = await begin(zones, "Drawn");
    await book(dashboard.service, dashboard.workspace.apiKey);
    const page = await open(draft);
    const click = async (at: Position, dx = 0) => {
      const { x, y } = await spotOf(page, at, zones);
      await page.locator(".map-view").click({ position: { x: x + dx, y } });
    };
    await tools(page, "Draw zone").click();
    await page.getByLabel("Name of the zone").fill("East");
    await untilMapDrawn(page);
    // Two clicks beside the border snap to its corners.
    await click([EAST, NORTH], 6);
    await click([EAST, SOUTH], 6);
    await click([-73.8, SOUTH]);
    await click([-73.8, NORTH]);
    const status = page.getByRole("status").filter({ hasText: "km²" });
    await expect.poll(() => status.textContent()).toMatch(/^3\d\d[.\d]* km²$/);
    await expectWellShown(page, "zone-drawn");
    await tools(page, "Undo").click();
    await expect.poll(() => status.textContent()).toMatch(/^1\d\d[.\d]* km²$/);
    await tools(page, "Redo").click();
    await expect.poll(() => status.textContent()).toMatch(/^3\d\d[.\d]* km²$/);
    await tools(page, "Finish ring").click();
    await drag(page, corner(page, "Corner 4 of 4"), 0, -20);
    await page.keyboard.press("ControlOrMeta+Z");
    await drag(page, corner(page, "Corner 4 of 4"), 30, 0);
    // A ring in the zone is a hole.
    await tools(page, "Add ring").click();
    await click([-73.95, 40.55]);
    await click([-73.85, 40.55]);
    await click([-73.9, 40.65]);
    await save(page);
    await page.getByText("No errors, 3 tiers and 2 zones. It can be published.").waitFor();
    const [, east] = await featuresOf(draft);
    expect(east).toEqual({
      type: "Feature",
      properties: { name: "East" },
      geometry: {
        type: "Polygon",
        coordinates: [
          [
            [EAST, NORTH],
            [EAST, SOUTH],
            near(-73.8, SOUTH),
            [expect.any(Number), near(-73.8, NORTH)[1]],
            [EAST, NORTH],
          ],
          [near(-73.95, 40.55), near(-73.85, 40.55), near(-73.9, 40.65), near(-73.95, 40.55)],
        ],
      },
    });
    expect(east.geometry.coordinates[0][3][0]).toBeGreaterThan(-73.78);

    await tools(page, "Publish…").click();
    await page.getByRole("dialog").getByText("Served by neither").waitFor();
    await expectWellShown(page, "zone-publish");
    await pressInDialog(page, "Publish now");
    await page.getByText("Version 2 is in force.").waitFor();
    const quote = async (dropoff_lng: number, dropoff_lat: number) => {
      const route = { ...COVERED_ROUTE, pickup_lat: 40.6, pickup_lng: -74.1, dropoff_lat, dropoff_lng };
      const { apiKey } = dashboard.workspace;
      return (await dashboard.service.request("/v1/shipments/quote", { apiKey, body: route })).body.covered;
    };
    // The version before covers both places. The service uses the new one within a second.
    await expect.poll(() => quote(-73.9, 40.58)).toBe(false);
    expect(await quote(-73.82, 40.6)).toBe(true);
  });

  test("an error is marked at its place, and the zone is repaired, deleted and imported by paste", async () => {
    const bowtie: Position[][] = [
      [
        [-74, 40.5],
        [-73.8, 40.7],
        [-73.8, 40.5],
        [-74, 40.7],
        [-74, 40.5],
      ],
    ];
    const draft = await begin(zonesOf(square(WEST, SOUTH, EAST, NORTH), bowtie), "Crossed");
    const page = await open(draft);
    await tools(page, "Check draft").click();
    await tools(page, "Show on the map").click();
    await page.locator(".marks li[style] .mark.bad").waitFor();
    await expectWellShown(page, "zone-fault");
    await tools(page, "Edit zone").click();
    const middle = corner(page, "Add corner").first();
    await middle.waitFor();
    await drag(page, middle, 8, 8);
    await corner(page, "Corner . of 5").first().waitFor();
    await tools(page, "Delete corner").click();
    // Three corners do not cross each other.
    await corner(page, "Corner 2 of 4").click();
    await page.keyboard.press("Delete");
    await corner(page, "Corner 3 of 3").waitFor();
    await save(page);
    await page.getByText("No errors, 3 tiers and 2 zones. It can be published.").waitFor();
    expect((await featuresOf(draft))[1].geometry.coordinates[0]).toHaveLength(4);
    await tools(page, "Delete…").first().click();
    await pressInDialog(page, "Delete zone");
    await page.getByText("Zone 2 deleted.").waitFor();
    await tools(page, "Import…").click();
    await page.getByLabel("Or paste GeoJSON").fill(JSON.stringify(zonesOf(square(0, 0, 1, 1))));
    await page.getByLabel("Zones of the draft").selectOption("Add to the zones");
    await expectWellShown(page, "zone-import");
    await pressInDialog(page, "Import");
    await page.getByText("Imported the pasted text.").waitFor();
    expect(await featuresOf(draft)).toEqual([
      ...(zonesOf(square(WEST, SOUTH, EAST, NORTH)) as any).features,
      ...(zonesOf(square(0, 0, 1, 1)) as any).features,
    ]);
  });

  test("edits made while a zone is saved are kept, and its response does not change another page", async () => {
    const draft = await begin(zonesOf(), "Slow");
    const page = await open(draft);
    await tools(page, "Draw zone").click();
    await untilMapDrawn(page);
    for (const [x, y] of [
      [60, 60],
      [200, 60],
      [200, 160],
    ] as const) {
      await page.locator(".map-view").click({ position: { x, y } });
    }
    await tools(page, "Finish ring").click();
    const first = await holdBack(page, "zones?*");
    await tools(page, "Save zone").click();
    await first.requested;
    await page.getByLabel("Name of the zone").fill("Harbor");
    await corner(page, "Corner 2 of 3").click();
    await page.keyboard.press("Delete");
    await tools(page, "Undo").click();
    await page.getByLabel("Name of the zone").fill("Harbor");
    // Saving again requires the new etag.
    const reloaded = ["GetTariffDraft", "GetTariffDraftSchedules"].map((name) => page.waitForResponse(`**/${name}`));
    first.release();
    await page.getByText("Zone saved.").waitFor();
    expect(await page.getByLabel("Name of the zone").inputValue()).toBe("Harbor");
    await expect.poll(() => featuresOf(draft)).toHaveLength(1);
    await Promise.all(reloaded);
    const second = await holdBack(page, "zones?*");
    await tools(page, "Save zone").click();
    await second.requested;
    await page.getByRole("link", { name: "Operators" }).click();
    await pressInDialog(page, "Leave without saving");
    await page.getByRole("heading", { name: "Operators", level: 1 }).waitFor();
    const saved = page.waitForResponse((response) => response.request().method() === "PUT");
    second.release();
    await saved;
    const names = async () => (await featuresOf(draft)).map((feature: any) => feature.properties.name);
    await expect.poll(names).toEqual(["Harbor"]);
    expect(new URL(page.url()).search).toBe("");
  });

  test("an import that was interrupted can be repeated in the same dialog", async () => {
    const draft = await begin(zonesOf(), "Interrupted");
    const page = await open(draft);
    await tools(page, "Import…").click();
    const zones = JSON.stringify({ ...zonesOf(square(WEST, SOUTH, EAST, NORTH)), note: "x".repeat(1_500_000) });
    const buffer = Buffer.from(zones);
    await page.getByLabel("GeoJSON file").setInputFiles({ name: "zones.json", mimeType: "application/json", buffer });
    await page.route("**/zones?offset=1048576*", (route) => route.abort(), { times: 1 });
    await pressInDialog(page, "Import");
    await page.getByRole("alert").getByText("The service cannot be reached.").first().waitFor();
    await pressInDialog(page, "Import");
    await page.getByText("Imported zones.json.").waitFor();
    expect(await featuresOf(draft)).toHaveLength(1);
  });

  test("a zone is drawn and changed by keyboard", async () => {
    const draft = await begin(zonesOf(), "Keys");
    const page = await open(draft);
    await enter(page, tools(page, "Draw zone"));
    await page.locator("input[name=name]:focus").waitFor();
    await tabTo(page, page.getByRole("application"));
    await page.keyboard.press("Enter");
    for (const key of ["ArrowRight", "ArrowDown"]) {
      await page.keyboard.press(key);
      await page.keyboard.press("Enter");
    }
    await enter(page, tools(page, "Finish ring"));
    await tabTo(page, corner(page, "Corner 1 of 3"));
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("+");
    await corner(page, "Corner 3 of 4").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Delete");
    await corner(page, "Corner 2 of 3").and(page.locator(":focus")).waitFor();
    await expectUsable(page);
    // More steps than can be undone are still unsaved changes.
    for (let i = 0; i < 201; i++) await page.keyboard.press(i % 2 === 0 ? "ArrowDown" : "ArrowUp");
    for (let i = 0; i < 201; i++) await page.keyboard.press("ControlOrMeta+z");
    await expect.poll(() => tools(page, "Undo").isDisabled()).toBe(true);
    await enter(page, tools(page, "Save zone"));
    await page.getByText("Zone saved.").waitFor();
    const [{ geometry }] = await featuresOf(draft);
    const [first, second, third] = geometry.coordinates[0];
    expect([second[0] > first[0], second[1] < first[1], third[1] < first[1]]).toEqual([true, true, true]);
  });

  test("a zone is drawn and changed by touch", async () => {
    const draft = await begin(zonesOf(), "Touch");
    const page = await open(draft, PHONE);
    await tools(page, "Draw zone").tap();
    await untilMapDrawn(page);
    const map = page.locator(".map-view");
    for (const position of [
      [60, 60],
      [200, 60],
      [200, 160],
    ] as const) {
      const [x, y] = position;
      await map.tap({ position: { x, y } });
    }
    await tools(page, "Finish ring").tap();
    const handle = corner(page, "Corner 3 of 3");
    // Waits until the corner neither moves nor is covered.
    await handle.tap({ trial: true });
    const [x, y] = await middleOf(handle);
    const devtools = await page.context().newCDPSession(page);
    for (const [i, [dx, dy]] of [
      [0, 0],
      [10, 10],
      [40, 30],
    ].entries()) {
      const touchPoints = [{ x: x + dx!, y: y + dy! }];
      await devtools.send("Input.dispatchTouchEvent", { type: i === 0 ? "touchStart" : "touchMove", touchPoints });
    }
    await expect.poll(async () => Math.round((await middleOf(handle))[0] - x)).toBe(40);
    // A second finger on another corner moves none.
    const other = corner(page, "Corner 1 of 3");
    const [otherX, otherY] = await middleOf(other);
    for (const [i, dy] of [0, 10].entries()) {
      const touchPoints = [
        { id: 0, x: x + 40, y: y + 30 },
        { id: 1, x: otherX, y: otherY + dy },
      ];
      await devtools.send("Input.dispatchTouchEvent", { type: i === 0 ? "touchStart" : "touchMove", touchPoints });
    }
    expect((await middleOf(other)).map(Math.round)).toEqual([otherX, otherY].map(Math.round));
    await devtools.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await expectUsable(page);
    // Chromium sometimes drops the first tap after synthetic touch moves.
    await tools(page, "Save zone").click();
    await page.getByText("Zone saved.").waitFor();
    expect((await featuresOf(draft))[0].geometry.coordinates[0]).toHaveLength(4);
  });
});

function near(lng: number, lat: number) {
  return [expect.closeTo(lng, 1), expect.closeTo(lat, 1)];
}

/** Returns all positions in a GeoJSON value. */
function positionsIn(value: unknown): Position[] {
  if (Array.isArray(value) && typeof value[0] === "number") return [value as Position];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(positionsIn) : [];
}
