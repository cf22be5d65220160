import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeDashboard, expectWellShown, openOnPlainHttp, signInTo, type TestPage } from "../dashboard/browser.ts";
import { DESCRIPTION } from "../support/api-description.ts";

const PATHS = [
  "/docs",
  ...readdirSync("src/docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => `/docs/${name.slice(0, -".md".length)}`),
  "/docs/changelog",
  "/docs/nothing",
];

/** Example of a quote request in the OpenAPI document. */
const { example: EXAMPLE } = DESCRIPTION.paths["/v1/shipments/quote"].post.requestBody.content["application/json"];

/** Returns the code blocks in a Markdown file, without their final newline. */
function blocksOf(file: string): string[] {
  const markdown = readFileSync(file, "utf8");
  return [...markdown.matchAll(/^```[^\n]*\n(.*?)\n```$/gms)].map(([, code]) => code!);
}

/** axe checks most pages only on a phone, because guides share the same elements, and the reference is long. */
const ON_PHONE = ["360-dark"];
/** Pages that axe checks at every size. */
const IN_FULL = ["/docs", "/docs/lifecycle", "/docs/errors", "/docs/nothing"];

describeDashboard("the documentation", (dashboard) => {
  const options = (page: TestPage) => page.getByRole("option");

  async function open(path: string): Promise<TestPage> {
    const page = await dashboard.newPage({
      permissions: ["clipboard-read", "clipboard-write"],
      reducedMotion: "reduce",
    });
    await page.goto(path);
    return page;
  }

  test("each document has a valid layout from desktop to phone, in both themes", async () => {
    const page = await open("/docs");
    for (const path of PATHS) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const lookedAt = IN_FULL.includes(path) ? undefined : ON_PHONE;
      await expectWellShown(page, path.slice(1).replaceAll("/", "-"), lookedAt);
    }
  });

  test.each(["light", "dark"] as const)("the first page's picture matches the %s theme", async (theme) => {
    const page = await dashboard.newPage({ colorScheme: theme });
    await page.goto("/docs");
    const picture = page.locator("article img");
    await expect.poll(() => picture.getAttribute("alt")).toMatch(/^.{40,}$/);
    const [red, , , opacity] = await picture.evaluate(async (img: any) => {
      await img.decode();
      const { document } = globalThis as any;
      const canvas = document.createElement("canvas").getContext("2d");
      canvas.drawImage(img, 0, 0);
      return [...canvas.getImageData(150, 10, 1, 1).data];
    });
    expect({ red, opacity }).toEqual({ red: theme === "light" ? 0xff : 0x1b, opacity: 255 });
  });

  test("searches for a word and opens the result with the keyboard alone", async () => {
    const page = await open("/docs");
    await page.keyboard.press("/");
    await page.keyboard.type("running as roo");
    const first = options(page).first();
    await first.waitFor();
    await expect.poll(() => first.getAttribute("href")).toBe("/docs/operations#running-as-root");
    await expect.poll(() => first.locator("mark").allInnerTexts()).toContain("root");
    await expectWellShown(page, "docs-search");

    await page.keyboard.press("ArrowDown");
    const search = page.getByRole("combobox", { name: "Search the documents" });
    await expect.poll(() => first.getAttribute("aria-selected")).toBe("true");
    expect(await search.getAttribute("aria-activedescendant")).toBe(await first.getAttribute("id"));
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => options(page).last().getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/operations#running-as-root");
    await page.getByRole("heading", { name: "Running as root" }).waitFor();
  });

  test("reports a search without results, and Escape closes the results", async () => {
    const page = await open("/docs/errors");
    const search = page.getByRole("combobox", { name: "Search the documents" });
    await search.fill("xylophone");
    await page.getByRole("status").getByText("Nothing found").waitFor({ state: "attached" });
    await expect.poll(() => search.getAttribute("aria-expanded")).toBe("false");
    await search.fill("quote");
    await options(page).first().waitFor();
    await expect.poll(() => search.getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("Escape");
    await options(page).first().waitFor({ state: "hidden" });
  });

  test("the copy button copies the exact text of an example", async () => {
    const page = await open("/docs");
    const blocks = page.locator(".code");
    const expected = blocksOf("README.md");
    await expect.poll(() => blocks.count()).toBe(expected.length);
    for (const [index, text] of expected.entries()) {
      await blocks.nth(index).hover();
      await blocks.nth(index).getByRole("button", { name: "Copy" }).click();
      await blocks.nth(index).getByRole("button", { name: "Copied" }).waitFor();
      await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(text);
    }
  });

  test("without JavaScript a guide is readable and has working links, and the reference lists the calls", async () => {
    const page = await dashboard.newPage({ javaScriptEnabled: false });
    await page.goto("/docs/clients");
    await page.getByRole("navigation", { name: "On this page" }).getByText("RPCs").click();
    await page.waitForURL("**/docs/clients#rpcs");
    await expect.poll(() => page.getByRole("search").count()).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "Copy" }).count()).toBe(0);
    await page.getByRole("link", { name: "Next" }).click();
    await page.getByRole("heading", { name: "Client library", level: 1 }).waitFor();
    await page.goto("/docs/api");
    await page.getByText("POST /v1/shipments/quote", { exact: true }).waitFor();
  });

  test("the dashboard links to the documentation and back", async () => {
    const page = await dashboard.newPage();
    await signInTo(page, dashboard, await dashboard.service.addWorkspace());
    await page.getByRole("link", { name: "Docs" }).click();
    await page.getByRole("heading", { name: "Shipment booking" }).waitFor();
    await page.getByRole("banner").getByRole("link", { name: "Dashboard" }).click();
    await page.getByRole("navigation", { name: "Pages", exact: true }).waitFor();
  });

  test("uses a reader's session on plain HTTP", async () => {
    const page = await openOnPlainHttp(dashboard.service);
    await signInTo(page, dashboard, await dashboard.service.addWorkspace());
    await page.goto("/docs");
    await page.getByRole("button", { name: "Insert my test key" }).click();
    await page.getByText("is used in the examples on this page").waitFor();
    await page.goto("/docs/api#/AccountService/getAccount");
    const operation = page.locator("#operations-AccountService-getAccount");
    await operation.getByRole("button", { name: "Try it out" }).click();
    await operation.getByRole("button", { name: "Execute" }).click();
    await operation.locator(".live-responses-table .response-col_status").getByText("200").waitFor();
  });

  test("inserts a test key of a signed-in reader into the examples and does not store it", async () => {
    const { service } = dashboard;
    const workspace = await service.addWorkspace();
    const page = await dashboard.newPage();
    const keys = async () => {
      const { body } = await service.request("/v1/api_keys", { apiKey: workspace.twin.apiKey });
      return body.data.map(({ name }: { name: string }) => name);
    };
    const offer = page.getByRole("button", { name: "Insert my test key" });
    const takeKey = async () => {
      await page.goto("/docs");
      const before = await keys();
      const example = page.locator(".code", { hasText: "export SHIPMENTS_KEY=" });
      await example.getByText("shp_test_...").waitFor();
      await offer.waitFor();
      expect(await keys()).toEqual(before);
      await offer.click();
      await page.getByText("is used in the examples on this page").waitFor();
      const [key] = /shp_test_\w{36}$/m.exec(await example.locator("code").innerText())!;
      return key!;
    };
    await page.goto("/docs");
    await page.getByRole("button", { name: "Copy" }).first().waitFor({ state: "attached" });
    await expect.poll(() => offer.count()).toBe(0);

    await signInTo(page, dashboard, workspace);
    await page.goto("/docs");
    await offer.waitFor();
    await expectWellShown(page, "docs-own-key");
    const first = await takeKey();
    const quote = async (apiKey: string) => {
      const options = { apiKey, body: EXAMPLE };
      const { status } = await service.request("/v1/shipments/quote", options);
      return status;
    };
    expect(await quote(first)).toBe(200);
    const all = await keys();
    const second = await takeKey();
    expect(await keys()).toEqual(all);
    expect(await quote(second)).toBe(200);
    await expect.poll(() => quote(first)).toBe(401);
    const { person } = (await page.evaluate("({ ...localStorage })")) as Record<string, string>;
    await expect.poll(() => page.evaluate("({ ...localStorage, ...sessionStorage })")).toEqual({ person });
  });

  test("the reference lists workspaces' calls first, tries out a quote without storing the key, and shows an event", async () => {
    const { apiKey } = await dashboard.service.addWorkspace();
    const page = await open("/docs/api");
    await page.locator(".opblock-tag").first().waitFor();
    await page.goto("/docs/api#/ShipmentService/quoteShipment");
    const operation = page.locator("#operations-ShipmentService-quoteShipment");
    await operation.getByRole("button", { name: "Try it out" }).waitFor();
    const top = () => operation.evaluate((it) => Math.round(it.getBoundingClientRect().top));
    await expect.poll(top).toBe(64);
    await expect.poll(() => page.locator(".opblock-tag").first().getAttribute("data-tag")).toBe("ShipmentService");
    const isOpen = (name: string) => page.locator(`[data-tag=${name}]`).getAttribute("data-is-open");
    await expect.poll(() => isOpen("WebhookService")).toBe("true");
    await expect.poll(() => isOpen("TariffService")).toBe("false");
    await page.getByText("Books a shipment at the price of the tariff in force").waitFor();

    await page.getByRole("button", { name: "Authorize" }).first().click();
    const dialog = page.locator(".modal-ux");
    await dialog.getByText("workspaceBearer").waitFor();
    await expectWellShown(page, "docs-api-authorize", ON_PHONE);
    await page.keyboard.insertText(apiKey);
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Logout" }).waitFor();
    await dialog.locator(".btn-done").last().click();

    await operation.getByRole("button", { name: "Try it out" }).click();
    const requestBody = operation.getByLabel("Request body");
    await expect.poll(async () => JSON.parse(await requestBody.inputValue())).toEqual(EXAMPLE);
    const body = { ...EXAMPLE, weight_kg: 10 };
    await requestBody.fill(JSON.stringify(body));
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = operation.locator(".live-responses-table");
    await answer.locator(".response-col_status").getByText("200").waitFor();
    const { text } = await dashboard.service.request("/v1/shipments/quote", { apiKey, body });
    const shown = await answer.locator(".response-col_description pre").first().innerText();
    expect(JSON.parse(shown)).toEqual(JSON.parse(text));
    await expectWellShown(page, "docs-api-tried", ON_PHONE);

    const stored = "indexedDB.databases().then((it) => it.length + localStorage.length + sessionStorage.length)";
    expect(await page.evaluate(stored)).toBe(0);
    expect(await page.context().cookies()).toEqual([]);

    await page.keyboard.press("/");
    await page.keyboard.type("publishes a draft");
    await options(page).first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**#/TariffService/adminPublishTariff");
    await page.locator("#operations-TariffService-adminPublishTariff.is-open").waitFor();

    await page.goto("/docs/api#/webhooks/receiveShipmentCreated");
    const example = page.locator("#operations-webhooks-receiveShipmentCreated pre").first();
    expect(JSON.parse(await example.innerText())).toMatchObject({ type: "shipment.created" });
  });
});
