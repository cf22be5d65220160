import { beforeAll, expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { book, bookAnd, type ShipmentJson } from "../support/bookings.ts";
import {
  describeDashboard,
  expectUsable,
  expectWellShown,
  holdBack,
  openAsMember,
  openAsOperator,
  PHONE,
  pressInDialog,
  takeScreenshot,
  type TestPage,
} from "./browser.ts";

describeDashboard("the search", (dashboard) => {
  let ada: ShipmentJson;

  beforeAll(async () => {
    const { service, workspace } = dashboard;
    ada = await book(service, workspace.apiKey, { external_reference: "order 7" });
    await book(service, workspace.apiKey, {
      customer_name: "Radia Perlman",
      customer_email: "radia@example.org",
      dropoff_address: "7 Spanning Tree Lane, Brooklyn",
    });
  });

  async function open(path = "") {
    const page = await openAsMember(dashboard, path);
    await page.getByRole("button", { name: "Search" }).waitFor();
    return page;
  }

  const box = (page: TestPage) => page.getByRole("combobox", { name: "Search" });
  const options = (page: TestPage) => page.getByRole("listbox").getByRole("option");

  test.each([
    ["a reference in any case", () => (ada["reference"] as string).toLowerCase()],
    ["an external reference", () => "Order 7"],
    ["words of an address", () => "park pros"],
  ])("opens a shipment by %s as soon as it is found", async (_, text) => {
    const page = await open();
    await page.keyboard.press("/");
    await box(page).waitFor();
    await page.keyboard.type(text());
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/shipments/${ada["reference"]}`);
    await expect.poll(() => box(page).count()).toBe(0);
  });

  test("finds everything that its placeholder names and shows the matching field", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { apiKey } = workspace;
    const { reference } = await bookAnd(service, apiKey, ["pay"], {
      recipient_name: "Annie Easley",
      dropoff_instructions: "Ring the porter",
      recipient_phone: "+12125550123",
      metadata: { po_number: "PO-77" },
    });
    await data(service.as(apiKey).setCourier({ shipment: reference, name: "Katherine" }));
    const page = await openAsMember(dashboard, "", { workspace });
    await page.getByRole("button", { name: "Search" }).click();
    await expect
      .poll(() => box(page).getAttribute("placeholder"))
      .toBe("Reference, name, address, phone, email, courier, note or action");
    const usual = "Annie Easley · 95 Prospect Park West, Brooklyn";
    const found = page.getByRole("group", { name: "Shipments" });
    for (const [text, lines, bold] of [
      [reference, [usual], reference.split("-")],
      ["lovelace prospect", [usual, "Customer: Ada Lovelace"], ["Prospect", "Lovelace"]],
      ["ada@example", [usual, "Customer: Ada Lovelace", "Customer email: ada@example.org"], ["Ada", "ada", "example"]],
      ["easley", [usual], ["Easley"]],
      ["0123", [usual, "Recipient phone: +12125550123"], ["0123"]],
      ["(212) 555-0123", [usual, "Recipient phone: +12125550123"], ["2125550123"]],
      ["katherine", [usual, "Courier: Katherine"], ["Katherine"]],
      ["ring port", [usual, "Dropoff instructions: Ring the porter"], ["Ring", "port"]],
      ["po-77", [usual, "po_number: PO-77"], ["PO", "77"]],
    ] as const) {
      await box(page).fill(text);
      await expect
        .poll(async () => [
          await found.locator(".about, .match").allTextContents(),
          await found.locator("b").allTextContents(),
        ])
        .toEqual([lines, bold]);
    }
    await takeScreenshot(page, "search-matches");
  });

  test("leaves room for shipments on phones, and can be closed by touch", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    for (let i = 1; i <= 4; i++) {
      const customer = { customer_name: `Grace Hopper ${i}`, customer_email: `grace${i}@example.org` };
      await book(service, workspace.apiKey, customer);
    }
    const page = await openAsMember(dashboard, "", { workspace }, PHONE);
    await page.getByRole("button", { name: "Search" }).tap();
    await box(page).fill("hopper");
    const group = (name: string) => page.getByRole("group", { name }).getByRole("option");
    await expect.poll(() => group("Shipments").count()).toBe(4);
    await expect
      .poll(() => group("Customers").locator("span:first-child, :scope:not(:has(span))").allTextContents())
      .toEqual(["Grace Hopper 1", "Grace Hopper 2", "Grace Hopper 3", "Show all customers found"]);
    await expectUsable(page);
    await takeScreenshot(page, "search-phone");
    await page.getByRole("button", { name: "Close" }).tap();
    await box(page).waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Search" }).tap();
    await box(page).fill("hopper");
    await group("Customers").last().tap();
    await page.waitForURL("**/customers?text=hopper");
  });

  test("receives every key after its shortcut while its code is loading", async () => {
    const page = await open("/shipments");
    await page.locator("tbody tr").first().waitFor();
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/search-results-*.js", async (route) => {
      await isReleased;
      await route.continue();
    });
    // Presses the keys in one task, without a render in between. On a page with these key bindings,
    // `j` selects a row and `?` opens the list of keys.
    await page.evaluate(`for (const key of ["/", "j", "?"]) {
      const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(event);
    }`);
    await expect.poll(() => box(page).count()).toBe(1);
    await page.keyboard.type(ada["reference"] as string);
    await page.keyboard.press("Enter");
    expect(await box(page).inputValue()).toBe(ada["reference"]);
    expect(await page.getByRole("dialog").count()).toBe(1);
    release();
    await page.waitForURL(`**/shipments/${ada["reference"]}`);
    await box(page).waitFor({ state: "hidden" });
  });

  test("ignores an Enter that is followed by more typing", async () => {
    const page = await open();
    const { requested, release } = await holdBack(page, "SearchShipments");
    await page.keyboard.press("/");
    await box(page).waitFor();
    await page.keyboard.type("orde");
    await page.keyboard.press("Enter");
    await requested;
    await page.keyboard.type("r 7");
    release();
    await options(page).getByText("order 7").waitFor();
    await expect.poll(() => box(page).inputValue()).toBe("order 7");
    await page.unrouteAll({ behavior: "wait" });
  });

  test("finds customers and pages and supports keyboard navigation", async () => {
    const page = await open("/settings/webhooks");
    await page.keyboard.press("Control+k");
    await box(page).fill("radia");
    const groups = page.getByRole("listbox").getByRole("group");
    await expect
      .poll(() => groups.evaluateAll((found) => found.map((group) => group.ariaLabel)))
      .toEqual(["Customers", "Shipments", "Actions"]);
    await box(page).fill("7 span");
    const found = options(page).filter({ hasText: "Radia Perlman · 7 Spanning Tree Lane" });
    await found.waitFor();
    await expect.poll(() => found.getAttribute("aria-selected")).toBe("true");
    await expectWellShown(page, "search");
    await box(page).fill("members");
    await options(page).getByText("Members").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/settings#members");
  });

  test("scrolls to a section of the current page on every request", async () => {
    const page = await open("/settings?back=done");
    await page.setViewportSize({ width: 1000, height: 400 });
    await page.locator("#limits").waitFor();
    await page.evaluate("window.isSame = true");
    const focused = () => page.evaluate<string>("document.activeElement.id");
    for (const [text, part] of [
      ["Payments", "payments"],
      ["Members", "members"],
    ] as const) {
      await page.keyboard.press("/");
      await box(page).fill(text);
      await options(page).getByText(text).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/settings#${part}`);
      await box(page).waitFor({ state: "detached" });
      await expect.poll(focused).toBe(part);
      await expect.poll(() => page.evaluate<number>("scrollY")).toBeGreaterThan(0);
    }
    await page.keyboard.press("/");
    await box(page).fill("Members");
    await options(page).getByText("Members").waitFor();
    await page.keyboard.press("Enter");
    await box(page).waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("window.isSame")).toBe(true);
  });

  test("offers the actions that the state of a named or shown shipment and the reader's role allow", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const { reference } = await book(service, workspace.apiKey);
    const actsOf = async (page: TestPage, text: string) => {
      await page.keyboard.press("Control+k");
      await box(page).fill(text);
      const group = page.getByRole("group", { name: "Actions" });
      await expect.poll(() => group.getByRole("option").count()).toBeGreaterThan(0);
      return group.getByRole("option");
    };
    const admin = await openAsMember(dashboard, "", { workspace });
    await admin.getByRole("button", { name: "Search" }).waitFor();
    await expect
      .poll(async () => (await actsOf(admin, reference)).allInnerTexts())
      .toEqual([`Mark ${reference} as paid`, `Edit ${reference}`, `Cancel ${reference}`]);
    await box(admin).fill("invi");
    await options(admin).getByText("Invite member").waitFor();
    await admin.keyboard.press("Enter");
    await admin.getByRole("dialog", { name: "Invite member" }).waitFor();
    await admin.keyboard.press("Escape");
    await actsOf(admin, `mark ${reference.toLowerCase()} paid`);
    await admin.keyboard.press("Enter");
    await admin.getByRole("dialog", { name: "Record payment" }).waitFor();
    await pressInDialog(admin, "Record payment");
    await admin.getByText("Payment recorded.").waitFor();

    await admin.goto(`/w/${workspace.id}/shipments/${reference}`);
    await admin.getByRole("heading", { name: reference }).waitFor();
    await expect
      .poll(async () => (await actsOf(admin, "")).allInnerTexts())
      .toEqual([
        `Assign courier to ${reference}`,
        `Edit ${reference}`,
        `Mark ${reference} as picked up`,
        `Record failed attempt for ${reference}`,
        `Cancel ${reference}`,
        "Book shipment",
        "Invite member",
      ]);
    await expectWellShown(admin, "search-acts");
    await box(admin).fill("cancel");
    await options(admin).getByText(`Cancel ${reference}`).waitFor();
    await admin.keyboard.press("Enter");
    await pressInDialog(admin, "Cancel shipment");
    await admin.getByText("Refund due").first().waitFor();

    const viewer = await openAsMember(dashboard, `/shipments/${reference}`, {
      workspace,
      role: "viewer",
    });
    await viewer.getByRole("heading", { name: reference }).waitFor();
    await viewer.keyboard.press("Control+k");
    await box(viewer).fill(reference);
    await options(viewer).getByText(reference).waitFor();
    await expect.poll(() => viewer.getByRole("group", { name: "Actions" }).count()).toBe(0);
  });

  test("finds workspaces, operators, drafts and actions for operators", async () => {
    const { service } = dashboard;
    const owner = await service.addOperator("owner");
    const { body } = await service.request("/admin/v1/workspaces", {
      apiKey: owner.key,
      body: { name: "Parcels of Search Lane", payment_provider: "manual" },
    });
    const page = await openAsOperator(dashboard, "/platform", "viewer");
    await page.getByRole("button", { name: "Search" }).waitFor();
    await page.keyboard.press("/");
    await box(page).fill("search lane");
    await options(page).getByText("Parcels of Search Lane").waitFor();
    await expectWellShown(page, "search-platform");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/platform/workspaces/${body.data.id}`);
    await box(page).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Search" }).click();
    const { body: listed } = await service.request("/admin/v1/operators", { apiKey: owner.key });
    await box(page).fill(listed.data[0].name);
    await page.getByRole("group", { name: "Operators" }).getByRole("option").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/platform/operators/*");

    const owned = await openAsOperator(dashboard, "/platform", "owner");
    await owned.getByRole("button", { name: "Search" }).click();
    const acts = owned.getByRole("group", { name: "Actions" }).getByRole("option");
    await expect.poll(() => acts.allInnerTexts()).toEqual(["Create workspace", "New tariff draft", "Create operator"]);
    await box(owned).fill("create w");
    await expect.poll(() => acts.allInnerTexts()).toEqual(["Create workspace"]);
    await owned.keyboard.press("Enter");
    await owned.getByRole("dialog", { name: "Create workspace" }).waitFor();
  });

  test("shows recently viewed pages, and reports a text without results", async () => {
    const page = await open(`/shipments/${ada["reference"]}`);
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
    const button = page.getByRole("button", { name: "Search" });
    await button.click();
    await box(page).waitFor();
    await expect.poll(() => options(page).first().innerText()).toContain(ada["reference"]);
    const second = options(page).nth(1);
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => second.getAttribute("aria-selected")).toBe("true");
    expect(await box(page).getAttribute("aria-activedescendant")).toBe(await second.getAttribute("id"));
    await expectWellShown(page, "search-recent");
    await box(page).fill("nobody has this");
    await page.getByText("No results for “nobody has this”.").waitFor();
    await expectWellShown(page, "search-none");
    expect(await options(page).allInnerTexts()).toEqual([
      "Search for “nobody” alone",
      "Search for “has” alone",
      "Search for “this” alone",
      "Book shipment",
      "Show all shipments",
      "Show all customers",
    ]);
    await page.keyboard.press("Enter");
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => box(page).inputValue()).toBe("this");
    await page.keyboard.press("Escape");
    await expect.poll(() => box(page).count()).toBe(0);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Search/");
  });
});
