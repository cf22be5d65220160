import { expect, test } from "vitest";
import { bookAnd } from "../support/bookings.ts";
import { addWebhook } from "../support/webhooks.ts";
import { describeDashboard, expectWellShown, openAsMember, rowsOf } from "./browser.ts";

describeDashboard("Developers → Events", (dashboard) => {
  const rows = (page: Parameters<typeof rowsOf>[0]) => rowsOf(page, "Events");

  test("lists events, filters them by type and subject, and shows their payload", async () => {
    const { service, workspace } = dashboard;
    const { apiKey } = workspace;
    const member = { workspace, role: "viewer" };
    const options = { permissions: ["clipboard-read", "clipboard-write"] };
    const page = await openAsMember(dashboard, "/settings/events", member, options);
    await page.getByText("No events yet").waitFor();
    const first = await bookAnd(service, apiKey, ["pay"]);
    const second = await bookAnd(service, apiKey, ["pay"]);
    const url = "https://hooks.example.org/events";
    const { data: webhook } = await addWebhook(service, apiKey, { url });
    await service.request(`/v1/webhooks/${webhook.id}/test`, { apiKey, body: {} });

    await page.reload();
    await expect.poll(() => rows(page).count()).toBe(7);
    await expectWellShown(page, "events");
    await page.getByLabel("Type").selectOption("shipment.paid");
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.getByLabel("Shipment or webhook").fill(String(first["reference"]));
    await page.keyboard.press("Enter");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.waitForURL(`**/events?type=shipment.paid&subject=${first["reference"]}`);
    await page.getByLabel("Type").selectOption("webhook.test");
    await page.getByText("No events match").waitFor();
    await page.getByRole("link", { name: "Show all events" }).click();
    await page.getByLabel("Shipment or webhook").fill(webhook.id);
    await page.keyboard.press("Enter");
    await expect.poll(() => rows(page).count()).toBe(1);
    await expect.poll(() => rows(page).innerText()).toContain("webhook.test");

    const id = `evt_${second["reference"]}_2`;
    await page.goto(`/w/${workspace.id}/settings/events?subject=${second["reference"]}`);
    await rows(page).getByRole("link", { name: "shipment.paid" }).click();
    const payload = page.locator(".code pre");
    await payload.waitFor();
    const { body } = await service.request(`/v1/events/${id}`, { apiKey });
    expect(JSON.parse(await payload.innerText())).toEqual(body.data);
    await rowsOf(page, "Changes").getByText('"awaiting_pickup"', { exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy payload" }).click();
    await page.getByText("Copied the payload.").waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(JSON.parse(copied)).toEqual(body.data);
    await expectWellShown(page, "event");
  });

  test("skips events of other types in pages of a thousand", async () => {
    const own = await dashboard.service.addWorkspace();
    await bookAnd(dashboard.service, own.apiKey, ["pay"]);
    await dashboard.service.app.em.execute(
      `insert into event (workspace_id, position, subject, number, type, data, created_at)
       select ?, 3 + i, 'SHP-0000000000ZZ', i, 'shipment.updated', '{}', now()
       from generate_series(1, 1000) as i`,
      [own.id],
    );
    const page = await openAsMember(dashboard, "/settings/events?type=shipment.paid", {
      workspace: own,
    });
    await page.getByText("No matches in the next 1,000 events").waitFor();
    await page.getByRole("link", { name: "Search older events" }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole("button", { name: "First page" }).click();
    await page.getByText("No matches in the next 1,000 events").waitFor();
  });
});
