import { expect, test } from "vitest";
import { NO_PAYMENT_DETAILS } from "../../src/domain/shipment/payment-details.ts";
import { data } from "../support/answers.ts";
import { bookAnd } from "../support/bookings.ts";
import type { TestWorkspace } from "../support/service.ts";
import { addWebhook } from "../support/webhooks.ts";
import {
  describeDashboard,
  enter,
  expectAccessible,
  expectUsable,
  expectWellShown,
  linkFor,
  openAsMember,
  openAsOperator,
  openWorkspaceMenu,
  PHONE,
  pressInDialog,
  rowsOf,
  signInAsOperator,
  type TestPage,
} from "./browser.ts";

describeDashboard("items that need attention", (dashboard) => {
  const entry = (page: TestPage) =>
    page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Needs attention" });
  const items = (page: TestPage) => page.locator("main").locator(".attention-list li, tbody tr");
  /** Returns the title, count and subjects of each group. */
  const groups = (page: TestPage) =>
    page
      .locator("main .panel")
      .evaluateAll((panels) =>
        panels.map((panel) =>
          ["h2", ".badge", "li, tbody td"].flatMap((part) =>
            [...panel.querySelectorAll(part)].map((it) => it.textContent.replace(/since .*|\d+ \w+\.? ago|now/, "…")),
          ),
        ),
      );

  /** Creates a workspace with one issue of each kind. */
  async function addWorkspaceWithIssues(): Promise<TestWorkspace & { readonly reference: string }> {
    const own = await dashboard.service.addWorkspace();
    const { id, apiKey } = own;
    const shipment = await bookAnd(dashboard.service, apiKey, ["pay", "cancel"]);
    for (const [path, columns] of [
      ["given-up", "disabled_reason = 'failing', failing_since = now() - interval '6 days'"],
      ["failing", "failing_since = now() - interval '2 days'"],
    ] as const) {
      const url = `https://hooks.example.org/${path}`;
      const webhook = (await addWebhook(dashboard.service, apiKey, { url })).data.id;
      const where = "where workspace_id = ? and id = ?";
      await dashboard.service.app.em.execute(`update webhook set ${columns} ${where}`, [id, webhook]);
    }
    const { createApiKey, rotateApiKey } = dashboard.service.as(apiKey);
    const { id: key } = await data(createApiKey({ name: "Warehouse" }));
    await rotateApiKey({ key, overlap_seconds: 172_800 });
    return { ...own, reference: shipment["reference"] };
  }

  async function addWorkspaceWithLatePickups(count: number): Promise<TestWorkspace> {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    await service.as(own.apiKey).createCourier({ name: "Grace" });
    const contact = { recipient_name: "Annie Easley", recipient_phone: "+12125550123" };
    for (let i = 0; i < count; i++) await bookAnd(service, own.apiKey, ["pay"], contact);
    await makeLate(own);
    return own;
  }

  const makeLate = ({ id }: TestWorkspace) =>
    dashboard.service.app.em.execute(
      "update shipment set created_at = now() - interval '3 days' where workspace_id = ?",
      [id],
    );

  test("are counted on every page, listed by severity, and removed once they are resolved", async () => {
    const own = await addWorkspaceWithIssues();
    const page = await openAsMember(dashboard, "/customers", { workspace: own });
    await entry(page).getByText("4", { exact: true }).waitFor();
    const labelWidth = () =>
      entry(page).evaluate((link) => {
        const range = link.ownerDocument.createRange();
        range.selectNode(link.childNodes[1]!);
        return range.getBoundingClientRect().width;
      });
    const width = await labelWidth();
    await entry(page).click();
    await page.getByRole("heading", { name: "Needs attention", level: 1 }).waitFor();
    expect(await labelWidth()).toBe(width);
    await expect
      .poll(() => groups(page))
      .toEqual([
        ["Disabled webhooks", "1", "https://hooks.example.org/given-up…"],
        ["Failing webhooks", "1", "https://hooks.example.org/failing…"],
        ["Refunds due", "1", own.reference, "…", "Ada Lovelace", "$12.69", "Record refund"],
        ["Expiring keys", "1", "Warehouseends in 2 days"],
      ]);
    await page.locator("header", { hasText: "Refunds due" }).getByText("$12.69", { exact: true }).waitFor();
    await expectWellShown(page, "attention");
    await page.getByRole("button", { name: "Record all refunds" }).click();
    await pressInDialog(page, "Record all refunds");
    await expect.poll(() => items(page).count()).toBe(3);
    await entry(page).getByText("3", { exact: true }).waitFor();
    await page.getByRole("link", { name: "https://hooks.example.org/failing" }).click();
    await page.waitForURL("**/settings/webhooks/wh_*");
  });

  test("all due refunds are listed with their sum and recorded, including those not shown by name", async () => {
    const { service } = dashboard;
    const own = await service.addWorkspace();
    for (let i = 0; i < 12; i++) await bookAnd(service, own.apiKey, ["pay", "cancel"]);
    const page = await openAsMember(dashboard, "/attention", { workspace: own });
    await page.getByRole("button", { name: "Record all refunds" }).click();
    const dialog = page.getByRole("dialog", { name: "Record all refunds: 12 shipments" });
    await dialog.getByText("$152.28 in total.").waitFor();
    await expect.poll(() => dialog.getByRole("listitem").count()).toBe(12);
    // Refunds that become due later are neither listed nor recorded, also after the connection was lost.
    const { reference: later } = await bookAnd(service, own.apiKey, ["pay", "cancel"]);
    const reloaded = page.waitForResponse("**/ListShipments");
    await page.route("**/GetAttention", (route) => route.abort());
    await page.locator(".connection-note", { hasText: /./ }).waitFor();
    await page.unroute("**/GetAttention");
    await reloaded;
    await expectWellShown(page, "attention-refunds");
    expect(await dialog.getByRole("listitem").count()).toBe(12);
    await pressInDialog(page, "Record all refunds");
    await page.getByText("12 shipments are refunded.").waitFor();
    await expect.poll(() => rowsOf(page, "Refunds due").allInnerTexts()).toEqual([expect.stringContaining(later)]);
    const { body } = await service.request("/v1/shipments?payment_status=refunded", own);
    expect(body.data).toHaveLength(12);
  });

  test("late shipments name their recipient and are resolved one by one or together", async () => {
    const { service } = dashboard;
    const own = await addWorkspaceWithLatePickups(3);
    const as = service.as(own.apiKey);
    const { reference } = await bookAnd(service, own.apiKey, ["pay", "advance"]);
    await data(as.recordAttempt({ shipment: reference, reason: "nobody_there" }));
    await makeLate(own);
    const page = await openAsMember(dashboard, "/attention", { workspace: own });
    const cells = (table: string) => rowsOf(page, table).first().getByRole("cell").allTextContents();
    await expect
      .poll(() => cells("Failed attempts"))
      .toEqual([
        "",
        reference,
        expect.stringMatching(/(ago|now)1 failed · nobody there$/),
        "Ada Lovelace",
        "$12.69",
        "Assign courier",
      ]);
    await data(as.setCourier({ shipment: reference, name: "Ada Byron" }));
    await rowsOf(page, "Failed attempts").getByRole("button", { name: "Change courier" }).click();
    await page.getByRole("dialog", { name: `Change courier: ${reference}` }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => cells("Late pickups")).toContain("Annie Easley+12125550123");
    await expect.poll(() => cells("Late deliveries")).toContainEqual(expect.stringMatching(/^Late \d+ \w+/));
    await page.getByRole("navigation", { name: "Groups" }).getByRole("link", { name: "Failed attempts 1" }).click();
    await expect.poll(() => page.evaluate("document.activeElement.innerText")).toMatch(/^Failed attempts/);
    await expectWellShown(page, "attention-late");
    await rowsOf(page, "Late deliveries").getByRole("button", { name: "Mark as delivered" }).click();
    await pressInDialog(page, "Mark as delivered");
    await rowsOf(page, "Late deliveries").waitFor({ state: "detached" });

    await page.getByLabel("Select all on this page: Late pickups").click();
    const bar = page.getByRole("region", { name: "Selection" });
    await bar.getByText("3 selected $38.07").waitFor();
    await bar.getByRole("button", { name: "Assign courier (3)" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    const pickUp = async () => {
      await bar.getByRole("button", { name: "Mark as picked up (3)" }).click();
      await pressInDialog(page, "Mark as picked up");
    };
    await page.route("**/BatchAdvanceShipments", (route) => route.abort(), { times: 1 });
    await pickUp();
    await page.getByRole("dialog", { name: "3 shipments are not picked up" }).waitFor();
    await page.keyboard.press("Escape");
    await pickUp();
    await expect.poll(() => rowsOf(page, "Late deliveries").count()).toBe(3);
    await expect.poll(() => rowsOf(page, "Late pickups").count()).toBe(0);
  });

  test("late pickups can be recorded in a workspace without couriers", async () => {
    const own = await dashboard.service.addWorkspace();
    await bookAnd(dashboard.service, own.apiKey, ["pay"]);
    await makeLate(own);
    const page = await openAsMember(dashboard, "/attention", { workspace: own });
    await rowsOf(page, "Late pickups").getByRole("button", { name: "Mark as picked up" }).click();
    await pressInDialog(page, "Mark as picked up");
    await rowsOf(page, "Late deliveries").waitFor();
  });

  test("disputed and unassigned payments name the courier and the reason, without a time", async () => {
    const own = await dashboard.service.addWorkspace();
    for (const details of [{ dispute: "open" }, { uncounted: 1, error: "Paid too late." }]) {
      const { reference: shipment } = await bookAnd(dashboard.service, own.apiKey, ["pay", "advance"]);
      await data(dashboard.service.as(own.apiKey).setCourier({ shipment, name: "Ada Byron" }));
      await dashboard.service.app.em.execute("update shipment set payment_details = ?::jsonb where reference = ?", [
        JSON.stringify({ ...NO_PAYMENT_DETAILS, ...details }),
        shipment,
      ]);
    }
    const page = await openAsMember(dashboard, "/attention", { workspace: own });
    const headers = (table: string) =>
      page.getByRole("table", { name: table }).getByRole("columnheader").allTextContents();
    await expect
      .poll(() => headers("Disputed payments"))
      .toEqual([expect.any(String), "Shipment, customer", "Recipient", "Courier", "Total"]);
    expect(await headers("Unassigned payments")).toEqual([
      expect.any(String),
      "Shipment, customer",
      "Reason",
      "Recipient",
      "Courier",
      "Total",
    ]);
    await rowsOf(page, "Unassigned payments").getByText("Paid too late.").waitFor();
    await rowsOf(page, "Unassigned payments").getByText("Ada Byron").waitFor();
  });

  test("on a phone, the checkboxes of late shipments are next to their references", async () => {
    const own = await addWorkspaceWithLatePickups(1);
    const page = await openAsMember(dashboard, "/attention", { workspace: own }, PHONE);
    const atCenter = await rowsOf(page, "Late pickups")
      .locator("code")
      .evaluate((code) => {
        const { left, top, width, height } = code.getBoundingClientRect();
        return code.ownerDocument.elementFromPoint(left + width / 2, top + height / 2)?.className;
      });
    expect(atCenter).toBe("row-link");
    const edges = await page
      .locator(".panel, th.box input, td.box input")
      .evaluateAll((all) => all.map((it) => it.getBoundingClientRect().left));
    expect(edges).toEqual(edges.toSorted((a, b) => a - b));
    // The delay needs no heading.
    const late = rowsOf(page, "Late pickups").getByRole("cell", { name: /^Late 2 days$/ });
    expect(await late.getAttribute("data-label")).toBe(null);
    await expectUsable(page);
  });

  for (const [device, options] of [
    ["a phone", PHONE],
    ["a tablet", { ...PHONE, viewport: { width: 1024, height: 500 } }],
    ["a desktop", { viewport: { width: 1440, height: 500 } }],
  ] as const) {
    test(`actions for selected shipments stay in sight on ${device}`, async () => {
      const own = await addWorkspaceWithLatePickups(10);
      const page = await openAsMember(dashboard, "/attention", { workspace: own }, options);
      const box = rowsOf(page, "Late pickups").last().getByRole("checkbox");
      await box.scrollIntoViewIfNeeded();
      const { y } = (await box.boundingBox())!;
      await box.click();
      await page.getByText("1 selected").waitFor();
      const assign = page.getByRole("button", { name: "Assign courier (1)" });
      const isVisible = await assign.evaluate((element) => {
        const { left, top } = element.getBoundingClientRect();
        return element === element.ownerDocument.elementFromPoint(left + 9, top + 9);
      });
      expect([isVisible, (await box.boundingBox())!.y]).toEqual([true, y]);
      await expectUsable(page);
      await page.getByRole("button", { name: "Clear" }).click();
      await assign.waitFor({ state: "detached" });
    });
  }

  test("are absent in a healthy workspace, where the page explains what would appear", async () => {
    const own = await dashboard.service.addWorkspace();
    const page = await openAsMember(dashboard, "/attention", { workspace: own });
    await page.getByText("Nothing needs attention").waitFor();
    await expect.poll(() => entry(page).innerText()).toBe("Needs attention");
    await expectWellShown(page, "attention-none");
  });

  test("include a blocked booking with a keyboard-accessible link to payments", async () => {
    const own = await dashboard.service.addWorkspace({ paymentProvider: undefined });
    const page = await openAsMember(dashboard, "/attention", { workspace: own });
    await page.getByRole("heading", { name: "No payment provider accepts payments for this workspace." }).waitFor();
    await enter(page, page.getByRole("link", { name: "Set up payments" }));
    await page.waitForURL("**/settings#payments");
    await page.getByText("Routes can already be quoted.").waitFor();
  });

  test("are a dot on a phone's navigation, and work by touch", async () => {
    const own = await addWorkspaceWithIssues();
    const page = await openAsMember(dashboard, "", { workspace: own }, PHONE);
    const navigation = page.getByRole("button", { name: "Navigation" });
    await navigation.locator(".dot").waitFor();
    await navigation.tap();
    await expectAccessible(page);
    await expectUsable(page);
    await entry(page).tap();
    await expect.poll(() => items(page).count()).toBe(4);
    await (await openWorkspaceMenu(page)).getByRole("link", { name: "Switch to test mode" }).tap();
    await page.getByText("Nothing needs attention").waitFor();
    await page.getByRole("banner").getByText("Test mode", { exact: true }).waitFor();
  });

  test("of all workspaces are listed and counted on a page for operators, by keyboard", async () => {
    const own = await addWorkspaceWithIssues();
    const { em } = dashboard.service.app;
    await em.execute("update workspace set name = 'Corner Shop' where id = ?", [own.id]);
    await em.execute("update payment_connection set provider = 'stripe', state = 'restricted' where workspace_id = ?", [
      own.id,
    ]);
    const page = await openAsOperator(dashboard, "/platform", "viewer");
    await entry(page).locator(".count").waitFor();
    await entry(page).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Needs attention", level: 1 }).waitFor();
    const ofShop = items(page).filter({ hasText: "Corner Shop" });
    const texts = async () => (await ofShop.allTextContents()).map((text) => text.replace(/since .*/, "since …"));
    await expect
      .poll(texts)
      .toEqual([
        "Corner Shop",
        "Corner Shophttps://hooks.example.org/given-up since …",
        "Corner Shophttps://hooks.example.org/failing since …",
      ]);
    await expectWellShown(page, "attention-platform");
    await page.getByRole("link", { name: "Corner Shop" }).first().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Corner Shop", level: 1 }).waitFor();
  });

  test("the menu moves between pages by keyboard, and every page has its own icon", async () => {
    const page = await dashboard.newPage();
    const email = await signInAsOperator(page, dashboard, "owner");
    await linkFor(dashboard.service, dashboard.workspace, { email });
    await page.goto(`/w/${dashboard.workspace.id}/customers`);
    const focused = () => page.evaluate("document.activeElement.textContent");
    const button = page.getByRole("button", { name: /^Workspace and account/ });
    await enter(page, button);
    await expect.poll(focused).toBe("Test");
    for (const choice of ["Platform", "Switch to test mode", "Account", "Sign out", "Test"]) {
      await page.keyboard.press("ArrowDown");
      await expect.poll(focused).toBe(choice);
    }
    await page.keyboard.press("Escape");
    await expect.poll(focused).toContain("Workspace and account");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Test");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    const drawn = await page
      .getByRole("navigation", { name: "Pages" })
      .locator("path")
      .evaluateAll((found) => found.map((path) => path.getAttribute("d")));
    expect(drawn.length).toBe(10);
    expect(new Set(drawn).size).toBe(drawn.length);
    expect(drawn).not.toContain("");
  });
});
