import { join } from "node:path";
import { expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { bookAnd, takeStep } from "../support/bookings.ts";
import { startService } from "../support/service.ts";
import { plainTile, type Rgb, startTileServer, writePmtiles } from "../support/tiles.ts";
import { ownFolder } from "../support/when-over.ts";
import { describeDashboard, expectWellShown, openAsMember, type TestPage, untilMapDrawn } from "./browser.ts";

const ROUTE = "pickup_lat=40.758&pickup_lng=-73.9855&dropoff_lat=40.6782&dropoff_lng=-73.9442&weight_kg=2.5";

describeDashboard("the map", (dashboard) => {
  async function openBooking(context = {}) {
    const page = await openAsMember(dashboard, `/book?${ROUTE}`, {}, context);
    await untilMapDrawn(page);
    return page;
  }

  const pin = (page: TestPage, end: string) =>
    page.getByRole("application", { name: new RegExp(`^${end} at .+ Arrow keys move it$`) });

  async function middleOf(page: TestPage, end: string) {
    const { x, y, width, height } = (await pin(page, end).boundingBox())!;
    return { x: x + width / 2, y: y + height / 2 };
  }

  const pinsOf = (page: TestPage) => page.locator(".map .pin").allTextContents();

  const field = async (page: TestPage, name: string) =>
    Number(await page.getByLabel(name, { exact: true }).inputValue());

  const pointOf = async (page: TestPage, end: string) => ({
    lat: await field(page, `${end} latitude`),
    lng: await field(page, `${end} longitude`),
  });

  test("a dragged pin stays in its position, and the fields, address and price follow", async () => {
    const page = await openBooking();
    const total = page.locator(".quote strong data");
    await expect.poll(() => total.getAttribute("value")).toBe("12.69");
    const from = await middleOf(page, "Pickup");
    await page.mouse.move(from.x + 3, from.y - 2);
    await page.mouse.down();
    await page.mouse.move(from.x + 33, from.y + 38, { steps: 4 });
    // The point is set only when the pin is dropped.
    await expect.poll(() => pointOf(page, "Pickup")).toEqual({ lat: 40.758, lng: -73.9855 });
    await page.mouse.up();
    const point = await pointOf(page, "Pickup");
    expect(point.lat).toBeLessThan(40.758);
    expect(point.lng).toBeGreaterThan(-73.9855);
    const way = async () => {
      const to = await middleOf(page, "Pickup");
      return [Math.round(to.x - from.x), Math.round(to.y - from.y)];
    };
    await expect.poll(way).toEqual([30, 40]);
    await expect.poll(() => pointOf(page, "Dropoff")).toEqual({ lat: 40.6782, lng: -73.9442 });
    await expect.poll(() => new URL(page.url()).searchParams.get("pickup_lat")).toBe(String(point.lat));
    await expect.poll(() => total.getAttribute("value")).not.toBe("12.69");
  });

  test("a click moves a point of a complete route only after its field had the focus", async () => {
    const page = await openBooking();
    const clickBesidePickup = async () => {
      const { x, y } = await middleOf(page, "Pickup");
      await page.mouse.click(x - 40, y + 40);
    };
    await clickBesidePickup();
    await page.getByLabel("Pickup address").focus();
    await clickBesidePickup();
    await expect.poll(() => field(page, "Pickup latitude")).toBeLessThan(40.758);
    expect(await pointOf(page, "Dropoff")).toEqual({ lat: 40.6782, lng: -73.9442 });
  });

  test("arrow keys move a focused pin, and Escape resets it", async () => {
    const page = await openBooking();
    await pin(page, "Dropoff").focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
    const point = await pointOf(page, "Dropoff");
    expect(point.lng).toBeGreaterThan(-73.9442);
    expect(point.lat).toBeCloseTo(40.6782, 4);
    await page
      .locator("figcaption")
      .getByText(`Kings · ${point.lat.toFixed(4)}, ${point.lng.toFixed(4)}`)
      .waitFor();
    const { y } = await middleOf(page, "Dropoff");
    await page.keyboard.down("ArrowUp");
    await expect.poll(async () => (await middleOf(page, "Dropoff")).y).toBeLessThan(y);
    await page.keyboard.press("Escape");
    await page.keyboard.up("ArrowUp");
    await expect.poll(() => pointOf(page, "Dropoff")).toEqual(point);
    await expect
      .poll(() => pin(page, "Dropoff").getAttribute("aria-label"))
      .toBe(`Dropoff at ${point.lat}, ${point.lng}. Arrow keys move it`);
  });

  test("Tab reaches every control of the map in order", async () => {
    const page = await openBooking();
    await page.getByRole("application", { name: /^Coverage/ }).focus();
    const labels: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      await page.keyboard.press("Tab");
      labels.push(
        await page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent.slice(1)"),
      );
    }
    expect(labels).toEqual([
      "Pickup at 40.758, -73.9855. Arrow keys move it",
      "Dropoff at 40.6782, -73.9442. Arrow keys move it",
      "Zoom in",
      "Zoom out",
      "Show all",
    ]);
  });

  test("on a phone one finger scrolls the page, two zoom the map, and a pin can be dragged", async () => {
    const phone = { viewport: { width: 390, height: 1000 }, hasTouch: true, isMobile: true };
    const page = await openBooking(phone);
    const devtools = await page.context().newCDPSession(page);
    const touch = async (...steps: (readonly (readonly [x: number, y: number])[])[]) => {
      for (const [i, step] of steps.entries()) {
        const touchPoints = step.map(([x, y], id) => ({ x, y, id }));
        const type = i === 0 ? "touchStart" : "touchMove";
        await devtools.send("Input.dispatchTouchEvent", { type, touchPoints });
      }
      await devtools.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    };
    const apart = async () => {
      const [from, to] = [await middleOf(page, "Pickup"), await middleOf(page, "Dropoff")];
      return Math.hypot(from.x - to.x, from.y - to.y);
    };
    const box = (await page.locator(".map").boundingBox())!;
    const [x, y] = [box.x + box.width * 0.3, box.y + box.height * 0.6];
    const before = await apart();
    await page.evaluate("void (window.scrolled = new Promise((over) => addEventListener('scrollend', over)))");
    await touch([[x, y]], [[x, y - 40]], [[x, y - 80]], [[x, y - 120]]);
    // Scrolling continues for a moment after the touch has ended.
    await page.evaluate("window.scrolled.then(() => undefined)");
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(50);
    await expect.poll(apart).toBeCloseTo(before, 0);
    await expect.poll(() => pointOf(page, "Pickup")).toEqual({ lat: 40.758, lng: -73.9855 });

    await page.evaluate("scrollTo(0, 0)");
    const fingers = (half: number) =>
      [
        [x + 50 - half, y],
        [x + 50 + half, y],
      ] as const;
    await touch(fingers(20), fingers(30), fingers(40));
    await expect.poll(apart).toBeGreaterThan(before * 1.5);
    await expect.poll(() => page.evaluate("scrollY")).toBe(0);
    await expect.poll(() => pointOf(page, "Pickup")).toEqual({ lat: 40.758, lng: -73.9855 });

    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(apart).toBeCloseTo(before, 0);
    const at = await middleOf(page, "Dropoff");
    await touch([[at.x, at.y]], [[at.x - 10, at.y - 20]], [[at.x - 20, at.y - 40]]);
    await expect.poll(async () => (await pointOf(page, "Dropoff")).lat).toBeGreaterThan(40.6782);
    await expect.poll(() => page.evaluate("scrollY")).toBe(0);
  });

  test("shows the courier's location while a shipment is in transit, with pins that cannot be moved", async () => {
    const { service, workspace } = dashboard;
    const { reference: shipment } = await bookAnd(service, workspace.apiKey, ["pay", "advance"]);
    const as = service.as(workspace.apiKey);
    const page = await openAsMember(dashboard, `/shipments/${shipment}`);
    await page.clock.install();
    await page.reload();
    await page.locator(".map .pin.dropoff").waitFor();
    await expect.poll(() => page.getByRole("application").count()).toBe(1);
    let requestCount = 0;
    page.on("request", (request) => request.url().includes("GetCourierPlace") && requestCount++);
    await page.clock.runFor(10_000);
    expect(requestCount).toBe(0);
    await data(as.setCourier({ shipment, name: "Ada" }));
    const seen = page.locator(".stop p", { hasText: /^Seen / });
    const after10s = async () => {
      await page.clock.runFor(10_000);
      return { seen: await seen.allTextContents(), pins: await pinsOf(page) };
    };
    await expect.poll(after10s).toEqual({ seen: [], pins: ["P", "D"] });
    // A position far from the route, but still visible.
    await as.reportPlaces({ places: [{ shipment, lat: 40.6, lng: -74.1 }] });
    await expect.poll(async () => (await after10s()).pins).toEqual(["P", "D", "C"]);
    await expect.poll(() => seen.locator("time").count()).toBe(1);
    const map = (await page.locator(".map").boundingBox())!;
    const isInView = async () => {
      // The map uses the same clock and is drawn after the pin appears.
      await page.clock.runFor(100);
      const pin = (await page.locator(".map .pin.courier").boundingBox())!;
      return pin.x > map.x && pin.y + pin.height < map.y + map.height;
    };
    await expect.poll(isInView).toBe(true);
    await expectWellShown(page, "shipment-courier-place");
    await takeStep(service, workspace.apiKey, shipment, "advance");
    await expect.poll(after10s).toEqual({ seen: [], pins: ["P", "D"] });
  });

  test("shows land and water below the zones, from files that are loaded with the map", async () => {
    const page = await openAsMember(dashboard, "/customers");
    const files: { url: string; headers: Record<string, string>; bytes: number }[] = [];
    page.on("response", async (response) => {
      if (!response.url().endsWith(".json")) return;
      const { responseBodySize: bytes } = await response.request().sizes();
      files.push({ url: response.url(), headers: response.headers(), bytes });
    });
    await page.goto(`/w/${dashboard.workspace.id}/shipments`);
    await page.getByRole("heading", { name: "Shipments" }).waitFor();
    expect(files).toEqual([]);
    await page.goto(`/w/${dashboard.workspace.id}/book?${ROUTE}`);
    await page.getByText("Natural Earth, GeoNames").waitFor();
    await expect.poll(() => files.length).toBe(2);
    for (const { headers } of files) {
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "content-encoding": "br",
        "cache-control": "public, max-age=31536000, immutable",
      });
    }
    // Common map libraries are larger.
    expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(300_000);
    for (let i = 0; i < 16; i++) await page.getByRole("button", { name: "Zoom out" }).click();
    await expect.poll(async () => shareOf(page, await colorOf(page, "water"))).toBeGreaterThan(0.1);
    await expect.poll(async () => shareOf(page, await colorOf(page, "land"))).toBeGreaterThan(0.1);
    await expectWellShown(page, "map-ground");
  });
});

