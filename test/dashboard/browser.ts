import { randomUUID } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import type { OperatorRole } from "../../src/domain/roles.ts";
import { HAS_CHROMIUM, launchChromium } from "../support/chromium.ts";
import { PAGE_MS } from "../support/limits.ts";
import {
  startService,
  type StartedService,
  type TestService,
  type TestWorkspace,
} from "../support/service.ts";

/** A real service with its dashboard, and browsers that look at it. */
export interface TestDashboard {
  readonly service: TestService;
  /** A workspace for whatever does not need one of its own. */
  readonly workspace: TestWorkspace & { readonly twin: TestWorkspace };
  /** Opens a page in a browser of its own, which has no cookies yet; it is closed with the test file. */
  newPage(options?: BrowserContextOptions): Promise<TestPage>;
}

/** A page that keeps account of what should never happen. */
export interface TestPage extends Page {
  /** Errors on the console, violations of the policy, requests to other hosts. */
  readonly faults: string[];
}

/** Ends with the worker, whose files share it. */
let browser: Promise<Browser> | undefined;

/**
 * Describes the dashboard of a real service in a real browser. Skipped without a Chromium. At the end no page may have
 * had a fault.
 *
 * @param start starts the service, with its dashboard; one of the default settings when not given
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

/** The pages that people are sent to; a test's browser shows empty ones. */
const STRIPE_PAGE = /^https:\/\/(connect|checkout|dashboard)\.stripe\.com\//;

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
    // The browser itself notes each answer that is an error, which may be what a test is about.
    if (message.type() !== "error" || message.text().startsWith("Failed to load resource")) return;
    faults.push(`console: ${message.text()}`);
  });
  // Stripe's own pages, which links lead to.
  await context.route(STRIPE_PAGE, (route) =>
    route.fulfill({ contentType: "text/html", body: "<title>Stripe</title>" }),
  );
  page.on("request", (request) => {
    if (request.isNavigationRequest() && STRIPE_PAGE.test(request.url())) return;
    const { origin, protocol } = new URL(request.url());
    if (origin !== service.httpUrl && protocol !== "data:")
      faults.push(`request: ${request.url()}`);
  });
  return Object.assign(page, { faults });
}

interface Member {
  readonly email?: string;
  readonly role?: string;
  readonly name?: string;
}

/** Invites somebody into the workspace and has them sign in by the link; they are an admin by default. */
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

/** The path of a sign-in link for a member of the workspace. */
export async function linkFor(
  service: TestService,
  { id, apiKey }: TestWorkspace,
  { role = "admin", ...member }: Member = {},
): Promise<string> {
  // A person of their own for each workspace and role: somebody in two workspaces starts in the other.
  const email = `${role}.of.${id}@example.org`;
  const invitation = { email, role, name: "Ada Lovelace", ...member };
  const { body } = await service.request("/v1/members", { apiKey, body: invitation });
  return body.sign_in_path;
}

/** Opens a page of a workspace in a browser of its own, as somebody new in it: an admin by default. */
export async function openAsMember(
  dashboard: TestDashboard,
  path: string,
  {
    workspace = dashboard.workspace,
    ...member
  }: Member & { readonly workspace?: TestWorkspace } = {},
  options?: BrowserContextOptions,
): Promise<TestPage> {
  const page = await dashboard.newPage(options);
  await signInTo(page, dashboard, workspace, member);
  await page.goto(`/w/${workspace.id}${path}`);
  return page;
}

/** Opens a page of the platform in a browser of its own, as somebody new with this role. */
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

/** Opens the menu of workspaces, modes and the account. */
export async function openPlaceMenu(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: /^Workspace and account/ }).click();
  return page.locator("#place-menu");
}

/** Chooses from the menu of what else can be done on the page; by a click unless told otherwise. */
export async function chooseMore(
  page: Page,
  name: string,
  press = (_: Page, target: Locator) => target.click(),
): Promise<void> {
  await press(page, page.locator("main summary[aria-label=More]"));
  await press(page, page.locator(".menu-content").getByText(name, { exact: true }));
}

/** Presses a button of the dialog. */
export function pressInDialog(page: Page, name: string): Promise<void> {
  return page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
}

