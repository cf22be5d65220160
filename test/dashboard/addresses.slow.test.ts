import { expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import { startGeocoder, type GeocoderStandIn } from "../support/geocoder.ts";
import { startService } from "../support/service.ts";
import {
  describeDashboard,
  expectWellShown,
  holdBack,
  openAsMember,
  tabTo,
  type TestPage,
  untilMapDrawn,
} from "./browser.ts";

const HOUSE = "12 West 44th Street, New York, 10036, United States";
const OTHER = "200 East 10th Street, New York, 10003, United States";

let standIn: GeocoderStandIn;

describeDashboard(
  "addresses with a geocoder",
  (dashboard) => {
    const open = async (query = "") => {
      const page = await openAsMember(dashboard, `/book${query}`);
      await untilMapDrawn(page);
      return page;
    };
    const box = (page: TestPage, end: string) => page.getByRole("combobox", { name: `${end} address` });
    const options = (page: TestPage) => page.getByRole("listbox").getByRole("option");
    const latitude = (page: TestPage, end: string) => page.locator(`[name=${end}_lat]`).inputValue();

    test("finds and chooses an address with the keyboard, which sets its point", async () => {
      const page = await open();
      const coordinates = page.locator(".fold summary").first();
      await expect.poll(() => coordinates.textContent()).toBe("Pickup coordinates not set");
      await tabTo(page, box(page, "Pickup"));
      await page.keyboard.type("12 west", { delay: 20 });
      await options(page).first().waitFor();
      await expect.poll(() => box(page, "Pickup").getAttribute("aria-expanded")).toBe("true");
      await expectWellShown(page, "address-suggestions");
      await page.keyboard.press("ArrowDown");
      const active = await box(page, "Pickup").getAttribute("aria-activedescendant");
      await expect.poll(() => page.locator(`[id="${active}"]`).getAttribute("aria-selected")).toBe("true");
      await page.keyboard.press("Enter");
      await expect.poll(() => box(page, "Pickup").inputValue()).toBe(HOUSE);
      await expect.poll(() => latitude(page, "pickup")).toBe("40.755");
      await expect.poll(() => coordinates.textContent()).toMatch(/^Pickup coordinates 40\.75500, -73\.\d{5}$/);
      expect(await page.getByLabel("Pickup latitude").isVisible()).toBe(false);
      await expect.poll(() => box(page, "Pickup").getAttribute("aria-expanded")).toBe("false");
      // Escape closes the list and keeps the typed text. Enter does not submit the form.
      await tabTo(page, box(page, "Dropoff"));
      await page.keyboard.type("200 east", { delay: 20 });
      await options(page).first().waitFor();
      await page.keyboard.press("Escape");
      await expect.poll(() => options(page).count()).toBe(0);
      await expect.poll(() => box(page, "Dropoff").inputValue()).toBe("200 east");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.locator(".field-error").count()).toBe(0);
      await page.keyboard.press("ArrowDown");
      await options(page).first().waitFor();
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      await expect.poll(() => box(page, "Dropoff").inputValue()).toBe(OTHER);
      await expect.poll(() => latitude(page, "dropoff")).toBe("40.73");
    });

    test("chooses an address by touch", async () => {
      const page = await openAsMember(dashboard, "/book", {}, { hasTouch: true });
      await box(page, "Pickup").fill("200 east");
      await options(page).first().tap();
      await expect.poll(() => box(page, "Pickup").inputValue()).toBe(OTHER);
      await expect.poll(() => latitude(page, "pickup")).toBe("40.73");
    });

    test("a click on the map fills an empty address but keeps a typed one, and a large distance is reported", async () => {
      const page = await open("?dropoff_lat=40.6782&dropoff_lng=-73.9442&weight_kg=2.5");
      await page.locator(".fold summary").first().click();
      await page.getByLabel("Pickup latitude").fill("40.7551, -73.9811");
      // Typed coordinates do not change the address text. A pin or a click does.
      await box(page, "Pickup").fill("200 East 10th Street");
      await box(page, "Pickup").blur();
      await page.getByText(/^The point on the map is 2\.8 km from this address\./).waitFor();
      await expectWellShown(page, "address-far");
      await expect.poll(() => latitude(page, "pickup")).toBe("40.7551");
      await box(page, "Pickup").fill("40.7302, -73.9861");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await expect.poll(() => box(page, "Pickup").inputValue()).toBe(OTHER);
      await expect.poll(() => latitude(page, "pickup")).toBe("40.7302");
    });

    test("moving a pin with the keyboard fills the address of its last position", async () => {
      const page = await open("?pickup_lat=40.7302&pickup_lng=-73.9861");
      const pin = page.getByRole("application", { name: /^Pickup at/ });
      await tabTo(page, pin);
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Tab");
      await expect.poll(() => box(page, "Pickup").inputValue()).toBe(OTHER);
      await page.getByRole("link", { name: "© OpenStreetMap contributors" }).waitFor();
    });

    test("a chosen address stays if the address of an earlier point arrives late", async () => {
      const page = await open("?pickup_lat=40.7302&pickup_lng=-73.9861");
      const { requested, release } = await holdBack(page, "ReverseGeocode");
      await page.getByRole("application", { name: /^Pickup at/ }).focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Tab");
      const request = await requested;
      await box(page, "Pickup").fill("12 west");
      await options(page).first().click();
      release();
      expect(await request.response()).toBe(null);
      await expect.poll(() => box(page, "Pickup").inputValue()).toBe(HOUSE);
      await expect.poll(() => latitude(page, "pickup")).toBe("40.755");
    });

    test("an address is reported as far away if its point moves and no address is found there", async () => {
      const page = await open();
      await box(page, "Pickup").fill("12 west");
      await options(page).first().click();
      await page.route("**/ReverseGeocode", (route) => route.abort());
      await page.getByRole("application", { name: /^Coverage/ }).focus();
      await page.keyboard.press("Enter");
      await page.getByText(/^The point on the map is [\d.]+ km from this address\./).waitFor();
      await expect.poll(() => box(page, "Pickup").inputValue()).toBe(HOUSE);
    });

    test("lists the chosen customer's recent addresses first", async () => {
      const { apiKey } = dashboard.workspace;
      const { customer } = await book(dashboard.service, apiKey, {
        customer_email: "recent@example.org",
        pickup_address: "12 Weston Yard",
      });
      const page = await open(`?customer=${customer.id}`);
      await box(page, "Pickup").click();
      await options(page).filter({ hasText: "12 Weston Yard" }).waitFor();
      await box(page, "Pickup").fill("12 west");
      await expect.poll(() => options(page).allTextContents()).toEqual(["12 Weston YardRecent", HOUSE]);
      await options(page).first().click();
      await expect.poll(() => latitude(page, "pickup")).toBe("40.758");
    });

    test("addresses can be typed and booked while the geocoder fails", async () => {
      standIn.answer = (response) => response.writeHead(500).end();
      const page = await openAsMember(dashboard, "/book");
      await box(page, "Pickup").fill("77 nowhere");
      await page.locator(".suggestions p", { hasText: "suggestions are unavailable" }).waitFor();
      standIn.answer = undefined;
      page.faults.length = 0;
    });
  },
  async () => {
    standIn = await startGeocoder("photon");
    return startService({ dashboard: true, ...standIn.settings });
  },
);
