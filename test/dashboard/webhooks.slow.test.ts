import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { BOOKING } from "../support/bookings.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { addWebhook } from "../support/webhooks.ts";
import {
  chooseMore,
  describeDashboard,
  expectUsable,
  expectWellShown,
  holdBack,
  openAsMember,
  pressInDialog,
  rowsOf,
  type TestPage,
  WITHOUT_POINTER,
} from "./browser.ts";

describeDashboard("Settings → Webhooks", (dashboard) => {
  let receiver: Receiver;
  /** Whether the receiver accepts requests. */
  let accepts = true;

  beforeAll(async () => {
    receiver = await startReceiver((response) => {
      response.writeHead(accepts ? 204 : 500).end(accepts ? "" : "Out of order");
    });
  });

  beforeEach(() => {
    accepts = true;
  });

  afterAll(() => receiver.close());

  function open(path = "", role = "admin", workspace = dashboard.workspace): Promise<TestPage> {
    return openAsMember(dashboard, `/settings/webhooks${path}`, { workspace, role });
  }

  const rows = (page: TestPage) => rowsOf(page, "Deliveries");

  test("adds a webhook with a secret that is shown once, tests, edits, disables and deletes it", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await open("", "admin", own);
    await page.getByText("No webhooks yet").waitFor();
    await expectWellShown(page, "webhooks-none");

    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByLabel("URL").fill("ftp://example.org");
    await page.getByLabel("shipment.delivered").check();
    await page.getByRole("dialog").getByRole("button", { name: "Add webhook" }).click();
    await page
      .locator(".field-error")
      .getByText(/^URL must /)
      .waitFor();
    await expectWellShown(page, "webhooks-refused");
    await page.getByLabel("URL").fill(receiver.url);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "The webhook’s secret" }).waitFor();
    await expect.poll(() => page.getByRole("dialog").locator("pre").innerText()).toMatch(/^whsec_/);
    await expectWellShown(page, "webhooks-secret");
    await page.getByRole("button", { name: "Done" }).click();

    await page.getByText("No deliveries yet").waitFor();
    await page.getByRole("button", { name: "Send test event" }).click();
    await page.getByRole("dialog").getByText("Returned 204").waitFor();
    await pressInDialog(page, "Close");
    await rows(page).getByText("Delivered").waitFor();
    expect(receiver.received.at(-1)?.body.type).toBe("webhook.test");

    await chooseMore(page, "Edit");
    await expect.poll(() => page.getByLabel("shipment.delivered").isChecked()).toBe(true);
    await page.getByLabel("shipment.delivered").uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".facts").getByText("All events").waitFor();
    const as = dashboard.service.as(own.apiKey);
    const [{ id: webhook }] = await data(as.listWebhooks({}));
    await chooseMore(page, "Edit");
    await data(as.updateWebhook({ webhook, types: ["shipment.paid"] }));
    await page.getByLabel("URL").fill(`${receiver.url}/next`);
    await page.getByRole("button", { name: "Save" }).click();
    // The types that another admin has chosen in the meantime are kept.
    await page.locator(".facts").getByText("shipment.paid").waitFor();

    const sent = await holdBack(page, "TestWebhook");
    await page.getByRole("button", { name: "Send test event" }).click();
    await sent.requested;
    await page.getByRole("link", { name: "Shipments" }).click();
    const list = page.waitForResponse("**/TestWebhook");
    sent.release();
    await list;
    await page.getByRole("link", { name: "Settings" }).first().waitFor();
    await expect.poll(() => page.url(), { interval: 300 }).toMatch(/\/shipments$/);
    await page.goBack();

    await chooseMore(page, "Rotate secret");
    await page.getByRole("button", { name: "Generate new secret" }).click();
    await page.getByRole("button", { name: "Done" }).click();

    await chooseMore(page, "Disable");
    await page.getByRole("button", { name: "Disable webhook" }).click();
    await page.getByText("No events are sent to this webhook.").waitFor();
    await expectWellShown(page, "webhook-disabled");
    await expect.poll(() => page.getByRole("button", { name: "Send test event" }).count()).toBe(0);
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("button", { name: "Enable webhook" }).click();
    await page.locator(".badge").getByText("Enabled").waitFor();

    await chooseMore(page, "Delete");
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await page.getByText("No webhooks yet").waitFor();
    const { body } = await dashboard.service.request("/v1/webhooks", own);
    expect(body.data).toEqual([]);
  });

  test("shows why a webhook fails and resends failed deliveries", async () => {
    const { apiKey } = dashboard.workspace;
    const { data } = await addWebhook(dashboard.service, apiKey, { url: receiver.url });
    accepts = false;
    await dashboard.service.request("/v1/shipments", { apiKey, body: BOOKING });
    const page = await open(`/${data.id}`);
    await page.getByText("Failing since").first().waitFor();
    await rows(page).getByText("Pending").waitFor();
    await rows(page)
      .getByText(/^500 in \d+ ms$/)
      .waitFor();
    await expectWellShown(page, "webhook");
    await rows(page).getByRole("link", { name: "shipment.created" }).click();
    await page.waitForURL("**?delivery=*");
    const dialog = page.getByRole("dialog", { name: /^Attempts at delivery/ });
    await dialog.getByText("Returned 500").first().waitFor();
    await dialog.getByText("Out of order").first().waitFor();
    await dialog.getByText("Sent", { exact: true }).click();
    const { headers, body } = receiver.received.at(-1)!;
    await dialog.locator("dd").getByText(String(headers["webhook-id"])).waitFor();
    expect(JSON.parse(await dialog.locator(".code pre").innerText())).toEqual(body);
    await expectWellShown(page, "webhook-attempts");
    await page.goBack();
    await dialog.waitFor({ state: "hidden" });

    accepts = true;
    await page.getByRole("button", { name: "Send again: shipment.created" }).click();
    await dialog.getByText("Returned 204").waitFor();
    await pressInDialog(page, "Close");
    await rows(page).getByText("Delivered").first().waitFor();
    const { id } = receiver.received.at(-1)!.body;
    expect(receiver.received.filter(({ body }) => body.id === id).length).toBeGreaterThan(1);
    await page.locator(".badge").getByText("Enabled").waitFor();

    await page.getByLabel("Status").selectOption("Delivered");
    await page.waitForURL("**status=*");
    // There may be one more row, if the next attempt was made before the resend.
    await expect.poll(() => rows(page).count()).toBeGreaterThan(0);
    await page.getByLabel("Status").selectOption("Failed");
    await page.getByText("No deliveries match").waitFor();
    await page.goto(`/w/${dashboard.workspace.id}/settings/webhooks`);
    const listed = rowsOf(page, "Webhooks").filter({ hasText: receiver.url });
    await expect.poll(() => listed.innerText()).toMatch(/\d(\.\d)?% of \d+/);
    await page.getByRole("link", { name: receiver.url }).click();
    await page
      .locator(".facts")
      .getByText(/% of \d+/)
      .waitFor();
    await page.getByRole("heading", { name: new URL(receiver.url).host }).waitFor();
  });

  test.each(WITHOUT_POINTER)("shows failed deliveries and resends them, %s", async (_, options, press) => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    const { data } = await addWebhook(service, own.apiKey, { url: receiver.url });
    accepts = false;
    await service.request("/v1/shipments", { apiKey: own.apiKey, body: BOOKING });
    const path = `/settings/webhooks/${data.id}`;
    const page = await openAsMember(dashboard, path, { workspace: own }, options);
    const link = rows(page).getByRole("link", { name: "shipment.created" });
    await press(page, link);
    const dialog = page.getByRole("dialog", { name: /^Attempts at delivery/ });
    await dialog.getByText("Returned 500").first().waitFor();
    await expectUsable(page);
    await press(page, dialog.getByRole("button", { name: "Close" }));
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => page.locator(":focus").textContent()).toBe("shipment.created");
    accepts = true;
    await press(page, page.getByRole("button", { name: "Send again: shipment.created" }).first());
    await press(page, dialog.getByRole("button", { name: "Close" }));
    await rows(page).getByText("Delivered").first().waitFor();
    await expectUsable(page);
  });

  test("shows slow deliveries and does not request them again in the meantime", async () => {
    const own = await dashboard.service.addWorkspace();
    const { data } = await addWebhook(dashboard.service, own.apiKey, { url: receiver.url });
    const page = await openAsMember(dashboard, "/settings/webhooks", { workspace: own });
    const { requested, calls, release } = await holdBack(page, "ListWebhookDeliveries");
    await page.clock.install();
    await page.goto(`/w/${own.id}/settings/webhooks/${data.id}`);
    await requested;
    // Without a request in flight, the page would reload every two seconds.
    await page.clock.runFor(10_000);
    expect(calls).toHaveLength(1);
    release();
    await page.getByText("No deliveries yet").waitFor();
    await expect.poll(() => calls.length).toBeGreaterThan(1);
    await page.unrouteAll({ behavior: "wait" });
  });

  test("deliveries have pages", async () => {
    const own = await dashboard.service.addWorkspace();
    const { data } = await addWebhook(dashboard.service, own.apiKey, { url: receiver.url });
    for (let i = 0; i < 27; i++) {
      await dashboard.service.request(`/v1/webhooks/${data.id}/test`, { ...own, body: {} });
    }
    const page = await open(`/${data.id}`, "admin", own);
    await expect.poll(() => rows(page).count()).toBe(25);
    await page.keyboard.press("n");
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.getByRole("button", { name: "Previous" }).click();
    await expect.poll(() => rows(page).count()).toBe(25);
  });

  test("a viewer sees webhooks and deliveries, without actions", async () => {
    const { apiKey } = dashboard.workspace;
    const { data } = await addWebhook(dashboard.service, apiKey, { url: receiver.url });
    await dashboard.service.request(`/v1/webhooks/${data.id}/test`, { apiKey, body: {} });
    const page = await open("", "viewer");
    await page.getByRole("table", { name: "Webhooks" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Add webhook" }).count()).toBe(0);
    await expectWellShown(page, "webhooks");
    await page.goto(`/w/${dashboard.workspace.id}/settings/webhooks/${data.id}`);
    await rows(page).getByText("Delivered").waitFor();
    const buttons = ["Send test event", "Edit", "Delete", "Disable", "Rotate secret", /again/];
    for (const name of buttons) await expect.poll(() => page.getByRole("button", { name }).count()).toBe(0);
  });
});