/**
 * Makes an operator who is a person, and has them sign in by a link; they are an owner by default.
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
  await page.goto(link.body.sign_in_path);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Platform", level: 1 }).waitFor();
  return email;
}

/** A phone that is held in a hand, for `newPage`. */
export const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

/** Goes to something by the key Tab alone, forwards or back. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 120; presses++) {
    const key = await target.evaluate((element) => {
      const { activeElement, body } = element.ownerDocument;
      if (element === activeElement) return undefined;
      const { DOCUMENT_POSITION_PRECEDING } = element;
      const isBefore =
        activeElement!.compareDocumentPosition(element) & DOCUMENT_POSITION_PRECEDING;
      return isBefore && activeElement !== body ? "Shift+Tab" : "Tab";
    });
    if (key === undefined) return;
    await page.keyboard.press(key);
  }
  throw new Error(`Tab does not lead to ${target}`);
}

/** Presses a button, or follows a link, by keys alone. */
export async function enter(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press("Enter");
}

/** The two ways to do without a pointer: how a browser is for each, and how something is pressed. */
export const WITHOUT_POINTER = [
  ["by keys alone", {}, enter],
  ["by touch", PHONE, (_: Page, target: Locator) => target.tap()],
] as const;

/**
 * Expects that axe finds nothing on the page as it is, that no control is narrower than its text, that open menus are
 * within the screen, and on a phone that every control takes a finger.
 */
export async function expectUsable(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.evaluate(await axeSource());
  const isTouched = await page.evaluate<boolean>("matchMedia('(pointer: coarse)').matches");
  await expect
    .poll(async () => ({
      violations: await violationsOn(page),
      small: isTouched ? await page.evaluate(SMALL) : [],
      cut: await page.evaluate(CUT),
    }))
    .toEqual({ violations: [], small: [], cut: [] });
}

/** Controls whose text reaches beyond them, over their neighbors, and open menus that reach beyond the screen. */
const CUT = `(() => {
  const isVisible = (it) => it.checkVisibility();
  const isNarrow = (it) => it.scrollWidth > it.clientWidth + 1 && getComputedStyle(it).overflowX === "visible";
  const isBeyond = ({ left, right, top, bottom }) => left < 0 || right > innerWidth || top < 0 || bottom > innerHeight;
  const controls = [...document.querySelectorAll("button, .button, summary, nav a")].filter(isVisible);
  const menus = [...document.querySelectorAll(".menu[open] > .menu-content")].filter(isVisible);
  return [
    ...controls.filter((it) => getComputedStyle(it).display !== "inline" && isNarrow(it)),
    ...menus.filter((it) => isBeyond(it.getBoundingClientRect())),
  ].map((it) => it.outerHTML.slice(0, 200));
})()`;

/**
 * Controls lower or narrower than 44 pixels, with what lies around them to be touched. A link in a text is as high
 * as its line, and a label is of its box.
 */
const SMALL = `(() => {
  const controls = "button, .button, input, select, textarea, summary, label:has(input), nav a, a.up";
  const isControl = (it) => it.checkVisibility() && !it.matches("label input, .skip, [type=range], .table thead:not(:has(.box)) *");
  return [...document.querySelectorAll(controls)].filter(isControl).flatMap((it) => {
    const around = getComputedStyle(it, "::after");
    const [width, height] = ["width", "height"].map((side) =>
      Math.max(it.getBoundingClientRect()[side], parseFloat(around[side]) || 0));
    return Math.min(width, height) < 43.9 ? [it.outerHTML + " " + width + " x " + height] : [];
  });
})()`;

/** Adds a filter to a list, or changes the one that is there: its fields are seen then. */
export async function openFilter(page: Page, name: string): Promise<Locator> {
  const chip = page.locator(".chip").filter({ hasText: new RegExp(`^${name}`) });
  const add = page.locator("summary", { hasText: "+ Filter" });
  // It comes with the filters that are there.
  await add.waitFor();
  if ((await chip.count()) > 0) await chip.locator("summary").click();
  else {
    await add.click();
    await page.locator(".menu-content").getByRole("button", { name, exact: true }).click();
  }
  return chip.locator(".menu-content");
}

/** Narrows a list by one of the choices of a filter. */
export async function chooseFilter(page: Page, name: string, choice: string): Promise<void> {
  const menu = await openFilter(page, name);
  await menu.getByRole("link", { name: choice, exact: true }).click();
}

