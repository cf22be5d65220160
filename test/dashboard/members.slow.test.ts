import { expect, test } from "vitest";
import {
  chooseInRow,
  describeDashboard,
  expectWellShown,
  openAsMember,
  openWorkspaceMenu,
  pressInDialog,
  rowsOf,
  type TestPage,
} from "./browser.ts";

describeDashboard("Settings → Members", (dashboard) => {
  async function open(email: string, role: string, workspace = dashboard.workspace): Promise<TestPage> {
    const page = await openAsMember(dashboard, "/settings", { workspace, email, role });
    await rows(page).filter({ hasText: email }).waitFor();
    return page;
  }

  const rows = (page: TestPage) => rowsOf(page, "Members");

  test("an invited person signs in with the link in another browser", async () => {
    const page = await open("ada@example.org", "admin");
    await page.getByRole("button", { name: "Invite member" }).click();
    await page.getByLabel("Email").fill("nobody");
    await page.getByRole("button", { name: "Create sign-in link" }).click();
    await page.locator(".field-error").waitFor();
    await expectWellShown(page, "members-refused");
    await page.getByLabel("Email").fill("grace@example.org");
    await page.getByLabel("Name").fill("Grace Hopper");
    await page.getByLabel("Role", { exact: true }).selectOption({ label: "Viewer: sees everything" });
    await page.getByRole("button", { name: "Create sign-in link" }).click();
    const dialog = page.getByRole("dialog", { name: "A link for grace@example.org" });
    const link = await dialog.locator("pre").innerText();
    await expectWellShown(page, "members-link");
    await dialog.getByRole("button", { name: "Done" }).click();
    await rows(page).filter({ hasText: "grace@example.org" }).getByText("Never").waitFor();
    await expectWellShown(page, "members");
    await page.setViewportSize({ width: 768, height: 900 });
    const actionsOfRow = rows(page).filter({ hasText: "grace@example.org" }).locator(".row-actions > *");
    const tops = await actionsOfRow.evaluateAll((all) => all.map((it) => it.getBoundingClientRect().top));
    expect(tops).toEqual([tops[0], tops[0]]);

    const other = await dashboard.newPage();
    await other.goto(link);
    await other.getByRole("button", { name: "Sign in" }).click();
    await (await openWorkspaceMenu(other)).getByText("Grace Hopper").waitFor();
    await other.keyboard.press("Escape");
    await other.goto(`/w/${dashboard.workspace.id}/settings#members`);
    await rows(other).filter({ hasText: "Grace Hopper" }).getByText("You").waitFor();
    const buttons = other.locator("#members").locator("button, summary");
    await expect.poll(() => buttons.count()).toBe(0);
  });

  test("changes a role, which applies on the member's next page", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("ada@example.org", "admin", own);
    const other = await open("alan@example.org", "viewer", own);
    await page.reload();
    await chooseInRow(page, "alan@example.org", "Change role");
    await page.getByRole("dialog").getByLabel("Role").selectOption({ index: 2 });
    await expectWellShown(page, "members-change");
    await pressInDialog(page, "Change role");
    await rows(page).filter({ hasText: "alan@example.org" }).getByText("Admin").waitFor();
    await expect
      .poll(async () => {
        await other.reload();
        await rows(other).first().waitFor();
        return other.getByRole("button", { name: "Invite member" }).count();
      })
      .toBe(1);
  });

  test("the last admin cannot be demoted or removed", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("ada@example.org", "admin", own);
    await chooseInRow(page, "ada@example.org", "Change role");
    await page.getByRole("dialog").getByLabel("Role").selectOption({ index: 0 });
    await pressInDialog(page, "Change role");
    await page.getByRole("dialog").getByText("last admin").waitFor();
    await expectWellShown(page, "members-last-admin");
    await page.keyboard.press("Escape");
    await chooseInRow(page, "ada@example.org", "Remove");
    await page.getByRole("button", { name: "Remove from the workspace" }).click();
    await page.getByRole("dialog").getByText("last admin").waitFor();
  });

  test("a removed member no longer sees the workspace", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("ada@example.org", "admin", own);
    const other = await open("joan@example.org", "member", own);
    await page.reload();
    await chooseInRow(page, "joan@example.org", "Remove");
    await page.getByRole("button", { name: "Remove from the workspace" }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await other.reload();
    await other.getByText("Sign in with a link").waitFor();
  });

  test("an admin who leaves no longer sees the workspace", async () => {
    const own = await dashboard.service.addWorkspace();
    await open("ada@example.org", "admin", own);
    const page = await open("kay@example.org", "admin", own);
    await chooseInRow(page, "kay@example.org", "Remove");
    await page.getByRole("button", { name: "Remove from the workspace" }).click();
    await page.getByText("Sign in with a link").waitFor();
  });
});
