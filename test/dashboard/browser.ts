import { randomUUID } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import type { OperatorRole } from "../../src/domain/roles.ts";
import { HAS_CHROMIUM, launchChromium } from "../support/chromium.ts";
import { PAGE_MS } from "../support/limits.ts";
import { startService, type StartedService, type TestService, type TestWorkspace } from "../support/service.ts";

/** A real service with its dashboard, and the browsers that open it. */
export interface TestDashboard {
  readonly service: TestService;
  /** Workspace for tests that do not need their own. */
  readonly workspace: TestWorkspace & { readonly twin: TestWorkspace };
  /** Opens a page in a new browser without cookies, which closes with the test file. */
  newPage(options?: BrowserContextOptions): Promise<TestPage>;
}

/** A browser page that records faults. */
export interface TestPage extends Page {
  /** Console errors, violations of the content security policy, and requests to other hosts. */
  readonly faults: string[];
}

/** Browser that all files of a worker share. It closes with the worker. */
let browser: Promise<Browser> | undefined;

/**
 * Defines tests of a real service's dashboard in a real browser. They are skipped if Chromium is
 * not installed. Tests fail if a page had a fault.
 *
 * @param start starts the service with its dashboard, by default with default settings
 */
export function describeDashboard(
  name: string,
  tests: (dashboard: TestDashboard) => void,
  start: () => Promise<StartedService> = () => startService({ dashboard: true }),
): void {
  describe.skipIf(!HAS_CHROMIUM)(name, () => {
    let service: StartedService;
    let workspace: TestDashboard["workspace"];
    const faults: (readonly string[])[] = [];
    beforeAll(async () => {
      service = await start();
      workspace = await service.addWorkspace();
      browser ??= launchChromium();
    });
    afterAll(async () => {
      await service.close();
      expect(faults.flat()).toEqual([]);
    });
    tests({
      get service() {
        return service;
      },
      get workspace() {
        return workspace;
      },
      async newPage(options) {
        const page = await openPage(await browser!, service, options);
        faults.push(page.faults);
        onTestFinished(() => page.context().close());
        return page;
      },
    });
  });
}

/** Stripe's pages, to which links lead. */
export const STRIPE_PAGE = /^https:\/\/(connect|checkout|dashboard)\.stripe\.com\//;

async function openPage(
  browser: Browser,
  service: TestService,
  options: BrowserContextOptions = {},
): Promise<TestPage> {
  const context = await browser.newContext({
    baseURL: service.httpUrl,
    locale: "en-US",
    timezoneId: "America/New_York",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PAGE_MS);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // The browser logs every error response, and tests may expect them.
    if (message.type() !== "error" || message.text().startsWith("Failed to load resource")) return;
    faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (request.isNavigationRequest() && STRIPE_PAGE.test(request.url())) return;
    const { origin, protocol } = new URL(request.url());
    if (origin !== service.httpUrl && protocol !== "data:") faults.push(`request: ${request.url()}`);
  });
  return Object.assign(page, { faults });
}

/**
 * Opens an empty page in a browser that reaches the service over plain HTTP, at another host than localhost. It sends
 * no `Sec-Fetch-Site`, and no origin with a GET within the site.
 */
export async function openOnPlainHttp({ httpUrl }: TestService): Promise<Page> {
  const opened = await launchChromium("--host-resolver-rules=MAP shop.test 127.0.0.1");
  onTestFinished(() => opened.close());
  return opened.newPage({ baseURL: `http://shop.test:${new URL(httpUrl).port}` });
}

interface Member {
  readonly email?: string;
  readonly role?: string;
  readonly name?: string;
}

/** Invites a person to the workspace, by default as admin, and signs them in with the link. */
export async function signInTo(
  page: Page,
  { service, workspace: shared }: TestDashboard,
  workspace: TestWorkspace = shared,
  member: Member = {},
): Promise<void> {
  await page.goto(await linkFor(service, workspace, member));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page
    .getByRole("navigation", { name: "Pages", exact: true, includeHidden: true })
    .waitFor({ state: "attached" });
}