/**
 * Holds back what a page asks by a method until it is released. `asked` is the first such call, and `calls` are
 * all so far.
 */
export async function holdBack(page: Page, method: string) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const calls: Request[] = [];
  await page.route(`**/${method}`, async (route) => {
    calls.push(route.request());
    await released;
    // The page may not wait for it any more.
    await route.continue().catch(() => undefined);
  });
  return { release, calls, asked: page.waitForRequest(`**/${method}`) };
}

/** The queue of the list that is shown. */
export function currentQueue(page: Page): Locator {
  return page.getByRole("navigation", { name: "Queues" }).locator("[aria-current]");
}

/** The rows of a table by what it is called, without those of its head. */
export function rowsOf(page: Page, table: string): Locator {
  return page.getByRole("table", { name: table }).locator("tbody tr");
}

const WIDTHS = [1440, 1024, 768, 390, 360] as const;
export const THEMES = ["light", "dark"] as const;

/** The widths and themes that axe looks at. */
const LOOKED_AT: readonly string[] = ["1440-light", "1440-dark", "360-dark"];

/**
 * Expects that axe finds nothing on the page as it is, in both themes on a desktop and in one on a
 * phone, and that from a desktop's width to a phone's nothing is wider than the screen, nor the page
 * longer than what is on it. With SCREENSHOTS set to a folder, every width is put there in both themes,
 * under this name.
 *
 * @param lookedAt what axe looks at, where that is less
 */
export async function expectWellShown(
  page: Page,
  name: string,
  lookedAt = LOOKED_AT,
): Promise<void> {
  const before = page.viewportSize();
  await page.evaluate(await axeSource());
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const theme of THEMES) {
      // Colours differ by theme and arrangement by width, so that not every pair has to be looked at.
      const isLookedAt = lookedAt.includes(`${width}-${theme}`);
      if (!isLookedAt && !process.env.SCREENSHOTS) continue;
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await untilLoaded(page);
      await untilDrawn(page);
      await takeScreenshot(page, `${name}-${width}-${theme}`);
      if (!isLookedAt) continue;
      // Again while something is loaded anew, which may begin as axe looks.
      await expect
        .poll(async () => ({ name, width, theme, violations: await violationsOn(page) }))
        .toEqual({ name, width, theme, violations: [] });
    }
    await untilDrawn(page);
    expect({ name, width, beyond: await page.evaluate(BEYOND) }).toEqual({
      name,
      width,
      beyond: { wide: 0, long: 0 },
    });
  }
  await page.emulateMedia({ colorScheme: null });
  if (before === null) return;
  await page.setViewportSize(before);
  // What a narrow screen has no room for comes back, with the keys that it heeds.
  await untilDrawn(page);
}

/** By how much the document is wider than the screen, and longer than its content or the screen. */
const BEYOND = `(({ scrollWidth, scrollHeight }) => ({
  wide: scrollWidth - innerWidth,
  long: scrollHeight - Math.max(innerHeight, document.body.offsetHeight),
}))(document.documentElement)`;

/** What is loaded anew is dimmed when that takes long, and has less contrast then. */
async function untilLoaded(page: Page): Promise<void> {
  await expect.poll(() => page.locator(".loaded[aria-busy=true]").count()).toBe(0);
}

/**
 * Scripts hear of a new width or theme with the next frame, which a busy machine draws later than it
 * answers questions. Observers of sizes run at the end of a frame, so the frame after it is waited for, and
 * then what components do once they are drawn, such as listening.
 */
export async function untilDrawn(page: Page): Promise<void> {
  await page.evaluate(
    "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))",
  );
}

/** A map takes keys, clicks and pins where they belong once it is drawn, and says its scale then. */
export function untilMapDrawn(page: Page): Promise<void> {
  return page.locator(".map .scale", { hasText: /./ }).waitFor({ state: "attached" });
}

let source: Promise<string> | undefined;

/** Evaluated rather than added as a script, which the policy of the page forbids. */
function axeSource(): Promise<string> {
  source ??= readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  return source;
}

async function violationsOn(page: Page): Promise<unknown> {
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((it) => it.html + " " + it.failureSummary) })))`);
}

export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
