import { expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import {
  chooseFilter,
  currentQueue,
  describeDashboard,
  expectWellShown,
  linkFor,
  openWorkspaceMenu,
  signInTo,
  type TestPage,
} from "./browser.ts";

describeDashboard("signing in", (dashboard) => {
  /** Signs in a person and returns their page. */
  async function signedIn(): Promise<TestPage> {
    const page = await dashboard.newPage();
    await signInTo(page, dashboard);
    return page;
  }

  test("shows only the sign-in page at any URL without a session", async () => {
    const page = await dashboard.newPage();
    await page.goto("/w/1/shipments");
    await page.getByText("Sign in with a link").waitFor();
    await expectWellShown(page, "sign-in");
    await expect.poll(() => page.title()).toBe("Sign in · Shipments");
  });

  test("a person without a link sees who can provide one, without commands, and finds the guides", async () => {
    const page = await dashboard.newPage();
    await page.goto("/w/12/shipments?status=1");
    await page.getByText("Ask an admin of your workspace", { exact: true }).waitFor();
    await expect.poll(() => page.locator("main code").count()).toBe(0);
    const guides = page.getByRole("main").getByRole("link");
    const addresses = await guides.evaluateAll((links) => links.map((it) => it.getAttribute("href")));
    expect(addresses).toEqual(["/docs", "/docs/signing-in#sign-in-with-a-link", "/docs/api"]);
    await guides.nth(1).click();
    await page.getByRole("heading", { name: "Sign in with a link" }).waitFor();
  });

  test("a link signs in once after a click and does not stay in the history", async () => {
    const page = await dashboard.newPage();
    const link = await linkFor(dashboard.service, dashboard.workspace);
    await page.goto(link);
    await expectWellShown(page, "sign-in-by-link");
    await expect.poll(() => new URL(page.url()).hash).toBe("");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`**/w/${dashboard.workspace.id}/shipments`);

    const other = await dashboard.newPage();
    await other.goto(link);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.getByText("This link is not valid").waitFor();
    await other.getByText("Sign in with a link").waitFor();
    await expectWellShown(other, "sign-in-refused");

    const damaged = await dashboard.newPage();
    await damaged.goto(link.replace("token=", ""));
    await damaged.getByRole("button", { name: "Sign in" }).click();
    await damaged.getByText("This link is not valid").waitFor();
  });

  test("signing in returns to the previous page with its filters", async () => {
    const page = await dashboard.newPage();
    await page.goto(`/w/${dashboard.workspace.id}/shipments?status=1`);
    await page.getByText("Sign in with a link").waitFor();
    await signInTo(page, dashboard);
    await page.waitForURL(`**/w/${dashboard.workspace.id}/shipments?status=1`);
    await currentQueue(page).getByText("To pay").waitFor();
  });

  test("a session that ends elsewhere redirects to the sign-in page and back", async () => {
    const page = await signedIn();
    await chooseFilter(page, "Payment", "Paid");
    const address = `**/w/${dashboard.workspace.id}/shipments?payment_status=2`;
    await page.waitForURL(address);
    await page.context().clearCookies();
    // The event reloads the list. A click might come too late.
    await book(dashboard.service, dashboard.workspace.apiKey);
    await page.getByText("Sign in with a link").waitFor();
    await signInTo(page, dashboard);
    await page.waitForURL(address);
  });

  test("a link opened in another tab returns to the requested page in both tabs", async () => {
    const page = await dashboard.newPage();
    await page.goto(`/w/${dashboard.workspace.id}/shipments?status=1`);
    await page.getByText("Sign in with a link").waitFor();
    await expect.poll(() => page.getByText("Your session has expired").count()).toBe(0);
    const other = await page.context().newPage();
    await signInTo(other, dashboard);
    await other.waitForURL(`**/w/${dashboard.workspace.id}/shipments?status=1`);
    await currentQueue(page).getByText("To pay").waitFor();
  });

  test.each([
    ["another site", () => "//example.org/w/1"],
    // Adds 2, because the next id belongs to the workspace's test twin.
    ["a workspace without membership", () => `/w/${dashboard.workspace.id + 2}/shipments`],
    ["the platform without being an operator", () => "/platform"],
  ])("signing in does not redirect to %s", async (_, address) => {
    const page = await dashboard.newPage();
    await page.goto("/sign-in");
    const kept = JSON.stringify({ address: address(), keptAt: Date.now() });
    await page.evaluate(`localStorage.setItem("return-address", ${JSON.stringify(kept)})`);
    await signInTo(page, dashboard);
    await page.waitForURL(`**/w/${dashboard.workspace.id}/shipments`);
  });

  test("reports an expired session and restores typed text for the same person only", async () => {
    const page = await signedIn();
    const fields = [
      ["Pickup address", "1 Times Square"],
      ["Weight in kg", "2.5"],
      ["Name", "Grace Hopper"],
      ["Name of note 2", "gate"],
      ["Text of note 2", "B"],
    ] as const;
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const type = async () => {
      await page.goto(`/w/${dashboard.workspace.id}/book`);
      await page.getByLabel("Find customer").fill("Grace");
      await page.getByRole("option", { name: "New customer" }).click();
      await page.getByText("Reference and notes").click();
      for (let i = 0; i < 2; i++) await page.getByRole("button", { name: "Add note" }).click();
      for (const [label, text] of fields) await field(label).fill(text);
    };
    const loseSession = async () => {
      await page.context().clearCookies();
      await page.getByRole("button", { name: /^Book/ }).click();
      await page.getByText("Your session has expired.").waitFor();
    };
    await type();
    await loseSession();
    await page.getByText("Your unsaved changes are kept in this tab").waitFor();
    await expectWellShown(page, "sign-in-ended");
    await signInTo(await page.context().newPage(), dashboard);
    await page.getByText("Your unsaved changes were restored.").waitFor();
    for (const [label, text] of fields) {
      await expect.poll(() => field(label).inputValue()).toBe(text);
    }

    await loseSession();
    const stranger = { email: "kay@example.org", name: "Kay" };
    await signInTo(await page.context().newPage(), dashboard, undefined, stranger);
    await field("Find customer").waitFor();
    await expect.poll(() => field("Find customer").inputValue()).toBe("");

    await type();
    await page.context().clearCookies();
    // Simulates a sign-out in another tab.
    await page.evaluate("localStorage.removeItem('person')");
    await page.getByRole("button", { name: /^Book/ }).click();
    await page.getByText("Sign in with a link").waitFor();
    await expect.poll(() => page.getByText("Your session has expired.").count()).toBe(0);
    await expect.poll(() => page.evaluate("sessionStorage.getItem('kept-forms')")).toBe(null);
  });

  test("signing out ends the session", async () => {
    const page = await signedIn();
    const menu = await openWorkspaceMenu(page);
    await expectWellShown(page, "workspace-menu");
    await menu.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("Sign in with a link").waitFor();
    await page.goto("/");
    await page.getByText("Sign in with a link").waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  test("retries if the service cannot determine the session", async () => {
    const page = await signedIn();
    const calls = "**/shipments.account.v1.AccountService/GetAccount";
    await page.route(calls, (route) =>
      route.fulfill({ status: 500, json: { code: "internal", message: "Something failed." } }),
    );
    await page.goto(`/w/${dashboard.workspace.id}/shipments`);
    await page.getByText("Something failed.").waitFor();
    await page.unroute(calls);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("navigation", { name: "Queues" }).waitFor();
  });

  test("offers an identity provider with the page to return to", async () => {
    const page = await dashboard.newPage();
    const options = { oidc: { name: "accounts.example.org" } };
    await page.route("**/sign-in/options", (route) => route.fulfill({ json: options }));
    await page.goto("/w/1/shipments?status=1");
    const link = page.getByRole("link", { name: "Sign in at accounts.example.org" });
    await expect
      .poll(() => link.getAttribute("href"))
      .toBe("/sign-in/oidc?return_to=%2Fw%2F1%2Fshipments%3Fstatus%3D1");
    await expectWellShown(page, "sign-in-provider");
  });

  test("does not show a workspace without membership", async () => {
    const page = await signedIn();
    await page.goto("/w/999/shipments");
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await expectWellShown(page, "not-found");
  });
});