/** Returns the path of a sign-in link for a workspace's member. */
export async function linkFor(
  service: TestService,
  { id, apiKey }: TestWorkspace,
  { role = "admin", ...member }: Member = {},
): Promise<string> {
  // Each workspace and role has its own person, because a person with two workspaces may start in the other one.
  const email = `${role}.of.${id}@example.org`;
  const invitation = { email, role, name: "Ada Lovelace", ...member };
  const { body } = await service.request("/v1/members", { apiKey, body: invitation });
  return body.sign_in_path;
}

/** Signs in with the path of a link. Faster than the page of the link, which `signInTo` opens. */
async function signInWithoutPage(page: Page, path: string): Promise<void> {
  const response = await page.request.post("/sign-in", {
    form: { token: path.split("#token=")[1]! },
    headers: { "sec-fetch-site": "same-origin" },
    maxRedirects: 0,
  });
  expect(response.status()).toBe(303);
}

/** Opens a workspace page in a new browser as a new member, by default an admin. */
export async function openAsMember(
  dashboard: TestDashboard,
  path: string,
  { workspace = dashboard.workspace, ...member }: Member & { readonly workspace?: TestWorkspace } = {},
  options?: BrowserContextOptions,
): Promise<TestPage> {
  const page = await dashboard.newPage(options);
  await signInWithoutPage(page, await linkFor(dashboard.service, workspace, member));
  await page.goto(`/w/${workspace.id}${path}`);
  return page;
}

/** Opens a platform page in a new browser as a new person with this role. */
export async function openAsOperator(
  dashboard: TestDashboard,
  path: string,
  role: OperatorRole = "operator",
  options?: BrowserContextOptions,
): Promise<TestPage> {
  const page = await dashboard.newPage(options);
  await signInAsOperator(page, dashboard, role);
  await page.goto(path);
  return page;
}

/** Opens the menu with workspaces, modes and the account. */
export async function openWorkspaceMenu(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: /^Workspace and account/ }).click();
  return page.locator("#workspace-menu");
}

/** Chooses an item from the menu of further actions of the page, or of the row `of`, by default with a click. */
export async function chooseMore(
  page: Page,
  name: string,
  press = (_: Page, target: Locator) => target.click(),
  of?: string,
): Promise<void> {
  await press(page, page.locator(`main summary[aria-label="More${of === undefined ? "" : `: ${of}`}"]`));
  await press(page, page.locator(".menu[open] .menu-content").getByText(name, { exact: true }));
}

/** Chooses an item from the menu of a row's further actions. */
export function chooseInRow(page: Page, row: string, name: string): Promise<void> {
  return chooseMore(page, name, undefined, row);
}

/** Presses the button with this name in the open dialog. */
export function pressInDialog(page: Page, name: string): Promise<void> {
  return page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
}

/**
 * Creates an operator, by default an owner, for a person, and signs the person in without opening a page.
 *
 * @returns the operator's email
 */
export async function signInAsOperator(
  page: Page,
  { service }: TestDashboard,
  role: OperatorRole = "owner",
): Promise<string> {
  const { key: apiKey } = await service.addOperator();
  const email = `grace.${randomUUID()}@example.org`;
  const body = { name: "Grace Hopper", kind: "person", role, email };
  const made = await service.request("/admin/v1/operators", { apiKey, body });
  const path = `/admin/v1/operators/${made.body.data.id}/sign_in_link`;
  const link = await service.request(path, { apiKey, body: {} });
  await signInWithoutPage(page, link.body.sign_in_path);
  return email;
}

/** Browser options for a phone in portrait orientation. */
export const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

/** Moves the focus to an element with the Tab key, forwards or backwards. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 120; presses++) {
    const key = await target.evaluate((element) => {
      const { activeElement, body } = element.ownerDocument;
      if (element === activeElement) return undefined;
      const { DOCUMENT_POSITION_PRECEDING } = element;
      const isBefore = activeElement!.compareDocumentPosition(element) & DOCUMENT_POSITION_PRECEDING;
      return isBefore && activeElement !== body ? "Shift+Tab" : "Tab";
    });
    if (key === undefined) return;
    await page.keyboard.press(key);
  }
  throw new Error(`Tab does not reach ${target}`);
}

/** Presses a button or follows a link with the Enter key. */
export async function enter(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press("Enter");
}

/** Two ways to work without a mouse: browser options for each, and how to press an element. */
export const WITHOUT_POINTER = [
  ["by keyboard", {}, enter],
  ["by touch", PHONE, (_: Page, target: Locator) => target.tap()],
] as const;

