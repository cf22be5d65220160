import type { OperatorRole } from "../../src/domain/roles.ts";
import { signInAsOperator, type TestDashboard, type TestPage } from "./browser.ts";

/** Opens a page of the platform in a browser of its own, as somebody new with this role. */
export async function openAsOperator(
  dashboard: TestDashboard,
  path: string,
  role: OperatorRole = "operator",
): Promise<TestPage> {
  const page = await dashboard.newPage();
  await signInAsOperator(page, dashboard, { role });
  await page.goto(path);
  return page;
}
