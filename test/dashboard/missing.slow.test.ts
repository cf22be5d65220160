import { test } from "vitest";
import { describeDashboard, linkFor, signInAsOperator } from "./browser.ts";

describeDashboard("an unknown record", (dashboard) => {
  test("shows a not-found page with a link to its list", async () => {
    const { service, workspace } = dashboard;
    const page = await dashboard.newPage();
    const email = await signInAsOperator(page, dashboard, "viewer");
    await linkFor(service, workspace, { email, role: "viewer" });
    const own = `/w/${workspace.id}`;
    for (const [path, kind] of [
      [`${own}/shipments/SHP-000000000000`, "shipment"],
      [`${own}/customers/none`, "customer"],
      [`${own}/settings/webhooks/wh_nothing`, "webhook"],
      [`${own}/settings/events/evt_nothing_1`, "event"],
      ["/platform/operators/999999", "operator"],
      ["/platform/workspaces/999999", "workspace"],
      ["/platform/workspaces/none", "workspace"],
    ] as const) {
      await page.goto(path);
      await page.getByText(`This ${kind} does not exist`).waitFor();
      await page.getByRole("link", { name: `Show all ${kind}s` }).click();
      const heading = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`;
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    }
  });
});
