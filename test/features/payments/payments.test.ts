import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { ANY_TIME, book, PAYMENT, takeStep } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { startReplica } from "../../support/service.ts";
import {
  requestCheckout,
  bookCheckout,
  eventTypes,
  getShipment,
  PLATFORM_SECRET,
  sessionOf,
  startStripeService,
} from "../../support/stripe-service.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";
import { createPaymentWorker } from "./payment-worker.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const setup = await startStripeService();
const { service, stripe, clock } = setup;
const work = createPaymentWorker(setup);
const sql = await connectTo(service.databaseUrl);
const workspace = await setup.connect();
const { apiKey, account } = workspace;

const NO_DETAILS = {
  checkout_url: null,
  checkout_expires_at: null,
  processing: false,
  error: null,
  refund_error: null,
  refunded_amount: 0,
  disputed_amount: 0,
  dispute_refundable: false,
  uncounted: false,
  dispute: null,
};

const shipment = (reference: string) => getShipment(service, apiKey, reference);
const sessionsOf = (reference: string) =>
  [...stripe.books(account).sessions.values()].filter((session) => session.client_reference_id === reference);
const patch = (reference: string, body: object) =>
  service.request(`/v1/shipments/${reference}`, { apiKey, method: "PATCH", body });

async function bookPaid() {
  const booked = await bookCheckout(setup, workspace);
  stripe.pay(booked.session);
  expect((await takeStep(service, apiKey, booked.reference, "pay")).status).toBe(200);
  stripe.dropEvents();
  return booked;
}

test("opens a checkout for the shipment's total, and returns the open one on repeated requests", async () => {
  const { reference } = await book(service, apiKey);
  const opened = await requestCheckout(service, apiKey, reference, { expires_in_minutes: 60 });
  const session = stripe.books(account).session(sessionOf(stripe, account, reference));
  const page = {
    checkout_url: session.url,
    checkout_expires_at: new Date(clock.ms + HOUR_MS).toISOString(),
  };
  expect(opened.body).toEqual({
    data: { ...(await shipment(reference)), payment_details: { ...NO_DETAILS, ...page } },
    checkout_url: page.checkout_url,
    expires_at: page.checkout_expires_at,
  });
  expect(session).toMatchObject({
    amount_total: 1269,
    currency: "usd",
    metadata: { workspace: String(workspace.id), shipment: reference },
    success_url: "https://shop.example.org/paid",
    cancel_url: "https://shop.example.org/cart",
  });
  const elsewhere = { success_url: "https://shop.example.org/other" };
  expect((await requestCheckout(service, apiKey, reference, elsewhere)).body).toEqual(opened.body);
  expect(await eventTypes(service, apiKey, reference)).toEqual(["created", "checkout_opened"]);
});

test("concurrent requests open one checkout", async () => {
  const { reference } = await book(service, apiKey);
  const ask = () => requestCheckout(service, apiKey, reference);
  const answers = await Promise.all([ask(), ask(), ask(), ask(), ask()]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]!.status, answers[0]!.text).toBe(200);
  expect(sessionsOf(reference)).toHaveLength(1);
});

test("a checkout is expired before a price change, and stays open if the price does not change", async () => {
  const { reference } = await bookCheckout(setup, workspace);
  await patch(reference, { dropoff_address: "Door 2" });
  expect(sessionsOf(reference)).toMatchObject([{ status: "open" }]);
  const changed = await patch(reference, { weight_kg: 5 });
  expect(changed.body.data).toMatchObject({ weight_kg: 5, payment_details: NO_DETAILS });
  await requestCheckout(service, apiKey, reference);
  const amount_total = Math.round(changed.body.data.total * 100);
  expect(sessionsOf(reference)).toMatchObject([{ status: "expired" }, { amount_total }]);
});

test("expires a checkout that was opened for the same amount in another currency", async () => {
  const { reference } = await book(service, apiKey);
  stripe.fault("POST /v1/checkout/sessions", "cut");
  expect((await requestCheckout(service, apiKey, reference)).status).toBe(503);
  await publishDocument(service.app.em, { ...SAMPLE_TARIFF, currency: "EUR" });
  const changed = await patch(reference, { weight_kg: 2.501 });
  await publishDocument(service.app.em, SAMPLE_TARIFF);
  expect(changed.body.data).toMatchObject({ total: 12.69, currency: "EUR" });
  clock.ms += MINUTE_MS;
  await work();
  expect(sessionsOf(reference)).toMatchObject([{ status: "expired" }]);
  expect(await eventTypes(service, apiKey, reference)).not.toContain("checkout_opened");
});

test("rejects a checkout if the provider has no checkout pages", async () => {
  const manual = await service.addWorkspace();
  const { reference } = await book(service, manual.apiKey);
  const { status, body } = await requestCheckout(service, manual.apiKey, reference);
  const message = "The payment provider has no checkout page. Record the payment instead.";
  expect({ status, body }).toEqual({
    status: 422,
    body: { message, errors: { payment_provider: [message] } },
  });
});

test("returns the whole recorded payment, also when repeated with its idempotency key", async () => {
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.pay(session);
  const headers = { "idempotency-key": `pay-${reference}` };
  const record = () => service.request(`/v1/shipments/${reference}/payments`, { apiKey, body: PAYMENT, headers });
  const recorded = await record();
  expect(recorded.body).toEqual({
    data: await shipment(reference),
    payment: { provider: "stripe", ...PAYMENT, paid_at: ANY_TIME, refunded_at: null },
  });
  expect((await record()).text).toBe(recorded.text);
});

