import { describe, expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import {
  bookCheckout,
  connectStripe,
  startStripeModes,
  untilShipment,
  type StripeModes,
} from "../support/stripe-service.ts";
import {
  describeDashboard,
  expectWellShown,
  openAsMember,
  pressInDialog,
  STRIPE_PAGE,
  type TestPage,
} from "./browser.ts";

let setup: StripeModes;

async function start() {
  setup = await startStripeModes({ dashboard: true });
  // The browser uses the machine's clock, so the stand-in's clock must match it.
  setup.clock.ms = Date.now();
  return setup.service;
}

describeDashboard(
  "the connection to Stripe",
  (dashboard) => {
    const PATH = "/settings";
    const unconnected = () => dashboard.service.addWorkspace({ paymentProvider: undefined });
    const button = (page: TestPage, name: string) => page.getByRole("button", { name, exact: true });
    const expectText = (page: TestPage, text: string) => page.getByText(text, { exact: true }).waitFor();
    const isShown = (page: TestPage, state: string) =>
      page.locator(".badge").getByText(state, { exact: true }).waitFor();
    const read = async (apiKey: string) =>
      (await dashboard.service.request("/v1/payment_connection", { apiKey })).body.data;

    /**
     * Leaves for Stripe's onboarding page, in place of which the browser shows an empty one. Pages of other tests have
     * no route, because it turns off the browser's cache.
     *
     * @returns the account for which the page is
     */
    async function leaveForStripe(page: TestPage, leave: () => Promise<void>): Promise<string> {
      await page.route(STRIPE_PAGE, (route) => route.fulfill({ contentType: "text/html", body: "" }));
      await leave();
      await page.waitForURL("https://connect.stripe.com/**");
      return new URL(page.url()).pathname.split("/")[3]!;
    }

    test("an admin connects Stripe, returns too early, continues, and accepts payments", async () => {
      const workspace = await unconnected();
      const page = await openAsMember(dashboard, PATH, { workspace });
      await isShown(page, "Not connected");
      await expectWellShown(page, "payments-none");
      await button(page, "Connect Stripe").focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await expectWellShown(page, "payments-connect");
      await page.keyboard.press("Tab");
      const account = await leaveForStripe(page, () => page.keyboard.press("Enter"));

      await page.goto(`/w/${workspace.id}${PATH}?back=ended`);
      await page.getByText("The link to Stripe has expired").waitFor();
      await page.goto(`/w/${workspace.id}${PATH}?back=done`);
      await page.getByText("The account cannot accept payments yet").waitFor();
      await isShown(page, "Not finished");
      await expectText(page, "A bank account to pay out to");
      await expectWellShown(page, "payments-onboarding");
      await button(page, "Continue at Stripe").focus();
      expect(await leaveForStripe(page, () => page.keyboard.press("Enter"))).toBe(account);

      setup.stripe.completeOnboarding(account);
      await page.goto(`/w/${workspace.id}${PATH}?back=done`);
      await isShown(page, "Connected");
      await page.getByText("Stripe now accepts payments for this workspace.").waitFor();
      await page.waitForURL(`**${PATH}#payments`);
      expect(await read(workspace.apiKey)).toMatchObject({ provider: "stripe", state: "ready" });
      await expectWellShown(page, "payments-ready");
    });

    test("a restricted account and one with revoked access show the fix", async () => {
      const workspace = await setup.connect();
      const page = await openAsMember(dashboard, PATH, { workspace });
      await isShown(page, "Connected");
      setup.stripe.restrictAccount(workspace.account);
      await button(page, "Check now").click();
      await isShown(page, "Restricted");
      await page.getByText("Bookings are blocked until you provide the missing details.").waitFor();
      await expectWellShown(page, "payments-restricted");
      setup.stripe.deauthorise(workspace.account);
      await button(page, "Check now").click();
      await isShown(page, "Access ended");
      await expectWellShown(page, "payments-revoked");
      const again = button(page, "Connect again");
      expect(await leaveForStripe(page, () => again.click())).not.toBe(workspace.account);
    });

    test("returning from Stripe while it is down shows an error and can be retried", async () => {
      const workspace = await setup.connect();
      setup.stripe.fault("GET /v1/account", "failed");
      const page = await openAsMember(dashboard, `${PATH}?back=done`, { workspace });
      await page.getByRole("alert").getByText("does not respond").waitFor();
      await expectWellShown(page, "payments-away");
      await button(page, "Try again").click();
      await page.getByText("Stripe now accepts payments for this workspace.").waitFor();
    });

    test("the workspace's own key connects its account, can be replaced, and is never shown", async () => {
      const workspace = await unconnected();
      const page = await openAsMember(dashboard, PATH, { workspace });
      await button(page, "Use your own key").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(`/webhooks/stripe/${workspace.id}`).waitFor();
      await dialog.getByLabel("Restricted key").fill("nothing");
      await pressInDialog(page, "Connect Stripe");
      await dialog.getByText("Restricted key must begin with rk_live_.").waitFor();
      await expectWellShown(page, "payments-key");

      const { stripe } = setup;
      const account = stripe.addAccount();
      const first = stripe.addKey(account);
      await dialog.getByLabel("Restricted key").fill(first);
      await dialog.getByLabel("Signing secret").fill("whsec_own");
      await page.keyboard.press("Enter");
      await isShown(page, "Connected");
      await expectText(page, "With the workspace’s own key");
      expect(await read(workspace.apiKey)).toMatchObject({
        account,
        own_key: true,
        state: "ready",
      });

      stripe.revokeKey(first);
      await button(page, "Check now").click();
      await page.getByText("Stripe no longer accepts the key.").waitFor();
      await expectWellShown(page, "payments-key-ended");
      await button(page, "Replace key").click();
      await expect.poll(() => dialog.getByLabel("Restricted key").inputValue()).toBe("");
      await expect.poll(() => dialog.getByLabel("Signing secret").inputValue()).toBe("");
      await dialog.getByLabel("Restricted key").fill("rk_live_of_nobody");
      await dialog.getByLabel("Signing secret").fill("whsec_own");
      await pressInDialog(page, "Replace key");
      await dialog.getByRole("alert").getByText("The payment provider refused the request").waitFor();
      await dialog.getByLabel("Restricted key").fill(stripe.addKey(account));
      await pressInDialog(page, "Replace key");
      await isShown(page, "Connected");
    });

    test("selected shipments cannot be paid manually if Stripe takes the payments", async () => {
      const workspace = await setup.connect();
      const { reference } = await book(setup.service, workspace.apiKey);
      const page = await openAsMember(dashboard, "/shipments", { workspace, role: "member" });
      await page.getByRole("checkbox", { name: `Select ${reference}` }).check();
      const bar = page.getByRole("region", { name: "Selection" });
      await bar.getByText("1 selected").waitFor();
      await bar.locator("summary").click();
      await bar.getByRole("button", { name: "Cancel (1)" }).waitFor();
      await expect.poll(() => bar.getByRole("button").allTextContents()).toEqual(["Clear", "Cancel (1)"]);
    });

    test("Stripe can be disconnected once no payment is open", async () => {
      const workspace = await setup.connect();
      const { reference, session } = await bookCheckout(setup, workspace);
      const page = await openAsMember(dashboard, PATH, { workspace });
      await button(page, "Disconnect").click();
      await pressInDialog(page, "Disconnect Stripe");
      const refusal = page.getByRole("dialog").getByRole("alert");
      await refusal.getByText("The workspace has pending payments or refunds").waitFor();
      await expectWellShown(page, "payments-open");
      setup.stripe.pay(session);
      await setup.stripe.deliverEvents();
      const { apiKey } = workspace;
      await untilShipment(setup.service, apiKey, reference, { payment_status: "paid" });
      // Retries, because disconnecting is refused until the payment is captured, some moments after
      // the shipment is paid.
      const dialog = page.getByRole("dialog");
      await expect
        .poll(async () => {
          if ((await dialog.count()) > 0) await page.keyboard.press("Enter");
          return (await read(apiKey)).state;
        })
        .toBe("none");
      await isShown(page, "Not connected");
    });

    test("the dialog warns that Stripe replaces manual payments", async () => {
      const workspace = await dashboard.service.addWorkspace();
      const page = await openAsMember(dashboard, PATH, { workspace });
      await expectText(page, "Manual");
      await expectWellShown(page, "payments-manual");
      await button(page, "Connect Stripe").click();
      await page.getByText("Stripe replaces manual payments at once.").waitFor();
      await pressInDialog(page, "Cancel");
      expect(await read(workspace.apiKey)).toMatchObject({ provider: "manual" });
      await connectStripe(dashboard.service, setup.stripe, workspace.apiKey);
      await page.reload();
      await expectText(page, "Stripe");
    });

    describe("a member who is not an admin", () => {
      test("sees the state without actions", async () => {
        const workspace = await setup.connect();
        const page = await openAsMember(dashboard, PATH, { workspace, role: "member" });
        await isShown(page, "Connected");
        await expectText(page, "Admins of the workspace connect and disconnect Stripe.");
        await expect
          .poll(() => page.locator("main").getByRole("button").allInnerTexts())
          .toEqual(["Copy ID", "Copy ID"]);
        await expectWellShown(page, "payments-member");
      });
    });

    test("the test twin's payments move no money", async () => {
      const { twin } = dashboard.workspace;
      const page = await openAsMember(dashboard, "", { role: "member" });
      await page.goto(`/w/${twin.id}${PATH}`);
      await page.getByText("No money moves in test mode.").waitFor();
      await expectText(page, "Admins of the workspace connect and disconnect Stripe.");
      await expect.poll(() => page.locator("main").getByRole("button").allInnerTexts()).toEqual(["Copy ID"]);
      await expectWellShown(page, "payments-test");
    });

    test("an admin connects the test twin to Stripe's test mode and disconnects it", async () => {
      const workspace = await unconnected();
      const { twin } = workspace;
      const page = await openAsMember(dashboard, "", { workspace });
      await page.goto(`/w/${twin.id}${PATH}`);
      await page.getByText("No money moves in test mode.").waitFor();
      await expectWellShown(page, "payments-test-admin");
      await button(page, "Connect Stripe’s test mode").click();
      await page.getByText("Bookings in test mode are blocked until the setup at Stripe is complete.").waitFor();
      const account = await leaveForStripe(page, () => pressInDialog(page, "Continue at Stripe"));
      setup.stripeTest.completeOnboarding(account);
      await page.goto(`/w/${twin.id}${PATH}?back=done`);
      await isShown(page, "Connected");
      await expectText(page, "Stripe, test mode");
      await expectText(page, "Test: no real money moves");
      expect(await read(twin.apiKey)).toMatchObject({ account, live: false, state: "ready" });
      expect(await read(workspace.apiKey)).toMatchObject({ state: "none" });
      await button(page, "Disconnect").click();
      await page.getByText("Payments are then recorded manually").waitFor();
      await pressInDialog(page, "Disconnect Stripe");
      await page.getByText("No money moves in test mode.").waitFor();
      expect(await read(twin.apiKey)).toMatchObject({ provider: "test", state: "ready" });
    });

    test("the test twin accepts a test key of its own and refuses a live one", async () => {
      const workspace = await unconnected();
      const { twin } = workspace;
      const page = await openAsMember(dashboard, "", { workspace });
      await page.goto(`/w/${twin.id}${PATH}`);
      await button(page, "Use your own key").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(`/webhooks/stripe/${twin.id}`).waitFor();
      await dialog.getByLabel("Restricted key").fill("rk_live_1");
      await dialog.getByLabel("Signing secret").fill("whsec_own");
      await pressInDialog(page, "Connect Stripe’s test mode");
      await dialog.getByText("Restricted key must begin with rk_test_.").waitFor();
      const account = setup.stripeTest.addAccount();
      await dialog.getByLabel("Restricted key").fill(setup.stripeTest.addKey(account));
      await pressInDialog(page, "Connect Stripe’s test mode");
      await expectText(page, "With the workspace’s own key");
      expect(await read(twin.apiKey)).toMatchObject({ account, live: false, own_key: true });
    });
  },
  start,
);
