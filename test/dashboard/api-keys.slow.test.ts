import { describe, expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { BOOKING } from "../support/bookings.ts";
import { eventually } from "../support/eventually.ts";
import {
  chooseInRow,
  describeDashboard,
  expectWellShown,
  holdBack,
  openAsMember,
  rowsOf,
  type TestPage,
} from "./browser.ts";

describeDashboard("Settings → API", (dashboard) => {
  async function open(role = "admin", workspace = dashboard.workspace): Promise<TestPage> {
    const member = { workspace, role };
    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await openAsMember(dashboard, "/settings/api", member, { permissions });
    await page.getByRole("table", { name: "Keys" }).waitFor();
    return page;
  }

  const rows = (page: TestPage) => rowsOf(page, "Keys");

  /** Returns how the page names its only key, which has no name. */
  const titleOf = async (page: TestPage) => (await rows(page).locator("code").innerText()).replace("shp_", "");

  /** Returns the HTTP status of a call with a key. */
  const callWith = async (apiKey: string) => (await dashboard.service.request("/v1/workspace", { apiKey })).status;

  /** Reads the secret from the dialog and closes the dialog. */
  async function takeSecret(page: TestPage): Promise<string> {
    const dialog = page.getByRole("dialog", { name: "The new key" });
    await dialog.getByRole("button", { name: "Copy key" }).click();
    // The message must be in the dialog, because screen readers announce nothing outside it.
    await dialog.getByRole("status").getByText("Copied the key.").waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    await expect.poll(() => dialog.locator("pre").innerText()).toBe(copied);
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "hidden" });
    return copied;
  }

  test("creates a key with a name that works and is shown once", async () => {
    const page = await open();
    const { port } = new URL(dashboard.service.grpcUrl);
    await page.getByText(`http://127.0.0.1:${port}/shipments.v1.ShipmentService/`).waitFor();
    await expectWellShown(page, "api");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await page.locator(".field-error").waitFor();
    await page.getByLabel("Name").fill("Web shop");
    await expectWellShown(page, "api-create");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "The new key" }).waitFor();
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
    await page.getByText("The key is shown only once.").waitFor();
    await expectWellShown(page, "api-secret");
    const secret = await takeSecret(page);
    expect(await callWith(secret)).toBe(200);
    const made = rows(page).filter({ hasText: "Web shop" });
    await expect.poll(() => made.locator("code").innerText()).toBe(`shp_…${secret.slice(-4)}`);
    expect(await page.content()).not.toContain(secret);
  });

  test("a late response of a closed dialog does not close another dialog", async () => {
    const page = await open("admin", await dashboard.service.addWorkspace());
    const { release } = await holdBack(page, "UpdateApiKey");
    await page.getByRole("button", { name: /^Edit/ }).click();
    await page.getByLabel("Name").fill("Till");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await chooseInRow(page, await titleOf(page), "Revoke");
    release();
    await rows(page).filter({ hasText: "Till" }).waitFor();
    await expect.poll(() => page.getByRole("dialog", { name: /^Revoke/ }).isVisible()).toBe(true);
  });

  test("creates a read-only key, shows it as such, and changes its name and scope", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("admin", own);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByLabel("Name").fill("Reports");
    await page.getByLabel("Allowed calls").selectOption("Read and quote only");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "The new key" }).waitFor();
    const apiKey = await takeSecret(page);
    const book = async () => (await dashboard.service.request("/v1/shipments", { apiKey, body: BOOKING })).status;
    expect([await callWith(apiKey), await book()]).toEqual([200, 403]);
    await rows(page).filter({ hasText: "Reports" }).getByText("Read-only").waitFor();
    await page.getByRole("button", { name: "Edit: Reports" }).click();
    await expectWellShown(page, "api-edit");
    await page.getByLabel("Name").fill("Web shop");
    await page.getByLabel("Allowed calls").selectOption("Everything");
    await page.getByRole("button", { name: "Save" }).click();
    await rows(page).filter({ hasText: "Web shop" }).waitFor();
    await expect.poll(() => page.getByText("Read-only").count()).toBe(0);
    await eventually("the new scope", async () => (await book()) === 201);
  });

  test("editing a key keeps a scope that was changed since the dialog was opened", async () => {
    const own = await dashboard.service.addWorkspace();
    const { createApiKey, updateApiKey, listApiKeys } = dashboard.service.as(own.apiKey);
    const { id: key } = await data(createApiKey({ name: "Reports", scope: "full" }));
    const page = await open("admin", own);
    await page.getByRole("button", { name: "Edit: Reports" }).click();
    await data(updateApiKey({ key, scope: "read_only" }));
    await page.getByLabel("Name").fill("Figures");
    await page.keyboard.press("Enter");
    await rows(page).filter({ hasText: "Figures" }).getByText("Read-only").waitFor();
    await page.getByRole("button", { name: "Edit: Figures" }).click();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await data(listApiKeys({}))).toContainEqual(
      expect.objectContaining({ name: "Figures", scope: "read_only" }),
    );
  });

  test("rotates a key, so that the new one works immediately and the old one until its overlap ends", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("admin", own);
    await chooseInRow(page, await titleOf(page), "Rotate");
    await page.getByLabel("Old key expires").selectOption("In 1 hour");
    await expectWellShown(page, "api-rotate");
    await page.getByRole("button", { name: "Create new key" }).click();
    const secret = await takeSecret(page);
    await expect.poll(() => rows(page).count()).toBe(2);
    await expect.poll(() => rows(page).first().innerText()).toMatch(/Ends in (59 min|1 hr)\./);
    expect([await callWith(own.apiKey), await callWith(secret)]).toEqual([200, 200]);

    await dashboard.service.app.em.execute(
      `update api_key set ends_at = clock_timestamp(), changed_at = clock_timestamp()
       where workspace_id = ? and ends_at is not null`,
      [own.id],
    );
    await eventually("the old key to expire", async () => (await callWith(own.apiKey)) === 401);
    expect(await callWith(secret)).toBe(200);
  });

  test("revokes a key after confirmation, but not the last one", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("admin", own);
    await page.locator(`summary[aria-label="More: ${await titleOf(page)}"]`).click();
    await expectWellShown(page, "api-more", ["360-dark"]);
    await page.locator(".menu[open]").getByText("Revoke").click();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("This is the last ").waitFor();
    await expectWellShown(page, "api-revoke-refused");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });

    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByLabel("Name").fill("Second");
    await page.keyboard.press("Enter");
    const secret = await takeSecret(page);
    await chooseInRow(page, "Second", "Revoke");
    await page.getByRole("button", { name: "Revoke key" }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await eventually("the key to expire", async () => (await callWith(secret)) === 401);
  });

  test("the command on the page calls the address in the browser", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Copy command", exact: true }).click();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    const [, url] = /curl -sS (\S+)/.exec(command)!;
    expect(url).toBe(`${dashboard.service.httpUrl}/v1/shipments/quote`);
    const { pathname } = new URL(url!);
    const body = /-d '(.*)'/s.exec(command)![1];
    const { apiKey } = dashboard.workspace;
    const answer = await dashboard.service.request(pathname, { apiKey, body });
    expect([answer.status, answer.body.total]).toEqual([200, 12.69]);
  });

  test("shows limits and usage next to each other", async () => {
    const page = await open();
    const table = page.getByRole("table", { name: "Limits and usage" });
    await table.waitFor();
    const cells = table.locator("tbody tr").first().locator("th, td");
    await expect
      .poll(() => cells.allInnerTexts())
      .toEqual(["Quotes", "10,000/s, burst 20,000", expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
    const chart = page.getByRole("table", { name: "Calls by hour" });
    await expect.poll(() => chart.getByRole("rowheader").count()).toBe(24);
  });

  describe("for a member who is not an admin", () => {
    test("keys are shown without actions", async () => {
      const page = await open("member");
      await expect.poll(() => rows(page).locator("button, summary").count()).toBe(0);
      await expect.poll(() => page.getByRole("button", { name: "Create key" }).count()).toBe(0);
      await expectWellShown(page, "api-member");
    });
  });
});
