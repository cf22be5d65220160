import { beforeAll, expect, test } from "vitest";
import type { TestOperator } from "../support/service.ts";
import {
  chooseInRow,
  chooseMore,
  describeDashboard,
  expectWellShown,
  openAsMember,
  openAsOperator,
  pressInDialog,
  rowsOf,
  signInAsOperator,
  type TestPage,
} from "./browser.ts";

describeDashboard("the platform's operators", (dashboard) => {
  let machine: TestOperator;

  beforeAll(async () => {
    machine = await dashboard.service.addOperator("viewer");
  });

  const dialog = (page: TestPage) => page.getByRole("dialog");
  const self = (apiKey: string) => dashboard.service.request("/admin/v1/self", { apiKey });

  test("creates a machine with a working key and rotates and revokes it", async () => {
    const page = await openAsOperator(dashboard, "/platform/operators", "owner");
    await page.getByRole("button", { name: "Create operator" }).click();
    await dialog(page).getByLabel("Kind").selectOption("Machine: calls with a key");
    await dialog(page).getByLabel("Name").fill("Deploy robot");
    await dialog(page).getByLabel("Role").selectOption("Operator: changes everything except operators");
    await pressInDialog(page, "Create operator");
    const first = await dialog(page).locator("pre").innerText();
    await expectWellShown(page, "operator-key");
    const created = await self(first);
    expect([created.body.data.name, created.body.data.kind, created.body.data.role]).toEqual([
      "Deploy robot",
      "machine",
      "operator",
    ]);
    await pressInDialog(page, "Done");
    await page.getByRole("heading", { name: "Deploy robot", level: 1 }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Sign-in link" }).count()).toBe(0);

    for (const email of ["robots@example.org", ""]) {
      await chooseMore(page, "Edit");
      await dialog(page).getByLabel("Email").fill(email);
      await pressInDialog(page, "Save");
      await dialog(page).waitFor({ state: "hidden" });
      expect((await self(first)).body.data.email).toBe(email || null);
    }

    await page.getByRole("button", { name: "Create key" }).click();
    await dialog(page).getByLabel("Name").fill("Laptop");
    await pressInDialog(page, "Create key");
    const laptop = await dialog(page).locator("pre").innerText();
    await pressInDialog(page, "Done");
    await page.getByRole("button", { name: "Rotate: Laptop" }).click();
    await expectWellShown(page, "operator-key-rotate");
    await pressInDialog(page, "Create new key");
    const rotated = await dialog(page).locator("pre").innerText();
    await pressInDialog(page, "Done");
    await expect.poll(async () => (await self(laptop)).status).toBe(401);
    for (const key of [first, rotated]) expect((await self(key)).status).toBe(200);
    await chooseInRow(page, "Laptop", "Revoke");
    await pressInDialog(page, "Revoke key");
    await page.getByRole("button", { name: "Rotate: Laptop" }).waitFor({ state: "hidden" });
    expect((await self(first)).status).toBe(200);

    await chooseMore(page, "Rotate the key");
    await dialog(page).getByLabel("Other keys expire").selectOption("In 1 hour");
    await pressInDialog(page, "Create new key");
    const second = await dialog(page).locator("pre").innerText();
    await pressInDialog(page, "Done");
    const keys = rowsOf(page, "Keys");
    await expect.poll(() => keys.count()).toBe(2);
    await expectWellShown(page, "operator");
    for (const key of [first, second]) expect((await self(key)).status).toBe(200);

    const body = { name: "Made by the robot" };
    const made = await dashboard.service.request("/admin/v1/workspaces", { apiKey: second, body });
    expect(made.status).toBe(201);
    await page.getByRole("link", { name: "Show all in the audit log" }).click();
    await page.getByRole("row").filter({ hasText: "created the workspace" }).locator("summary").click();
    await page.getByText("Name: “Made by the robot”").waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe(`?operator=${created.body.data.id}`);
    await page.goBack();
    await page.getByRole("link", { name: "Show changes" }).click();
    await page.getByRole("cell", { name: / added the operator “/ }).waitFor();
    await page
      .getByRole("cell", { name: / replaced a key of / })
      .first()
      .waitFor();
    await page.goBack();

    await chooseMore(page, "Revoke");
    await dialog(page).getByText("This cannot be undone").waitFor();
    await expectWellShown(page, "operator-revoke");
    await pressInDialog(page, "Revoke operator");
    await page.getByText("No active keys.").waitFor();
    await expect.poll(async () => (await self(second)).status).toBe(401);

    await page.goto("/platform/operators");
    const row = page.getByRole("row").filter({ hasText: "Deploy robot" });
    await page.getByRole("table", { name: "Operators" }).waitFor();
    await expect.poll(() => row.count()).toBe(0);
    await page.getByRole("link", { name: "Include revoked" }).click();
    await row.getByText("Revoked").waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("?include_revoked=true");
    await expectWellShown(page, "operators");
  });

  test("a person needs an email, can be edited and signs in with a link", async () => {
    const page = await openAsOperator(dashboard, "/platform/operators", "owner");
    await page.getByRole("button", { name: "Create operator" }).click();
    await dialog(page).getByLabel("Name").fill("Alan Turing");
    await pressInDialog(page, "Create operator");
    await dialog(page).locator(".field-error").waitFor();
    await expect.poll(() => dialog(page).locator("[aria-invalid=true]").getAttribute("name")).toBe("email");
    await expectWellShown(page, "operator-create");
    await dialog(page).getByLabel("Email").fill("alan@example.org");
    await pressInDialog(page, "Create operator");
    await pressInDialog(page, "Done");
    await chooseMore(page, "Edit");
    await dialog(page).getByLabel("Name").fill("Alan M. Turing");
    await dialog(page).getByLabel("Role").selectOption("Operator: changes everything except operators");
    await expectWellShown(page, "operator-edit");
    await pressInDialog(page, "Save");
    await page.getByRole("heading", { name: "Alan M. Turing", level: 1 }).waitFor();
    await chooseMore(page, "Edit");
    const id = page.url().split("/").at(-1)!;
    const { key } = await dashboard.service.addOperator("owner");
    const path = `/admin/v1/operators/${id}`;
    await dashboard.service.request(path, { apiKey: key, method: "PATCH", body: { role: "viewer" } });
    await dialog(page).getByLabel("Name").fill("A. M. Turing");
    await pressInDialog(page, "Save");
    await page.getByRole("heading", { name: "A. M. Turing", level: 1 }).waitFor();
    // The role that another owner has set in the meantime is kept.
    const { body } = await dashboard.service.request(path, { apiKey: key });
    expect(body.data.role).toBe("viewer");

    await page.getByRole("button", { name: "Sign-in link" }).click();
    await pressInDialog(page, "Make a link");
    const link = await dialog(page).locator("pre").innerText();
    const other = await dashboard.newPage();
    await other.goto(link);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await other.goto("/platform/workspaces");
    await other.getByRole("heading", { name: "Workspaces", level: 1 }).waitFor();
  });

  test("the last owner cannot be revoked, and the page explains it", async () => {
    const page = await dashboard.newPage();
    const email = await signInAsOperator(page, dashboard);
    // Revokes all other owners without the page's knowledge.
    const { key: apiKey, id: own } = await dashboard.service.addOperator();
    const { body } = await dashboard.service.request("/admin/v1/operators?page_size=100", {
      apiKey,
    });
    const operators = body.data as { id: number; role: string; email: string | null }[];
    const others = operators.filter((it) => it.role === "owner" && it.email !== email);
    for (const { id } of others.filter((it) => it.id !== own)) {
      await dashboard.service.request(`/admin/v1/operators/${id}/revoke`, { apiKey, body: {} });
    }
    await dashboard.service.request(`/admin/v1/operators/${own}/revoke`, { apiKey, body: {} });
    const { id } = operators.find((it) => it.email === email)!;
    await page.goto(`/platform/operators/${id}`);
    await page.getByText("You", { exact: true }).waitFor();
    await chooseMore(page, "Revoke");
    await pressInDialog(page, "Revoke operator");
    await dialog(page).getByText("The operator is the last owner").waitFor();
    await expectWellShown(page, "operator-last-owner");
  });

  test("a viewer can change only their own keys and create a sign-in link", async () => {
    const page = await openAsOperator(dashboard, "/platform/operators", "viewer");
    await page.getByText("Owners create and change operators").waitFor();
    await expect.poll(() => page.getByRole("button", { name: /create/i }).count()).toBe(0);
    await page.goto(`/platform/operators/${machine.id}`);
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await expect.poll(() => page.getByRole("main").getByRole("button").count()).toBe(0);
    await page.goto("/platform/operators");
    await page.getByRole("row").filter({ hasText: "You" }).getByRole("link").click();
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await expect
      .poll(() => page.getByRole("main").locator("button:visible, summary").allTextContents())
      .toEqual(["Sign-in link", "Create key", "Rotate", "…"]);
  });

  test("a person who is not an operator sees a notice instead of the platform's pages", async () => {
    const page = await openAsMember(dashboard, "");
    await page.goto("/platform/operators");
    await page.getByText("You are not an operator of the platform").waitFor();
    await expectWellShown(page, "no-operator");
    await expect.poll(() => page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  });
});