const TILE_COLOR: Rgb = [220, 180, 60];
const tileServer = await startTileServer(plainTile(TILE_COLOR));
const otherServer = await startTileServer(plainTile(TILE_COLOR));

describeDashboard(
  "a map with tiles from a server",
  (dashboard) => {
    test("loads tiles from that server with only the origin as referrer, and from no other", async () => {
      const page = await openAsMember(dashboard, `/book?${ROUTE}`);
      await page.getByText("© Tiles of the test").waitFor();
      await expect.poll(() => shareOf(page, TILE_COLOR)).toBeGreaterThan(0.2);
      expect(new Set(tileServer.requests.map(({ referer }) => referer))).toEqual(
        new Set([`${dashboard.service.httpUrl}/`]),
      );
      for (const { path } of tileServer.requests) expect(path).toMatch(/^\/\d+\/\d+\/\d+\.png$/);
      // Checks that the policy blocks requests to other hosts.
      const isBlocked = await page.evaluate(`new Promise((resolve) => {
        const image = new Image();
        image.onload = () => resolve(false);
        image.onerror = () => resolve(true);
        image.src = "${otherServer.url}/1/0/0.png";
      })`);
      expect({ isBlocked, requests: otherServer.requests }).toEqual({ isBlocked: true, requests: [] });
      const faults = page.faults.splice(0);
      const unexpected = faults.filter((text) => !text.startsWith(`request: ${tileServer.url}/`));
      expect(unexpected.join("\n")).toMatch(/^[^\n]*violates the following Content Security Policy/);
      expect(unexpected.every((text) => text.includes(otherServer.url))).toBe(true);
    });
  },
  () =>
    startService({
      dashboard: true,
      mapTiles: { url: `${tileServer.url}/{z}/{x}/{y}.png`, attribution: "© Tiles of the test" },
    }),
);

