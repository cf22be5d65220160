import { expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import {
  requestCheckout,
  bookCheckout,
  getShipment,
  sessionOf,
  startStripeService,
  untilShipment,
  type ConnectedWorkspace,
  type StripeService,
} from "../support/stripe-service.ts";
import {
  chooseMore,
  describeDashboard,
  expectWellShown,
  openAsMember,
  pressInDialog,
  rowsOf,
  type TestPage,
} from "./browser.ts";

let setup: StripeService;

async function start() {
  setup = await startStripeService({ dashboard: true });
  // The browser uses the machine's clock, so the stand-in's clock must match it.
  setup.clock.ms = Date.now();
  setup.stripe.delivery = "sent";
  return setup.service;
}

describeDashboard(
  "a shipment's Stripe payment",
  (dashboard) => {
    async function open(workspace: ConnectedWorkspace, reference: string, role = "member") {
      const page = await openAsMember(dashboard, `/shipments/${reference}`, { workspace, role });
      await page.getByRole("heading", { name: "Payment", exact: true }).waitFor();
      return page;
    }

    const button = (page: TestPage, name: string) => page.getByRole("button", { name, exact: true });
    const badges = (page: TestPage) => page.locator(".page-header .badge").allInnerTexts();
    const actions = (page: TestPage) => page.locator(".page-header .actions button").allTextContents();
    const fact = (page: TestPage, term: string) =>
      page.locator(".panel", { hasText: "Payment" }).first().locator("dl > div", { hasText: term });

    /** Books and pays a shipment. Returns the paid shipment. */
    async function pay(workspace: ConnectedWorkspace) {
      const checkedOut = await bookCheckout(setup, workspace);
      setup.stripe.pay(checkedOut.session);
      const { apiKey } = workspace;
      await untilShipment(setup.service, apiKey, checkedOut.reference, { payment_status: "paid" });
      return checkedOut;
    }

    const cancel = ({ apiKey }: ConnectedWorkspace, reference: string) =>
      setup.service.request(`/v1/shipments/${reference}/cancel`, { apiKey, body: {} });

    test("a member creates a pay link with the keyboard, copies it, and sees the payment", async () => {
      const workspace = await setup.connect();
      const { reference } = await book(setup.service, workspace.apiKey);
      const page = await open(workspace, reference);
      await expect.poll(() => actions(page)).toEqual(["Cancel shipment"]);
      await expectWellShown(page, "payment-no-link");
      await button(page, "Create pay link").focus();
      await page.keyboard.press("Enter");
      const link = page.getByRole("link", { name: "Open pay link" });
      await link.waitFor();
      await page.locator("a:focus", { hasText: "Open pay link" }).waitFor();
      const url = (await getShipment(setup.service, workspace.apiKey, reference))["payment_details"].checkout_url;
      await expect.poll(() => link.getAttribute("href")).toBe(url);
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await button(page, "Copy pay link").click();
      await page.getByText("Copied the pay link.").waitFor();
      await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(url);
      await expectWellShown(page, "payment-link");

      setup.stripe.failPayment(sessionOf(setup.stripe, workspace.account, reference));
      await page.getByText("Payment attempt failed.").waitFor();
      await expect.poll(() => badges(page)).toEqual(["To pay", "Payment failed"]);
      await link.waitFor();
      await expectWellShown(page, "payment-failed");

      setup.stripe.pay(sessionOf(setup.stripe, workspace.account, reference));
      await expect.poll(() => badges(page)).toEqual(["To pick up"]);
      await expect.poll(() => fact(page, "Paid").innerText()).toBe("Paid\n$12.69");
      const ofMenu = ["Assign courier", "Record attempt", "Cancel shipment"];
      await expect.poll(() => actions(page)).toEqual(["Mark as picked up", ...ofMenu]);
      await expectWellShown(page, "payment-paid");
    });

    test("a viewer sees the link and cannot create one", async () => {
      const workspace = await setup.connect();
      const { reference } = await book(setup.service, workspace.apiKey);
      const page = await open(workspace, reference, "viewer");
      await page.getByText("No pay link yet.").waitFor();
      await expect.poll(() => button(page, "Create pay link").count()).toBe(0);
      await requestCheckout(setup.service, workspace.apiKey, reference);
      await page.getByRole("link", { name: "Open pay link" }).waitFor();
    });

    test("a restricted account links to its missing requirements", async () => {
      const workspace = await setup.connect();
      const { reference } = await book(setup.service, workspace.apiKey);
      setup.stripe.restrictAccount(workspace.account);
      await setup.service.request("/v1/payment_connection/check", {
        apiKey: workspace.apiKey,
        body: {},
      });
      const page = await open(workspace, reference);
      await page.getByRole("link", { name: "complete the payment settings" }).click();
      await page.getByText("Restricted", { exact: true }).waitFor();
    });

    test("a processing payment fixes the price and route, and the list shows it", async () => {
      const workspace = await setup.connect();
      const { reference, session } = await bookCheckout(setup, workspace);
      const page = await open(workspace, reference);
      setup.stripe.startProcessing(session);
      await page.getByText("The payment is processing, which can take days").waitFor();
      await expect.poll(() => badges(page)).toEqual(["To pay", "Payment processing"]);
      await expectWellShown(page, "payment-processing");
      await chooseMore(page, "Edit");
      await page.getByLabel("Pickup address").waitFor();
      await expect.poll(() => page.getByLabel("Weight").count()).toBe(0);
      await page.goto(`/w/${workspace.id}/shipments`);
      await rowsOf(page, "Shipments").getByText("Payment processing").waitFor();
    });

    test("a failed refund shows the reason and can be retried", async () => {
      const workspace = await setup.connect();
      const { reference } = await pay(workspace);
      setup.stripe.refundsBecome(workspace.account, "failed");
      const page = await open(workspace, reference);
      await chooseMore(page, "Cancel shipment");
      await page.getByText("will be refunded automatically").waitFor();
      await pressInDialog(page, "Cancel shipment");
      await page.getByText("The refund was not completed.").waitFor();
      await expect.poll(() => badges(page)).toEqual(["Refund due", "Refund failed"]);
      await expect.poll(() => actions(page)).toEqual([]);
      await expectWellShown(page, "payment-refund-failed");
      await page.goto(`/w/${workspace.id}/shipments?payment_status=3`);
      await rowsOf(page, "Shipments").getByText("Refund failed").waitFor();

      await page.goto(`/w/${workspace.id}/shipments/${reference}`);
      setup.stripe.refundsBecome(workspace.account, "pending");
      await button(page, "Retry refund").focus();
      await page.keyboard.press("Enter");
      await page.getByText("is being refunded to").waitFor();
      await expectWellShown(page, "payment-refund-pending");
      const { refunds } = setup.stripe.books(workspace.account);
      setup.stripe.completeRefund([...refunds.keys()].at(-1)!);
      await expect.poll(() => badges(page)).toEqual(["Refunded"]);
      await expect.poll(() => fact(page, "Refunded").innerText()).toBe("Refunded\n$12.69 of $12.69");
    });

    test("shows a manual partial refund", async () => {
      const workspace = await setup.connect();
      const { reference, session } = await pay(workspace);
      const page = await open(workspace, reference);
      setup.stripe.refundByHand(session, 269);
      await fact(page, "Refunded").getByText("$2.69 of $12.69").waitFor();
      await expectWellShown(page, "payment-partly-refunded");
      await page.goto(`/w/${workspace.id}/shipments/${reference}/receipt`);
      await page.getByText("$12.69 paid, $2.69 refunded.").waitFor();
    });

    test("shows a dispute, which blocks the refund until it is decided", async () => {
      const workspace = await setup.connect();
      const { reference, session } = await pay(workspace);
      const page = await open(workspace, reference);
      const dispute = setup.stripe.openDispute(session);
      await page.getByText("The payment is disputed.").waitFor();
      await expect.poll(() => badges(page)).toEqual(["To pick up", "Disputed"]);
      await cancel(workspace, reference);
      await expect.poll(() => badges(page)).toEqual(["Refund due", "Disputed"]);
      await expect.poll(() => button(page, "Retry refund").count()).toBe(0);
      await expectWellShown(page, "payment-disputed");
      setup.stripe.closeDispute(dispute, "lost");
      await page.getByText("The bank reversed the disputed amount").waitFor();
      await expect.poll(() => badges(page)).toEqual(["Refunded"]);
    });

    test("shows uncounted payments until they are accepted", async () => {
      const workspace = await setup.connect();
      const { reference, session } = await bookCheckout(setup, workspace);
      setup.stripe.books(workspace.account).session(session).amount_total = 900;
      setup.stripe.pay(session);
      const details = { payment_details: { uncounted: true } };
      await untilShipment(setup.service, workspace.apiKey, reference, details);
      const page = await open(workspace, reference);
      await page.getByText("Stripe may hold money that is not assigned to this shipment.").waitFor();
      await expect.poll(() => badges(page)).toEqual(["To pay", "Unassigned payment"]);
      await button(page, "Accept payment").click();
      await expect.poll(() => badges(page)).toEqual(["To pay"]);
    });

    test("customers return to a page that requires no sign-in", async () => {
      const page = await dashboard.newPage();
      await page.goto("/paid");
      await page.getByRole("heading", { name: "Thank you" }).waitFor();
      await expectWellShown(page, "after-payment");
      await page.goto("/not-paid");
      await page.getByRole("heading", { name: "Not paid" }).waitFor();
    });
  },
  start,
);
