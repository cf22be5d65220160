import { expect, test } from "vitest";
import { BOOKING, book } from "../support/bookings.ts";
import { eventually } from "../support/eventually.ts";
import { describeDashboard, expectWellShown, openAsMember, rowsOf } from "./browser.ts";

describeDashboard("Developers → Requests", (dashboard) => {
  test("lists calls, filters them by outcome and method, and shows details", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    const { apiKey } = own;
    const page = await openAsMember(dashboard, "/settings/requests", {
      workspace: own,
      role: "viewer",
    });
    // Inviting the viewer was a call too, which is listed a moment later.
    const listedOf = async () => (await service.request("/v1/requests", { apiKey })).body.data;
    await eventually("the invitation to be listed", async () => (await listedOf()).length > 0);
    await page.reload();
    await rowsOf(page, "Requests").getByText("POST /v1/members").waitFor();
    await book(service, apiKey);
    const headers = { "x-request-id": "mine-7" };
    const body = { ...BOOKING, weight_kg: -1 };
    const refused = await service.request("/v1/shipments", { apiKey, body, headers });
    await service.request("/v1/shipments/SHP-000000000000", { apiKey });
    await eventually("4 calls to be listed", async () => (await listedOf()).length === 4);
    await page.reload();
    const rows = rowsOf(page, "Requests");
    await expect.poll(() => rows.count()).toBe(4);
    await expectWellShown(page, "requests");
    await page.getByLabel("Outcome").selectOption("Refused");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel("Method").fill("CreateShipment");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows.count()).toBe(1);
    await page.waitForURL("**/requests?outcome=2&method=CreateShipment");
    await rows.getByRole("link", { name: "POST /v1/shipments" }).click();
    const dialog = page.getByRole("dialog", { name: "CreateShipment" });
    await dialog.getByText(refused.body.message).waitFor();
    for (const text of ["422", "invalid_argument", "FIELD_INVALID", "mine-7", `API key ${apiKey.slice(-4)}`]) {
      await dialog.getByText(text, { exact: true }).waitFor();
    }
    const curl = `curl -sS -X POST '${service.httpUrl}/v1/shipments' \\`;
    await expect.poll(() => dialog.locator(".code pre").innerText()).toContain(curl);
    await expectWellShown(page, "request");
    await page.goBack();
    await dialog.waitFor({ state: "hidden" });
    await page.getByLabel("Method").fill("CancelShipment");
    await page.keyboard.press("Enter");
    await page.getByText("No requests match").waitFor();
  });
});
