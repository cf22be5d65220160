import { expect, test } from "vitest";
import { bookAnd, takeStep } from "../support/bookings.ts";
import { data } from "../support/answers.ts";
import type { TestClient } from "../support/client.ts";
import { SAMPLE_PICTURES } from "../../src/features/test-mode/sample-pictures.ts";
import { startService } from "../support/service.ts";
import { chooseMore, describeDashboard, expectWellShown, openAsMember } from "../dashboard/browser.ts";

const PUBLIC_URL = "http://book.example.org";
const NARROWEST = 320;
const POLL_MS = 15_000;
const LIVE_POLL_MS = 60_000;

const start = () => startService({ dashboard: true, publicUrl: PUBLIC_URL });

describeDashboard(
  "the recipient's tracking page",
  (dashboard) => {
    /** Sends a courier's reports about a shipment in transit whose first delivery failed. */
    const report = async (as: TestClient, shipment: string) => {
      await data(as.setCourier({ shipment, name: "Ada Byron", vehicle: "Cargo bike" }));
      await data(as.recordAttempt({ shipment, reason: "nobody_there" }));
      await data(
        as.reportProgress({
          shipment,
          dropoff_eta: new Date(Date.now() + 3_600_000).toISOString(),
        }),
      );
    };

    const pathOf = (url: string) => new URL(url).pathname;

    test.each(["en-US", "de-DE", "es-ES", "fr-FR"])("has a valid layout in %s, at every size", async (locale) => {
      const { service, workspace } = dashboard;
      await data(service.as(workspace.apiKey).updateWorkspace({ tracking_contact: "help@example.org" }));
      for (const [steps, key] of [
        [["pay", "advance"], workspace.apiKey],
        [["pay", "cancel"], workspace.twin.apiKey],
      ] as const) {
        const { tracking_url: url, reference } = await bookAnd(service, key, steps);
        if (steps[1] === "advance") await report(service.as(key), reference);
        const page = await dashboard.newPage({ locale });
        await page.setViewportSize({ width: NARROWEST, height: 800 });
        await page.goto(pathOf(url));
        await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(NARROWEST);
        await expectWellShown(page, `tracking-${locale}-${steps.at(-1)}`);
      }
    });

    test("shows its recipient the address and the photo", async () => {
      const { service, workspace } = dashboard;
      const as = service.as(workspace.apiKey);
      const { tracking_url: url, reference: shipment } = await bookAnd(service, workspace.apiKey, ["pay", "advance"], {
        recipient_phone: "+12025550123",
        dropoff_address: "95 Prospect Park West",
      });
      await data(as.recordProof({ shipment, photo: SAMPLE_PICTURES.photo.toString("base64") }));
      const page = await dashboard.newPage();
      await page.setViewportSize({ width: NARROWEST, height: 800 });
      await page.goto(pathOf(url));
      const box = page.getByLabel(/last four digits of your phone number/);
      await page.getByRole("button", { name: "Show address", exact: true }).waitFor();
      await takeStep(service, workspace.apiKey, shipment, "advance");
      await page.reload();
      await box.fill("4321");
      await box.press("Enter");
      await page.getByRole("alert").filter({ hasText: "You have 4 tries left." }).waitFor();
      await expectWellShown(page, "tracking-not-opened");
      await box.fill("0123");
      await page.getByRole("button", { name: "Show address and photo" }).click();
      await page.getByText("95 Prospect Park West").waitFor();
      await page.getByRole("img", { name: "Photo of the delivery" }).waitFor();
      await expectWellShown(page, "tracking-opened");
    });

    test("lets its recipient change the instructions until the pickup", async () => {
      const { service, workspace } = dashboard;
      const { tracking_url: url, reference } = await bookAnd(service, workspace.apiKey, ["pay"], {
        recipient_phone: "+12025550123",
        dropoff_instructions: "Ring twice",
        items: [{ name: "Tea ".repeat(20), quantity: 2 }],
      });
      for (const locale of ["de", "es", "fr", "en"]) {
        const page = await dashboard.newPage({ locale });
        await page.setViewportSize({ width: NARROWEST, height: 800 });
        await page.goto(pathOf(url));
        await page.locator("#digits").fill("0123");
        await page.locator("#digits").press("Enter");
        const box = page.locator("#instructions");
        await box.fill(`${await box.inputValue()}\n${locale}`);
        await page.locator("aside button").click();
        await page.getByRole("alert").waitFor();
        await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(NARROWEST);
        await expectWellShown(page, `tracking-instructions-${locale}`);
        if (locale !== "en") continue;
        await expect.poll(() => page.locator("dl").innerText()).toContain("Ring twice\nde\nes\nfr\nen");
        await takeStep(service, workspace.apiKey, reference, "advance");
        await page.getByRole("heading", { name: "Your delivery is on its way" }).waitFor();
        await expect.poll(() => box.count()).toBe(0);
      }
    });

    test("follows the shipment after right or wrong digits", async () => {
      const { service, workspace } = dashboard;
      const { tracking_url: url, reference } = await bookAnd(service, workspace.apiKey, ["pay"], {
        recipient_phone: "+12025550123",
        dropoff_address: "95 Prospect Park West",
      });
      const enter = async (digits: string) => {
        const page = await dashboard.newPage();
        await page.goto(pathOf(url));
        const box = page.getByLabel(/last four digits of your phone number/);
        await box.fill(digits);
        const followed = page.waitForResponse(
          (response) => response.url().endsWith("/events") && response.status() === 200,
        );
        await box.press("Enter");
        await page.waitForURL("**/open");
        await followed;
        return page;
      };
      const wrong = await enter("4321");
      const right = await enter("0123");
      await right.getByText("95 Prospect Park West").waitFor();
      await wrong.getByLabel(/last four digits/).fill("01");
      await takeStep(service, workspace.apiKey, reference, "advance");
      for (const page of [wrong, right]) {
        await page.getByRole("heading", { name: "Your delivery is on its way" }).waitFor();
      }
      await wrong.getByText("You have 4 tries left.").waitFor();
      await expect.poll(() => wrong.getByLabel(/last four digits/).inputValue()).toBe("01");
      await right.getByText("95 Prospect Park West").waitFor();
      await takeStep(service, workspace.apiKey, reference, "advance");
      await right.getByRole("heading", { name: "Your delivery has arrived" }).waitFor();
      await right.getByText("95 Prospect Park West").waitFor();
    });

    test("follows the shipment and reports when it no longer exists", async () => {
      const { service, workspace } = dashboard;
      const { tracking_url: url, reference } = await bookAnd(service, workspace.apiKey, ["pay"]);
      const page = await dashboard.newPage();
      await page.clock.install();
      await page.goto(pathOf(url));
      const heading = page.getByRole("heading", { level: 1 });
      await expect.poll(() => heading.textContent()).toBe("Your delivery is waiting for the courier");
      await takeStep(service, workspace.apiKey, reference, "advance");
      await page.getByRole("heading", { name: "Your delivery is on its way" }).waitFor();
      await expect.poll(() => page.locator("[aria-current=step] strong").textContent()).toBe("On its way");
      await data(service.as(workspace.apiKey).updateWorkspace({ tracking_enabled: false }));
      await page.clock.fastForward(LIVE_POLL_MS);
      await page.getByRole("heading", { name: "This link is no longer valid" }).waitFor();
      await expect.poll(() => page.title()).toBe("This link is no longer valid");
      await data(service.as(workspace.apiKey).updateWorkspace({ tracking_enabled: true }));
    });

    test("polls while it cannot stream, and streams once it can", async () => {
      const { service, workspace } = dashboard;
      const { tracking_url: url, reference } = await bookAnd(service, workspace.apiKey, ["pay"]);
      const page = await dashboard.newPage();
      await page.clock.install();
      let refused = 0;
      await page.route("**/events", (route) => {
        refused++;
        return route.fulfill({ status: 429 });
      });
      await page.goto(pathOf(url));
      await expect.poll(() => refused).toBe(1);
      await takeStep(service, workspace.apiKey, reference, "advance");
      await page.clock.fastForward(POLL_MS);
      await page.getByRole("heading", { name: "Your delivery is on its way" }).waitFor();
      await expect.poll(() => refused).toBe(2);
      await page.unroute("**/events");
      const streamOpened = page.waitForResponse(
        (response) => response.url().endsWith("/events") && response.status() === 200,
      );
      await page.clock.fastForward(POLL_MS);
      await streamOpened;
      await takeStep(service, workspace.apiKey, reference, "advance");
      await page.getByRole("heading", { name: "Your delivery has arrived" }).waitFor();
    });

    test("is linked from the page of the shipment and configured in the settings", async () => {
      const { service } = dashboard;
      const workspace = await service.addWorkspace();
      const shipment = await bookAnd(service, workspace.apiKey, ["pay"]);
      const page = await openAsMember(dashboard, `/shipments/${shipment.reference}`, { workspace });
      const link = page.getByRole("link", { name: "Page for the recipient" });
      await expect.poll(() => link.getAttribute("href")).toBe(shipment.tracking_url);
      await page.goto(`/w/${workspace.id}/settings#tracking`);
      const section = page.locator("#tracking");
      await section.getByRole("button", { name: "Change tracking" }).click();
      await page.getByLabel("Contact").fill("+1 555 0100");
      await page.getByRole("button", { name: "Save" }).click();
      await section.getByText("+1 555 0100").waitFor();
      await chooseMore(page, "Change logo", undefined, "Tracking");
      const logo = { name: "logo.png", mimeType: "image/png" };
      await page.getByLabel("Logo", { exact: true }).setInputFiles({ ...logo, buffer: SAMPLE_PICTURES.photo });
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Logo must be a PNG.").waitFor();
      await page.getByLabel("Logo", { exact: true }).setInputFiles({ ...logo, buffer: SAMPLE_PICTURES.signature });
      await page.getByRole("button", { name: "Save" }).click();
      await section.getByAltText("Logo").waitFor();
      await chooseMore(page, "Change logo", undefined, "Tracking");
      await page.getByLabel("Logo", { exact: true }).setInputFiles({ ...logo, buffer: Buffer.alloc(0) });
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The file is empty.").waitFor();
      await page.keyboard.press("Escape");
      await chooseMore(page, "Preview", undefined, "Tracking");
      const preview = page.frameLocator("iframe");
      await preview.getByText("Your delivery is waiting for the courier").first().waitFor();
      await preview.getByRole("link", { name: "+1 555 0100" }).waitFor();
      await expect.poll(() => preview.locator("img").evaluate((image) => (image as any).naturalWidth)).toBe(72);
      await expectWellShown(page, "tracking-preview");
      await page.getByRole("button", { name: "Close" }).click();
      await chooseMore(page, "Replace all links", undefined, "Tracking");
      await page.getByRole("button", { name: "Replace them" }).click();
      await page.getByText("Tracking links replaced.").waitFor();
      expect((await service.request(pathOf(shipment.tracking_url))).status).toBe(404);
      await section.getByRole("button", { name: "Change tracking" }).click();
      await page.getByLabel("Shipments have tracking links").uncheck();
      await page.getByRole("button", { name: "Save" }).click();
      await section.getByText("Off", { exact: true }).waitFor();
      await expectWellShown(page, "tracking-settings");
    });
  },
  start,
);
