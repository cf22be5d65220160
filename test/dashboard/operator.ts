import { randomUUID } from "node:crypto";
import type { OperatorRole } from "../../src/domain/operator-role.ts";
import type { TestDashboard, TestPage } from "./browser.ts";

/** Opens a page of the platform in a browser of its own, as somebody new with this role. */
export async function openAsOperator(
  dashboard: TestDashboard,
  path: string,
  role: OperatorRole = "operator",
): Promise<TestPage> {
  const { service } = dashboard;
  const { key: apiKey } = await service.addOperator();
  const email = `${role}.${randomUUID()}@example.org`;
  const body = { name: "Grace Hopper", kind: "person", role, email };
  const made = await service.request("/admin/v1/operators", { apiKey, body });
  const linkPath = `/admin/v1/operators/${made.body.data.id}/sign_in_link`;
  const link = await service.request(linkPath, { apiKey, body: {} });
  const page = await dashboard.newPage();
  await page.goto(link.body.sign_in_path);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Grace Hopper" }).waitFor();
  await page.goto(path);
  return page;
}
