import { stat } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { PAGE_ENTRIES, type PageName } from "../../src/dashboard/routes/pages.ts";
import { withQuery } from "../../src/dashboard/routes/paths.ts";
import { data } from "../support/answers.ts";
import { book, bookAnd, COVERED_ROUTE } from "../support/bookings.ts";
import { draftsOf } from "../support/tariff-drafts.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";
import { addWebhook } from "../support/webhooks.ts";
import {
  describeDashboard,
  linkFor,
  signInAsOperator,
  takeScreenshot,
  THEMES,
  untilDrawn,
  type TestPage,
} from "./browser.ts";

/** Maximum sum of layout shift scores while a page loads. */
const MOST_SHIFT = 0.02;
/** Maximum compressed size of the scripts before a page's main content, in bytes. */
const MOST_SCRIPT_BYTES = 100_000;

/**
 * Script that collects layout shifts, and records when the first view without a placeholder, or the
 * frame of its map, is drawn. The code for maps and dialogs may load later.
 */
const WATCH = `
  window.loading = { shift: 0, moved: [], shownAt: undefined };
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      loading.shift += value;
      const names = sources.map(({ node }) => (node?.closest ? node : node?.parentElement)?.outerHTML.slice(0, 80));
      loading.moved.push(value.toFixed(3) + " " + names.join(" | "));
    }
  }).observe({ type: "layout-shift", buffered: true });
  const observer = new MutationObserver(() => {
    const isShown = document.querySelector(".frame main h1") &&
      (document.querySelector("main .map") || !document.querySelector(":is(.loading, .spinner)"));
    if (!isShown) return;
    loading.shownAt = performance.now();
    observer.disconnect();
  });
  observer.observe(document, { childList: true, subtree: true });
`;

/** Filters of a saved view. The view's name takes up space in the list's bar. */
const SAVED_VIEW = { days: "today", status: "2" };

interface Loading {
  readonly shift: number;
  readonly moved: readonly string[];
  readonly scripts: readonly string[];
}

const LOADING = `({
  ...loading,
  scripts: performance.getEntriesByType("resource")
    .filter(({ name, startTime }) => name.endsWith(".js") && startTime <= loading.shownAt)
    .map(({ name }) => name.replace(/^.*[/]/, "")),
})`;

describeDashboard("loading pages", (dashboard) => {
  let hrefs: (readonly [name: string, href: string])[];

  beforeAll(async () => {
    const { service, workspace } = dashboard;
    const { apiKey } = workspace;
    const shipments = [
      await book(service, apiKey, { external_reference: "ORDER-2026-11-24-0001-OF-THE-SHOP" }),
      await bookAnd(service, apiKey, ["pay"]),
      await bookAnd(service, apiKey, ["pay", "advance"]),
      await bookAnd(service, apiKey, ["pay", "cancel"]),
    ];
    const [{ reference, customer }] = shipments as [(typeof shipments)[0]];
    const url = "https://hooks.example.org/failing";
    const webhook = (await addWebhook(service, apiKey, { url })).data.id;
    await service.app.em.execute(
      "update webhook set failing_since = now() - interval '2 days' where workspace_id = ?",
      [workspace.id],
    );
    const { key, id: operator } = await service.addOperator();
    const drafts = draftsOf(service, key);
    const spring = await drafts.begin({ ...SAMPLE_TARIFF, base_fee: "6.00" });
    await drafts.publish(spring.id, 1);
    const draft = (await drafts.begin(SAMPLE_TARIFF, "Summer")).id;
    const values: Readonly<Record<string, string | number>> = {
      workspace: workspace.id,
      reference,
      customer: customer.id,
      webhook,
      event: `evt_${reference}_1`,
      operator,
      draft,
      version: 1,
    };
    const queries: Partial<Record<PageName, object>> = {
      book: COVERED_ROUTE,
      labels: { shipment: reference },
      tariffComparison: { from_version: 1, to_version: 2 },
    };
    const { twin } = workspace;
    await book(service, twin.apiKey, { simulation: { scenario: "deliver", step_seconds: 60 } });
    await data(service.as(twin.apiKey).moveTestClock());
    hrefs = PAGE_ENTRIES.map(([name, { path, isTest }]) => {
      const filled = path.replaceAll(/:(\w+)/g, (_, part: string) => {
        const value = isTest && part === "workspace" ? twin.id : values[part];
        return String(value ?? `no ${part}`);
      });
      return [name, withQuery(filled, queries[name] ?? {})];
    });
    const list = `/w/${workspace.id}/shipments`;
    hrefs.push(
      ["shipments by a saved view", withQuery(list, SAVED_VIEW)],
      ["shipments on a map", `${list}?view=map`],
      ["shipments beside a map", `${list}?view=both`],
    );
  });

  /**
   * Signs in. Returns a function that opens a page as on a slow network: each response arrives in a separate frame.
   */
  async function signIn(page: TestPage): Promise<(href: string) => Promise<Loading>> {
    const { service, workspace } = dashboard;
    const email = await signInAsOperator(page, dashboard);
    // The signed-in operator is also a member of a workspace.
    await linkFor(service, workspace, { email });
    await page.goto("/platform");
    await page.evaluate(`fetch("/shipments.account.v1.AccountService/SaveFilter", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: ${JSON.stringify(
        JSON.stringify({
          workspace: String(workspace.id),
          name: "Booked today by the shop",
          query: new URLSearchParams(SAVED_VIEW).toString(),
        }),
      )},
    }).then((response) => { if (!response.ok) throw new Error(String(response.status)); })`);
    await page.addInitScript(WATCH);
    let last: Promise<unknown> = Promise.resolve();
    await page.route(/Service[/]/, (route) => {
      if (route.request().url().endsWith("/WatchEvents")) return route.continue();
      const answer = async () => {
        await route.fulfill({ response: await route.fetch() });
        await untilDrawn(page);
      };
      // The page may have been closed in the meantime.
      return (last = last.then(answer).catch(() => undefined));
    });
    return async (href) => {
      await page.goto(href);
      await expect.poll(() => page.evaluate("loading.shownAt")).toBeDefined();
      for (let seen; seen !== last;) {
        await (seen = last);
        await expect.poll(() => page.locator("main :is(.loading, .spinner):visible").count()).toBe(0);
        await untilDrawn(page);
      }
      return page.evaluate(LOADING);
    };
  }

  test.for([390, 1024, 1440])(
    "at %i pixels no page shifts its layout or loads much before it renders",
    async (width) => {
      const page = await dashboard.newPage();
      const load = await signIn(page);
      await page.setViewportSize({ width, height: 900 });
      const beyond: object[] = [];
      for (const [name, href] of hrefs) {
        const { shift, moved, scripts } = await load(href);
        const bytes = await sizeOf(scripts);
        if (shift >= MOST_SHIFT) beyond.push({ name, shift, moved });
        if (bytes > MOST_SCRIPT_BYTES) beyond.push({ name, bytes });
        if (!process.env.SCREENSHOTS) continue;
        process.stderr.write(`${width} ${name} ${shift.toFixed(3)} ${bytes}\n`);
        for (const theme of THEMES) {
          await page.emulateMedia({ colorScheme: theme });
          await takeScreenshot(page, `${name}-${width}-${theme}`);
        }
      }
      expect(beyond).toEqual([]);
    },
  );
});

const ASSETS = new URL("../../src/dashboard/built/assets/", import.meta.url);

async function sizeOf(scripts: readonly string[]): Promise<number> {
  const files = scripts.map((name) => stat(new URL(`${name}.gz`, ASSETS)));
  return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
}
