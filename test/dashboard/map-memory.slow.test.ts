import type { CDPSession } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { withQuery } from "../../src/dashboard/routes/paths.ts";
import { book, COVERED_ROUTE } from "../support/bookings.ts";
import { draftsOf } from "../support/tariff-drafts.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";
import { describeDashboard, linkFor, signInAsOperator, untilDrawn, untilMapDrawn } from "./browser.ts";

/** Number of visits before the first measurement. They fill caches, which stay in memory: 3 MB until the 20th visit. */
const WARM_UP = 20;
const VISITS = 6;
/** Maximum heap growth per visit, in bytes. A leaked map of a shipment takes 278,000. */
const MAX_BYTES_PER_VISIT = 150_000;

describeDashboard("pages with a map", (dashboard) => {
  const hrefs: Record<string, string> = {};

  beforeAll(async () => {
    const { service, workspace } = dashboard;
    const { reference } = await book(service, workspace.apiKey);
    const { key } = await service.addOperator();
    const drafts = draftsOf(service, key);
    // The comparison has a map because the versions have different zones.
    const { features } = SAMPLE_TARIFF["zones"] as { readonly features: readonly object[] };
    const zones = { type: "FeatureCollection", features: features.slice(0, -1) };
    const spring = await drafts.begin({ ...SAMPLE_TARIFF, zones });
    await drafts.publish(spring.id, 1);
    const draft = (await drafts.begin(SAMPLE_TARIFF, "Summer")).id;
    const own = `/w/${workspace.id}`;
    Object.assign(hrefs, {
      shipment: `${own}/shipments/${reference}`,
      edit: `${own}/shipments/${reference}/edit`,
      book: withQuery(`${own}/book`, COVERED_ROUTE),
      "shipment map": `${own}/shipments?view=map`,
      tariff: "/platform/tariff",
      "tariff comparison": withQuery("/platform/tariff/comparison", {
        from_version: 1,
        to_version: 2,
      }),
      draft: `/platform/drafts/${draft}`,
    });
  });

  async function heapBytes(devtools: CDPSession): Promise<number> {
    // Collects garbage twice. The second pass frees objects that finalizers of the first pass released.
    for (let i = 0; i < 2; i++) await devtools.send("HeapProfiler.collectGarbage");
    return (await devtools.send("Runtime.getHeapUsage")).usedSize;
  }

  test.for(["shipment", "edit", "book", "shipment map", "tariff", "tariff comparison", "draft"])(
    "%s releases its map when the user leaves",
    async (name) => {
      const { service, workspace } = dashboard;
      const page = await dashboard.newPage();
      const email = await signInAsOperator(page, dashboard);
      await linkFor(service, workspace, { email });
      const devtools = await page.context().newCDPSession(page);
      await page.goto(`/w/${workspace.id}/customers`);
      await page.getByRole("heading", { name: "Customers" }).waitFor();
      const visit = async () => {
        // Navigates without reloading, because a new document would have a new heap.
        await page.evaluate(`(() => {
          const link = document.createElement("a");
          link.href = ${JSON.stringify(hrefs[name])};
          document.querySelector("main").append(link);
          link.click();
          link.remove();
        })()`);
        await untilMapDrawn(page);
        await untilDrawn(page);
        await page.goBack();
        await page.getByRole("heading", { name: "Customers" }).waitFor();
      };
      for (let i = 0; i < WARM_UP; i++) await visit();
      const before = await heapBytes(devtools);
      for (let i = 0; i < VISITS; i++) await visit();
      const bytesPerVisit = Math.round(((await heapBytes(devtools)) - before) / VISITS);
      expect(bytesPerVisit).toBeLessThan(MAX_BYTES_PER_VISIT);
    },
  );
});
