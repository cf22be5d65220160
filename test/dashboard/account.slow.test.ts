import type { BrowserContextOptions } from "playwright-core";
import { expect, test } from "vitest";
import {
  describeDashboard,
  expectWellShown,
  openWorkspaceMenu,
  PHONE,
  pressInDialog,
  rowsOf,
  signInTo,
  type TestPage,
} from "./browser.ts";

/** User agent of the test's browser. */
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

describeDashboard("the account", (dashboard) => {
  async function open(email: string, options?: BrowserContextOptions): Promise<TestPage> {
    const page = await dashboard.newPage(options);
    await signInTo(page, dashboard, undefined, { email });
    await (await openWorkspaceMenu(page)).getByRole("link", { name: "Account" }).click();
    await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
    return page;
  }

  const rows = (page: TestPage) => rowsOf(page, "Sessions");

  test("changes the name and refuses an empty one", async () => {
    const page = await open("name@example.org");
    await expectWellShown(page, "account");
    await page.getByLabel("Name").fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".field-error").waitFor();
    await expectWellShown(page, "account-refused");
    await page.getByLabel("Name").fill("Augusta King");
    await page.keyboard.press("Enter");
    await (await openWorkspaceMenu(page)).getByText("Augusta King").waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Augusta King");
  });

  test("shortcuts are listed except on phones", async () => {
    const button = (page: TestPage) => page.getByRole("button", { name: "Show keys" });
    const desktop = await open("desktop@example.org");
    await button(desktop).click();
    await desktop.getByRole("dialog", { name: "Keys" }).getByText("Select row").waitFor();
    const page = await open("phone@example.org", PHONE);
    await page.getByText("Ctrl-K, arrow keys and Enter always work.").waitFor();
    expect(await button(page).count()).toBe(0);
  });

  test("single-character shortcuts can be turned off in this browser", async () => {
    const page = await open("keys@example.org");
    await page.getByLabel("Use single-character shortcuts in this browser").uncheck();
    const opensMenu = async () => {
      await page.goto(`/w/${dashboard.workspace.id}/shipments`);
      await page.locator("summary", { hasText: "+ Filter" }).waitFor();
      await page.keyboard.press("f");
      return (await page.locator("details[open]").count()) === 1;
    };
    expect(await opensMenu()).toBe(false);
    await page.goto("/account");
    await page.getByLabel("Use single-character shortcuts in this browser").check();
    expect(await opensMenu()).toBe(true);
  });

  test("signs out another session, which returns to its page with a new link", async () => {
    const page = await open("twice@example.org");
    const other = await open("twice@example.org", { userAgent: FIREFOX });
    await other.goto(`/w/${dashboard.workspace.id}/settings/webhooks`);
    await other.getByText("No webhooks yet").waitFor();
    await page.reload();
    await rows(page).filter({ hasText: "Firefox on Linux" }).waitFor();
    await expectWellShown(page, "account-sessions");
    await page.getByRole("button", { name: "Sign out: Firefox on Linux" }).click();
    await expectWellShown(page, "account-sign-out");
    await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await rows(page).getByText("This one").waitFor();

    await other.reload();
    await other.getByText("Sign in with a link").waitFor();
    await signInTo(other, dashboard, undefined, { email: "twice@example.org" });
    await other.waitForURL(`**/w/${dashboard.workspace.id}/settings/webhooks`);
    await other.getByText("No webhooks yet").waitFor();
  });

  test("signing out here ends the session, and signing in again returns to the page", async () => {
    const page = await open("here@example.org");
    await page.getByRole("button", { name: /^Sign out: / }).click();
    await pressInDialog(page, "Sign out");
    await page.getByText("Sign in with a link").waitFor();
    await page.goto("/account");
    await page.getByText("Sign in with a link").waitFor();
    await signInTo(page, dashboard, undefined, { email: "here@example.org" });
    await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Overview" }).waitFor();
  });
});
