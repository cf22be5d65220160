import { beforeAll, expect, test } from "vitest";
import { publishDocument } from "../support/publish-document.ts";
import { draftsOf, type Drafts } from "../support/tariff-drafts.ts";
import { SAMPLE_TARIFF, square, zonesOf } from "../support/tariffs.ts";
import {
  chooseMore,
  describeDashboard,
  expectWellShown,
  openAsOperator,
  type TestPage,
  untilMapDrawn,
} from "./browser.ts";

/** Number of versions, slightly more than one page. */
const VERSIONS = 13;
/** More zones than the page shows without a search field. */
const MANY_SQUARES = Array.from({ length: 13 }, (_, i) => square(i, 0, i + 1, 1));

describeDashboard("the tariff", (dashboard) => {
  let drafts: Drafts;

  beforeAll(async () => {
    const { key } = await dashboard.service.addOperator("operator");
    drafts = draftsOf(dashboard.service, key);
    for (let version = 2; version <= VERSIONS; version++) {
      const zones = version === 2 ? zonesOf(...MANY_SQUARES) : SAMPLE_TARIFF.zones;
      const document = { ...SAMPLE_TARIFF, zones, base_fee: `${version}.00` };
      await publishDocument(dashboard.service.app.em, document);
    }
  });

  const versions = (page: TestPage) => page.getByRole("table", { name: "Versions" });
  const rows = (page: TestPage) => versions(page).locator("tbody tr");
  const versionOf = async (version: number) => (await drafts.call("GET", `tariff_versions/${version}`)).body.data;

  test("in force is shown with its fees, tiers and zones, one of which can be highlighted by name", async () => {
    const page = await openAsOperator(dashboard, "/platform/tariff");
    const map = page.getByRole("application", { name: `Zones of version ${VERSIONS}` });
    await expect
      .poll(() => map.getAttribute("aria-label"))
      .toBe(`Zones of version ${VERSIONS}. Zones: Bronx, Kings, New York, Queens, Richmond`);
    const facts = (await page.locator("dl").allInnerTexts()).join("\n");
    for (const fact of ["In force", "5 zones", "USD", "$13.00", "$1.20"]) {
      expect(facts).toContain(fact);
    }
    await expect
      .poll(() => page.getByRole("table", { name: "Tiers" }).locator("tr").allInnerTexts())
      .toEqual([
        "Weight, kg\tFlat fee\tPer kilogram",
        "over 0 to 5\t$0.00\t$0.50",
        "over 5 to 20\t$1.50\t$0.40",
        "over 20 to 50\t$4.00\t$0.35",
      ]);
    const zones = page.getByRole("list", { name: "Zones" });
    await expect.poll(() => zones.getByRole("button").count()).toBe(5);
    expect(await page.getByLabel("Find a zone").count()).toBe(0);
    await zones.getByRole("button", { name: "Kings" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("?zone=1");
    await untilMapDrawn(page);
    await map.focus();
    await page.keyboard.press("ArrowLeft");
    await page
      .locator("figcaption")
      .getByText(/^Kings · /)
      .waitFor();
    await expectWellShown(page, "tariff");
  });

  test("lists its versions in pages with a link to each", async () => {
    const page = await openAsOperator(dashboard, "/platform/tariff");
    await expect.poll(() => rows(page).count()).toBe(10);
    await page.getByRole("button", { name: "Next →" }).click();
    await expect.poll(() => rows(page).count()).toBe(VERSIONS - 10);
    await versions(page).getByRole("link", { name: "2", exact: true }).click();
    await page.getByRole("heading", { name: "Tariff version 2" }).waitFor();
    await page.getByRole("application", { name: /^Zones of version 2/ }).waitFor();
    await page.getByLabel("Find a zone").fill("e 13");
    await expect.poll(() => page.getByRole("list", { name: "Zones" }).innerText()).toBe("Zone 13");
    await expectWellShown(page, "tariff-version");
    await page.goto("/platform/tariff/versions/99");
    await page.getByText("This version does not exist").waitFor();
  });

  test("is compared between two versions by fee path, zone name and map", async () => {
    const { features } = SAMPLE_TARIFF.zones as { features: any[] };
    const [moved] = (zonesOf(square(-74, 40, -73, 41)) as { features: any[] }).features;
    const document = {
      ...SAMPLE_TARIFF,
      base_fee: "13.00",
      rate_per_km: "9.00",
      zones: {
        type: "FeatureCollection",
        features: [
          { ...features[0], geometry: moved.geometry, properties: { name: "Bronx" } },
          ...features.slice(2),
          { ...moved, properties: { name: "Essex" } },
        ],
      },
    };
    // Overlapping zones are valid. This version is published only to be compared.
    const { version } = await publishDocument(dashboard.service.app.em, document);
    const page = await openAsOperator(dashboard, "/platform/tariff");
    await page.getByRole("link", { name: "Compare versions" }).click();
    await page.getByText("Changed zones").waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe(`?from_version=${version - 1}&to_version=${version}`);
    const fees = page.getByRole("table", { name: "Changed fees" });
    await expect
      .poll(() => fees.locator("tbody td").allTextContents())
      .toEqual(["Charge per kilometer", "1.20", "9.00"]);
    await expect
      .poll(() => page.locator(".zone-list").allInnerTexts())
      .toEqual(["Added (1)\nEssex", "Removed (1)\nKings", "Changed (1)\nBronx"]);
    await page.getByText("Unchanged: schedules, 3 zones.").waitFor();
    const map = page.getByRole("application");
    const names = async () => (await map.getAttribute("aria-label"))!.split("Zones: ")[1];
    await expect.poll(names).toBe("Bronx, Kings, New York, Queens, Richmond, Bronx, New York, Queens, Richmond, Essex");
    await expectWellShown(page, "tariff-comparison");
    await page
      .getByLabel(/^Version \d+ 5 zones, 9\d\d[.\d]* km²$/)
      .first()
      .uncheck();
    await expect.poll(names).toBe("Bronx, New York, Queens, Richmond, Essex");
    await page.getByLabel("To", { exact: true }).selectOption("Version 1");
    await fees.getByText("Minimum charge").waitFor();
    // The comparison does not need the list of versions, whose problem is shown above it.
    await page.route("**/ListTariffVersions", (route) => route.abort());
    await page.reload();
    await page.locator(".problem").getByRole("button", { name: "Try again" }).waitFor();
    await fees.getByText("Minimum charge").waitFor();
  });

  test("is scheduled, shown with its time, blocks other publications, and is cancelled", async () => {
    const current = (await drafts.call("GET", "tariff")).body.data.version;
    const draft = await drafts.begin({ ...SAMPLE_TARIFF, base_fee: "99.00" }, "Next year");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    await page.getByRole("button", { name: "Publish…" }).click();
    await page.getByLabel("When").selectOption("At a time");
    await page.getByRole("button", { name: "Schedule", exact: true }).click();
    await page.locator(".field-error").getByText("Choose a time in the future.").waitFor();
    await page.getByLabel("Takes effect").fill(`${day}T03:04`);
    await page.getByLabel("Note").fill("New year.");
    await page.getByRole("button", { name: "Schedule", exact: true }).click();
    const scheduled = current + 1;
    await page.getByRole("heading", { name: `Scheduled: version ${scheduled}` }).waitFor();
    expect(await versionOf(scheduled)).toMatchObject({
      state: "scheduled",
      note: "New year.",
      effective_at: await page.evaluate(`new Date("${day}T03:04").toISOString()`),
    });
    await expectWellShown(page, "tariff-scheduled");

    await page.goto("/platform/tariff/versions/1");
    await chooseMore(page, "Roll back to this…");
    await page.getByRole("button", { name: "Roll back now" }).click();
    await page.getByText(/Wait until then, or cancel it\.$/).waitFor();

    await page.goto("/platform/tariff");
    await page.getByRole("button", { name: "Cancel…" }).click();
    await expectWellShown(page, "tariff-call-off");
    await page.getByRole("button", { name: "Cancel version" }).click();
    await page.getByText(`Version ${scheduled} cancelled.`).waitFor();
    await rows(page).first().getByText("Cancelled").waitFor();
    await expect.poll(() => page.getByRole("heading", { name: /^Scheduled/ }).count()).toBe(0);
    expect(await versionOf(scheduled)).toMatchObject({ state: "called_off" });
  });

  test("shows versions that others publish without reloading", async () => {
    const page = await openAsOperator(dashboard, "/platform/tariff");
    await page.getByRole("application").waitFor();
    const { version } = await publishDocument(dashboard.service.app.em, {
      ...SAMPLE_TARIFF,
      base_fee: "77.00",
    });
    const map = page.getByRole("application", { name: `Zones of version ${version}` });
    await map.waitFor();
    await rows(page).first().getByText(String(version)).first().waitFor();
  });

  test("a viewer sees everything and can change nothing", async () => {
    const page = await openAsOperator(dashboard, "/platform/tariff", "viewer");
    await page.getByRole("application").waitFor();
    await expect.poll(() => rows(page).count()).toBe(10);
    const changing = page.getByRole("button", { name: /Cancel|Roll back|draft/ });
    await expect.poll(() => changing.count()).toBe(0);
    await expect.poll(() => page.getByRole("link", { name: /^New draft/ }).count()).toBe(0);
    await page.goto("/platform/tariff/versions/1");
    await page.getByRole("application").waitFor();
    await page.locator("main summary[aria-label=More]").click();
    await page.getByRole("link", { name: "Compare with the version in force" }).waitFor();
    await expect.poll(() => changing.count()).toBe(0);
    await expect.poll(() => page.getByRole("link", { name: /^New draft/ }).count()).toBe(0);
  });
});
