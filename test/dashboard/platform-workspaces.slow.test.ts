import { beforeAll, describe, expect, test } from "vitest";
import { COVERED_ROUTE } from "../support/bookings.ts";
import type { TestOperator } from "../support/service.ts";
import {
  chooseInRow,
  chooseMore,
  describeDashboard,
  expectWellShown,
  openAsOperator,
  pressInDialog,
  rowsOf,
  type TestPage,
} from "./browser.ts";

describeDashboard("the platform's workspaces", (dashboard) => {
  let owner: TestOperator;

  beforeAll(async () => {
    owner = await dashboard.service.addOperator();
  });

  /** Creates a workspace through the API. Returns its id and key. */
  async function addNamed(name: string): Promise<{ id: number; apiKey: string }> {
    const operator = dashboard.service.as(owner.key);
    const { body } = await operator.createWorkspace({ name, payment_provider: "manual" });
    return { id: body.data.id, apiKey: body.api_key };
  }

  const quote = (apiKey: string) => dashboard.service.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });

  const admin = (path: string) => dashboard.service.request(`/admin/v1${path}`, { apiKey: owner.key });

  const dialog = (page: TestPage) => page.getByRole("dialog");
  async function openWorkspace(id: number): Promise<TestPage> {
    const page = await openAsOperator(dashboard, `/platform/workspaces/${id}`);
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    return page;
  }

  test("creates a workspace with a working key that is shown once", async () => {
    const page = await openAsOperator(dashboard, "/platform");
    await page.getByRole("link", { name: "Workspaces", exact: true }).click();
    await page.getByRole("button", { name: "Create workspace" }).click();
    await pressInDialog(page, "Create workspace");
    await dialog(page).locator(".field-error").waitFor();
    await dialog(page).getByLabel("Name").fill("Acme Couriers");
    await expectWellShown(page, "platform-workspace-create");
    await pressInDialog(page, "Create workspace");
    const key = await dialog(page).locator("pre").innerText();
    await expectWellShown(page, "platform-workspace-key");
    expect((await quote(key)).status).toBe(200);
    await pressInDialog(page, "Done");
    await page.getByRole("heading", { name: "Acme Couriers", level: 1 }).waitFor();
    await page.getByText("created the workspace").waitFor();
    expect(await page.content()).not.toContain(key);
    await expectWellShown(page, "platform-workspace");
  });

  test("searches the list by name and state, with both in the URL", async () => {
    const { id } = await addNamed("Quick Parcels 1");
    await addNamed("Quick Parcels 2");
    await dashboard.service.as(owner.key).suspendWorkspace({ workspace: id });
    const page = await openAsOperator(dashboard, "/platform/workspaces", "viewer");
    const rows = rowsOf(page, "Workspaces");
    await page.getByLabel("Name contains").fill("quick");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel("State").selectOption("Suspended");
    await expect.poll(() => rows.count()).toBe(1);
    await expect.poll(() => new URL(page.url()).search).toBe("?name_contains=quick&suspended=true");
    await expect
      .poll(() => rows.getByRole("cell").allTextContents())
      .toEqual(["Quick Parcels 1", "Suspended", String(id), "Manual", expect.any(String)]);
    await expectWellShown(page, "platform-workspaces");
    await rows.getByRole("link").click();
    await page.waitForURL(`**/platform/workspaces/${id}`);
    await page.goto("/platform/workspaces?name_contains=nothing+has+this");
    await page.getByText("No workspaces match").waitFor();
    await expectWellShown(page, "platform-workspaces-none");
  });

  test("the list has pages", async () => {
    const names = Array.from({ length: 51 }, (_, i) => `Many ${String(i).padStart(2, "0")}`);
    // Runs in sequence: on a busy machine, so many concurrent calls would wait too long for a
    // single account's connections.
    for (const name of names) await addNamed(name);
    const page = await openAsOperator(dashboard, "/platform/workspaces?name_contains=Many", "viewer");
    const rows = rowsOf(page, "Workspaces");
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Many 50").waitFor();
    await expect.poll(() => rows.count()).toBe(1);
  });

  describe("one workspace", () => {
    test("is suspended, so that its calls are refused, and resumed", async () => {
      const { id, apiKey } = await addNamed("To be suspended");
      const page = await openWorkspace(id);
      await chooseMore(page, "Suspend");
      await dialog(page).getByText("lose access within a second").waitFor();
      await expectWellShown(page, "platform-workspace-suspend");
      await pressInDialog(page, "Suspend the workspace");
      await page.getByText("suspended this workspace").waitFor();
      await expect.poll(async () => (await quote(apiKey)).status).toBe(403);
      await chooseMore(page, "Resume");
      await pressInDialog(page, "Resume the workspace");
      await page.getByText("resumed this workspace").waitFor();
      await expect.poll(async () => (await quote(apiKey)).status).toBe(200);
    });

    test("is renamed, with errors at the field", async () => {
      const { id } = await addNamed("Old name");
      const page = await openWorkspace(id);
      await chooseMore(page, "Rename");
      await dialog(page).getByLabel("Name").fill(" ");
      await pressInDialog(page, "Rename");
      await dialog(page).locator(".field-error").waitFor();
      await dialog(page).getByLabel("Name").fill("New name");
      await pressInDialog(page, "Rename");
      await page.getByRole("heading", { name: "New name", level: 1 }).waitFor();
      const change = page.getByRole("row").filter({ hasText: "renamed the workspace" });
      await change.getByText("Name: “Old name” before, now “New name”").waitFor();
      expect((await admin(`/workspaces/${id}`)).body.data.name).toBe("New name");
    });

    test("has its payments disconnected and connected", async () => {
      const { id } = await addNamed("Payments");
      const page = await openWorkspace(id);
      await chooseMore(page, "Disconnect payments");
      await pressInDialog(page, "Disconnect payments");
      await page.getByText("Not connected: bookings are blocked").waitFor();
      expect((await admin(`/workspaces/${id}`)).body.data.payment_provider).toBeNull();
      await chooseMore(page, "Connect payments");
      await pressInDialog(page, "Connect manual payments");
      await page.getByText("Payments connected.").waitFor();
      expect((await admin(`/workspaces/${id}`)).body.data.payment_provider).toBe("manual");
    });

    test("has its limits changed, with errors at the field", async () => {
      const { id } = await addNamed("Limits");
      const page = await openWorkspace(id);
      await page.getByRole("button", { name: "Change limits" }).click();
      await dialog(page).getByLabel("Quotes per second").fill("none");
      await pressInDialog(page, "Change limits");
      await dialog(page).locator(".field-error").waitFor();
      await expect.poll(() => dialog(page).locator("[aria-invalid=true]").getAttribute("name")).toBe("quote.rate");
      await expectWellShown(page, "platform-workspace-limits");
      await dialog(page).getByLabel("Quotes per second").fill("7");
      await dialog(page).getByLabel("Quotes burst").fill("");
      await pressInDialog(page, "Change limits");
      await page.getByText("7/s, burst 14", { exact: true }).waitFor();
      const { limits } = (await admin(`/workspaces/${id}`)).body.data;
      expect(limits.quote).toEqual({ rate: 7, burst: 14 });
    });

    test("has keys created, rotated with an overlap, and revoked", async () => {
      const { id, apiKey } = await addNamed("Keys");
      const page = await openWorkspace(id);
      const keys = rowsOf(page, "API keys");
      await page.getByRole("button", { name: "Create key" }).click();
      await dialog(page).getByLabel("Name").fill("Web shop");
      await pressInDialog(page, "Create key");
      const second = await dialog(page).locator("pre").innerText();
      await pressInDialog(page, "Done");
      await expect.poll(() => keys.count()).toBe(2);
      expect((await quote(second)).status).toBe(200);

      await page.getByRole("button", { name: "Rotate all" }).click();
      await dialog(page).getByLabel("Other keys expire").selectOption("In 1 hour");
      await pressInDialog(page, "Create new key");
      const third = await dialog(page).locator("pre").innerText();
      await pressInDialog(page, "Done");
      await expect.poll(() => keys.count()).toBe(3);
      await expect.poll(() => keys.getByText("Ends in").count()).toBe(2);
      await expectWellShown(page, "platform-workspace-keys");
      for (const key of [apiKey, second, third]) expect((await quote(key)).status).toBe(200);

      await chooseInRow(page, "Web shop", "Revoke");
      await pressInDialog(page, "Revoke key");
      await expect.poll(() => keys.count()).toBe(2);
      await expect.poll(async () => (await quote(second)).status).toBe(401);
      expect((await quote(third)).status).toBe(200);
    });

    test("has a member invited with a link that signs in to it", async () => {
      const { id } = await addNamed("Members");
      const page = await openWorkspace(id);
      await chooseMore(page, "Invite member");
      await dialog(page).getByLabel("Email").fill("nobody");
      await pressInDialog(page, "Make a link");
      await dialog(page).locator(".field-error").waitFor();
      await dialog(page).getByLabel("Email").fill("alan@example.org");
      await expectWellShown(page, "platform-workspace-invite");
      await pressInDialog(page, "Make a link");
      const link = await dialog(page).locator("pre").innerText();
      await pressInDialog(page, "Done");

      const member = await dashboard.newPage();
      await member.goto(link);
      await member.getByRole("button", { name: "Sign in" }).click();
      await member.waitForURL(`**/w/${id}**`);
      await member.getByRole("link", { name: "API" }).waitFor();
    });
  });

  test("a viewer sees everything without actions", async () => {
    const { id } = await addNamed("Looked at");
    const page = await openAsOperator(dashboard, "/platform/workspaces", "viewer");
    await page.getByRole("table", { name: "Workspaces" }).waitFor();
    await expect
      .poll(() =>
        page
          .getByRole("main")
          .getByRole("button", { name: /create/i })
          .count(),
      )
      .toBe(0);
    await page.goto(`/platform/workspaces/${id}`);
    await page.getByText("created the workspace").waitFor();
    await page.getByRole("table", { name: "API keys" }).waitFor();
    const buttons = page.getByRole("main").getByRole("button");
    await expect.poll(() => buttons.allTextContents()).toEqual(["Copy ID"]);
    await expectWellShown(page, "platform-workspace-viewer");
  });
});
