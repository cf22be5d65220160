import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeDashboard, expectWellShown, openOnPlainHttp } from "../dashboard/browser.ts";
import { data } from "../support/answers.ts";

const BUILT = "src/courier/built";
/** Maximum size of the whole page with its service worker, compressed with gzip, in bytes. */
const MAX_BYTES = 60_000;

describeDashboard("the courier's page", (dashboard) => {
  test("is at most 60 kB with its script, style and service worker", () => {
    const files = readdirSync(BUILT, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"));
    const bytes = files.map((name) => readFileSync(join(BUILT, name)).length);
    expect(files.length).toBeGreaterThan(4);
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThan(MAX_BYTES);
  });

  test.each([
    ["en-US", "Open your link"],
    ["es-ES", "Abra su enlace"],
    ["fr-FR", "Ouvrez votre lien"],
    ["de-AT", "Öffnen Sie Ihren Link"],
    ["it-IT", "Open your link"],
  ])("asks for a link in %s", async (locale, heading) => {
    const page = await dashboard.newPage({ locale });
    await page.goto("/c");
    await page.getByRole("heading", { name: heading }).waitFor();
    expect(await page.evaluate("document.documentElement.lang")).toBe(locale === "it-IT" ? "en" : locale.slice(0, 2));
  });

  test("has a valid layout, and opens offline after the first visit", async () => {
    const page = await dashboard.newPage();
    await page.goto("/c");
    await page.getByRole("heading", { name: "Open your link" }).waitFor();
    await expectWellShown(page, "courier-link");
    await page.evaluate("navigator.serviceWorker.ready");
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole("heading", { name: "Open your link" }).waitFor();
  });

  test("loads the run on plain HTTP", async () => {
    const { service, workspace } = dashboard;
    const as = service.as(workspace.apiKey);
    const { id: courier } = await data(as.createCourier({ name: "Ada Byron" }));
    const { path } = (await as.createCourierLink({ courier })).body;
    const page = await openOnPlainHttp(service);
    await page.goto(path);
    await page.getByText("No stops. New stops appear here automatically.").waitFor();
  });
});