const archive = join(ownFolder("map"), "world.pmtiles");
writePmtiles(archive, plainTile(TILE_COLOR), { maxZoom: 3 });

describeDashboard(
  "a map with tiles from a file",
  (dashboard) => {
    test("shows tiles of the nearest scale, loaded in ranges from the service", async () => {
      const page = await openAsMember(dashboard, "/customers");
      const ranges: (string | undefined)[] = [];
      page.on("request", (request) => {
        if (request.url().endsWith("/map/tiles.pmtiles")) ranges.push(request.headers()["range"]);
      });
      await page.goto(`/w/${dashboard.workspace.id}/book?${ROUTE}`);
      await page.getByText("© File of the test").waitFor();
      await expect.poll(() => shareOf(page, TILE_COLOR)).toBeGreaterThan(0.2);
      expect(ranges[0]).toBe("bytes=0-16383");
      expect(ranges.every((range) => /^bytes=\d+-\d+$/.test(range ?? ""))).toBe(true);
    });
  },
  () =>
    startService({
      dashboard: true,
      mapTiles: { file: archive, attribution: "© File of the test" },
    }),
);

/** Returns a color that the stylesheet defines under a name. */
async function colorOf(page: TestPage, name: string): Promise<Rgb> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector(".map");
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = getComputedStyle(canvas).getPropertyValue("--map-${name}");
    return /#(..)(..)(..)/.exec(context.fillStyle).slice(1).map((hex) => parseInt(hex, 16));
  })()`);
}

/**
 * Returns the share of the map that has a color. Reads a screenshot, because the page cannot read
 * images from another site.
 */
async function shareOf(page: TestPage, color: Rgb): Promise<number> {
  const picture = await page.locator(".map").screenshot();
  return page.evaluate(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${picture.toString("base64")}";
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (${JSON.stringify(color)}.every((value, j) => data[i + j] === value)) count++;
    }
    return (count * 4) / data.length;
  })()`);
}