/**
 * Expects that no control is narrower than its text, and that open menus fit on the screen. On a phone, also expects
 * that every control is large enough to touch.
 */
export async function expectUsable(page: Page): Promise<void> {
  const isTouched = await page.evaluate<boolean>("matchMedia('(pointer: coarse)').matches");
  await expect
    .poll(async () => ({
      small: isTouched ? await page.evaluate(SMALL) : [],
      cut: await page.evaluate(CUT),
    }))
    .toEqual({ small: [], cut: [] });
}

/** Expects that axe finds no problem on the page in its current state. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await loadAxe(page);
  await expect.poll(() => violationsOn(page)).toEqual([]);
}

/**
 * Script that returns controls whose text overflows onto their neighbors, and open menus that exceed the screen.
 * Marks on a map are excluded, because their touch area is larger than their box.
 */
const CUT = `(() => {
  const isVisible = (it) => it.checkVisibility();
  const isNarrow = (it) => it.scrollWidth > it.clientWidth + 1 && getComputedStyle(it).overflowX === "visible";
  const isBeyond = ({ left, right, top, bottom }) => left < 0 || right > innerWidth || top < 0 || bottom > innerHeight;
  const controls = [...document.querySelectorAll("button:not(.mark), .button, summary, nav a")].filter(isVisible);
  const menus = [...document.querySelectorAll(".menu[open] > .menu-content")].filter(isVisible);
  return [
    ...controls.filter((it) => getComputedStyle(it).display !== "inline" && isNarrow(it)),
    ...menus.filter((it) => isBeyond(it.getBoundingClientRect())),
  ].map((it) => it.outerHTML.slice(0, 200));
})()`;

/**
 * Script that returns controls whose touch area is less than 44 pixels high or wide. Links in a
 * text may be as high as their line, and a label counts as part of its box.
 */
const SMALL = `(() => {
  const controls = "button, .button, input, select, textarea, summary, label:has(input), nav a, a.up, " +
    "[role=option], th a, .figures dd a";
  const isControl = (it) => it.checkVisibility() && !it.matches("label input, .skip, [type=range], .table thead:not(:has(.box)) *");
  return [...document.querySelectorAll(controls)].filter(isControl).flatMap((it) => {
    const around = getComputedStyle(it, "::after");
    const [width, height] = ["width", "height"].map((side) =>
      Math.max(it.getBoundingClientRect()[side], parseFloat(around[side]) || 0));
    return Math.min(width, height) < 43.9 ? [it.outerHTML + " " + width + " x " + height] : [];
  });
})()`;

/** Adds a filter to a list, or opens an existing filter, and returns its fields. */
export async function openFilter(page: Page, name: string): Promise<Locator> {
  const chip = page.locator(".chip").filter({ hasText: new RegExp(`^${name}`) });
  const add = page.locator("summary", { hasText: "+ Filter" });
  // The button appears together with the existing filters.
  await add.waitFor();
  if ((await chip.count()) > 0) await chip.locator("summary").click();
  else {
    await add.click();
    await page.locator(".menu-content").getByRole("button", { name, exact: true }).click();
  }
  return chip.locator(".menu-content");
}

/** Filters a list by a single choice. */
export async function chooseFilter(page: Page, name: string, choice: string): Promise<void> {
  const menu = await openFilter(page, name);
  await menu.getByRole("link", { name: choice, exact: true }).click();
}

/**
 * Holds a page's calls to a method until they are released. `requested` is the first such call, and
 * `calls` are all calls so far.
 */
export async function holdBack(page: Page, method: string) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const calls: Request[] = [];
  await page.route(`**/${method}`, async (route) => {
    calls.push(route.request());
    await released;
    // The page may have stopped waiting for the response.
    await route.continue().catch(() => undefined);
  });
  return { release, calls, requested: page.waitForRequest(`**/${method}`) };
}

/** Returns the current queue of the list. */
export function currentQueue(page: Page): Locator {
  return page.getByRole("navigation", { name: "Queues" }).locator("[aria-current]");
}

/** Returns a table's rows without the header. `table` is its accessible name. */
export function rowsOf(page: Page, table: string): Locator {
  return page.getByRole("table", { name: table }).locator("tbody tr");
}

const WIDTHS = [1440, 1024, 768, 360] as const;
export const THEMES = ["light", "dark"] as const;