test("lists unassigned payments among the subjects that need attention", async () => {
  const own = await setup.connect();
  const { reference, session } = await bookCheckout(setup, own);
  stripe.books(own.account).session(session).amount_total = 900;
  stripe.pay(session);
  await stripe.deliverEvents();
  await work();
  const reason = "The payment of 9 USD differs from the shipment's total.";
  const subject = { id: reference, name: null, at: null, reason, shipment: null };
  expect(await data(service.as(own.apiKey).getAttention())).toEqual([
    { kind: "payment_uncounted", count: 1, subjects: [subject] },
  ]);
});

test("bookings succeed while Stripe is down, and the checkout is retried", async () => {
  await stripe.goAway();
  const { reference } = await book(service, apiKey);
  const refused = await requestCheckout(service, apiKey, reference);
  await stripe.comeBack();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  clock.ms += 10 * MINUTE_MS;
  await work();
  expect((await shipment(reference))["payment_details"]).toMatchObject({
    error: null,
    checkout_url: expect.any(String),
  });
});

test("several polls find more events than one poll lists, oldest first", async () => {
  const { reference, session } = await bookPaid();
  stripe.refundByHand(session, 269);
  stripe.dropEvents();
  const { events } = stripe.books(account);
  const event = events.at(-1)!;
  // Adds many events about an unknown payment.
  const data = { object: { object: "refund", id: "re_other", payment_intent: "pi_other" } };
  for (let more = 1; more <= 520; more++) {
    events.push({ ...event, id: `evt_other_${more}`, created: event.created + more, data });
  }
  clock.ms += 61 * MINUTE_MS;
  await work();
  expect((await shipment(reference))["payment_details"]).toMatchObject({ refunded_amount: 2.69 });
});

test("two replicas that receive the same events and poll at once refund once", async () => {
  const other = await startReplica(service.databaseUrl, {
    now: () => new Date(clock.ms),
    ...setup.settings,
  });
  const replicas = [service, other];
  stripe.addWebhook({ url: `${other.httpUrl}/webhooks/stripe`, secret: PLATFORM_SECRET });
  const booked = await Promise.all(Array.from({ length: 4 }, () => bookCheckout(setup, workspace)));
  for (const { session } of booked) stripe.pay(session);
  stripe.delivery = "sent";
  // Each replica polls when it receives an event, and each cancels half of the shipments.
  const [statuses] = await Promise.all([
    stripe.deliverEvents(),
    ...booked.map(({ reference }, index) => takeStep(replicas[index % 2]!, apiKey, reference, "cancel")),
  ]);
  expect(new Set(statuses)).toEqual(new Set([200]));
  await work();
  await stripe.whenSent();
  await work();
  expect(stripe.held).toEqual([]);
  stripe.delivery = "held";
  const keys = stripe.processed
    .filter(({ line }) => line === "POST /v1/refunds")
    .map(({ idempotencyKey }) => idempotencyKey);
  for (const { reference } of booked) {
    expect(stripe.payments(account)).toContainEqual(
      expect.objectContaining({ reference, charges: 1, charged: 1269, refunds: 1, refunded: 1269 }),
    );
    const types = await eventTypes(service, apiKey, reference);
    expect(types.filter((type) => type === "paid" || type === "refunded")).toEqual(["paid", "refunded"]);
    expect(keys.filter((key) => key?.includes(reference))).toHaveLength(1);
  }
});

test("resumes polling when the account is accessible with another key", async () => {
  const own = await service.addWorkspace({ paymentProvider: undefined });
  const connected = { ...own, account: stripe.addAccount() };
  const setKey = async (restricted_key: string) => {
    const body = { payment_provider: "stripe", restricted_key, webhook_secret: "whsec_own" };
    const options = { apiKey: own.apiKey, method: "PUT", body };
    expect((await service.request("/v1/payment_connection/key", options)).status).toBe(200);
  };
  const key = stripe.addKey(connected.account);
  await setKey(key);
  const open = await bookCheckout(setup, connected);
  const paid = await bookCheckout(setup, connected);
  stripe.pay(paid.session);
  await takeStep(service, own.apiKey, paid.reference, "pay");
  stripe.revokeKey(key);
  await takeStep(service, own.apiKey, paid.reference, "cancel");
  clock.ms += HOUR_MS;
  await work();
  const { payment_details } = await getShipment(service, own.apiKey, paid.reference);
  expect(payment_details.refund_error).toMatch(/^Invalid API Key/);
  stripe.pay(open.session);
  await setKey(stripe.addKey(connected.account));
  await work();
  expect(stripe.payments(connected.account)).toMatchObject([
    { charges: 1, refunds: 0 },
    { charges: 1, refunds: 1, refunded: 1269 },
  ]);
  for (const [{ reference }, payment_status] of [
    [open, "paid"],
    [paid, "refunded"],
  ] as const) {
    expect(await getShipment(service, own.apiKey, reference)).toMatchObject({ payment_status });
  }
});

test("resumes polling even if the account was inaccessible only for a moment", async () => {
  const { id, ...closed } = await setup.connect();
  const { reference, session } = await bookCheckout(setup, { id, ...closed });
  stripe.deauthorise(closed.account);
  stripe.dropEvents();
  expect((await takeStep(service, closed.apiKey, reference, "pay")).status).toBe(422);
  await work();
  stripe.books(closed.account).authorised = true;
  stripe.pay(session);
  stripe.dropEvents();
  clock.ms += HOUR_MS;
  await work();
  // The next attempt is delayed, because the account may refuse again although it is ready.
  const { rows } = await sql.query("select due_at from provider_payment where workspace_id = $1", [id]);
  expect(rows).toEqual([{ due_at: new Date(clock.ms + MINUTE_MS) }]);
  clock.ms += MINUTE_MS;
  await work();
  expect(await getShipment(service, closed.apiKey, reference)).toMatchObject({
    payment_status: "paid",
  });
});