/** Combinations of width and theme that axe checks. */
const LOOKED_AT: readonly string[] = ["1440-light", "1440-dark", "360-dark"];

/**
 * Expects that axe finds no problem on the page, in both themes on a desktop and in one on a phone. Also expects that
 * at every width no element is wider than the screen, and that the page is not longer than its content. If
 * SCREENSHOTS names a folder, saves a screenshot for every width and theme under `name`.
 *
 * @param lookedAt combinations that axe checks
 */
export async function expectWellShown(page: Page, name: string, lookedAt = LOOKED_AT): Promise<void> {
  const before = page.viewportSize();
  await loadAxe(page);
  let checkedWidth: number | undefined;
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const theme of THEMES) {
      // Skips most combinations, because colors depend only on the theme, and layout only on the width.
      const isLookedAt = lookedAt.includes(`${width}-${theme}`);
      if (!isLookedAt && !process.env.SCREENSHOTS) continue;
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await untilLoaded(page);
      await untilDrawn(page);
      await takeScreenshot(page, `${name}-${width}-${theme}`);
      if (!isLookedAt) continue;
      // Retries, because the page may start to reload while axe runs.
      const rules = width === checkedWidth ? COLOR_RULES : undefined;
      checkedWidth = width;
      await expect
        .poll(async () => ({ name, width, theme, violations: await violationsOn(page, rules) }))
        .toEqual({ name, width, theme, violations: [] });
    }
    await untilDrawn(page);
    expect({ name, width, beyond: await page.evaluate(BEYOND), cut: await page.evaluate(CUT) }).toEqual({
      name,
      width,
      beyond: { wide: 0, long: 0 },
      cut: [],
    });
  }
  await page.emulateMedia({ colorScheme: null });
  if (before === null) return;
  await page.setViewportSize(before);
  // Elements that are hidden on a narrow screen reappear together with their key bindings.
  await untilDrawn(page);
}

/** Script that returns how far the document exceeds the screen's width, and its content's height or the screen's. */
const BEYOND = `(({ scrollWidth, scrollHeight }) => ({
  wide: scrollWidth - innerWidth,
  long: scrollHeight - Math.max(innerHeight, document.body.offsetHeight),
}))(document.documentElement)`;

/** Waits until no content is dimmed. A slow reload dims content, which lowers the contrast. */
async function untilLoaded(page: Page): Promise<void> {
  await expect.poll(() => page.locator(".loaded[aria-busy=true]").count()).toBe(0);
}

/**
 * Waits until a new width or theme has taken effect. Scripts see it with the next frame, which a busy machine draws
 * late. Resize observers run at the end of a frame, so this function waits for the frame after it. Then it waits for
 * effects that components run after drawing, such as adding listeners.
 */
export async function untilDrawn(page: Page): Promise<void> {
  await page.evaluate(
    "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))",
  );
}

/**
 * Waits until the map is drawn, because only then does it handle keys, clicks and pins correctly. A
 * drawn map shows its scale.
 */
export function untilMapDrawn(page: Page): Promise<void> {
  return page.locator(".map .scale", { hasText: /./ }).waitFor({ state: "attached" });
}

let source: Promise<string> | undefined;

/** Loads axe once per document. By `evaluate`, because the content security policy forbids adding it as a script. */
async function loadAxe(page: Page): Promise<void> {
  source ??= readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await source);
}

/** Rules whose result depends on the theme. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * Script that runs axe in the open dialog, which disables the rest of the page, or on the page. Rows of a table after
 * the eighth, and calls of the reference after the fourth, have the same elements as the ones before.
 */
const AXE = `axe.run([...document.querySelectorAll("dialog:modal")].at(-1) ?? {
  exclude: [["tbody tr:nth-child(n+9)"], [".operation-tag-content > :nth-child(n+5):not(:has(.is-open))"]],
}, OPTIONS).then(({ violations }) =>
  violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((it) => it.html + " " + it.failureSummary) })))`;

/** Runs axe without details that take half of its time. */
async function violationsOn(page: Page, rules?: readonly string[]): Promise<unknown> {
  const options = { resultTypes: ["violations"], selectors: false, preload: false, ...(rules && { runOnly: rules }) };
  return page.evaluate(AXE.replace("OPTIONS", JSON.stringify(options)));
}

export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
