import { describe, expect, test } from "vitest";
import { ANY_TIME, book, BOOKING, PAYMENT, takeStep } from "../../support/bookings.ts";
import {
  askCheckout,
  bookCheckout,
  eventTypes,
  getShipment,
  sessionOf,
  startStripeService,
  untilShipment,
} from "../../support/stripe-service.ts";

const setup = await startStripeService();
const { service, stripe, clock } = setup;
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
  uncounted: false,
  dispute: null,
};

const NOT_CONFIRMED =
  "The payment provider does not confirm it; what it says is in the shipment's payment_details.";

const deliver = () => stripe.deliverNotices();
const shipment = (reference: string) => getShipment(service, apiKey, reference);
const until = (reference: string, fields: Parameters<typeof untilShipment>[3]) =>
  untilShipment(service, apiKey, reference, fields);
const events = (reference: string) => eventTypes(service, apiKey, reference);
const moneyOf = (session: string) =>
  stripe.payments(account).find((line) => line.session === session);

describe("a checkout", () => {
  test("is opened for the shipment's total, and asking again gives the open one", async () => {
    const { reference } = await book(service, apiKey);
    const opened = await askCheckout(service, apiKey, reference, { expires_in_minutes: 60 });
    const session = stripe.books(account).session(sessionOf(stripe, account, reference));
    const expiresAt = new Date(clock.ms + 60 * 60_000).toISOString();
    expect(opened.body).toEqual({
      data: {
        ...(await shipment(reference)),
        payment_details: {
          ...NO_DETAILS,
          checkout_url: session.url,
          checkout_expires_at: expiresAt,
        },
      },
      checkout_url: session.url,
      expires_at: expiresAt,
    });
    expect(session).toMatchObject({
      amount_total: 1269,
      currency: "usd",
      metadata: { workspace: String(workspace.id), shipment: reference },
      success_url: "https://shop.example.org/paid",
      cancel_url: "https://shop.example.org/cart",
    });
    expect((await askCheckout(service, apiKey, reference)).body).toEqual(opened.body);
    const grpc = service.grpcClient(apiKey);
    const byGrpc = await grpc.createCheckout({
      shipment: reference,
      successUrl: "https://shop.example.org/other",
      cancelUrl: "https://shop.example.org/other",
    });
    expect(byGrpc.checkoutUrl).toBe(session.url);
    expect(await events(reference)).toEqual(["created", "checkout_opened"]);
  });

  test("is opened once by calls at the same time", async () => {
    const { reference } = await book(service, apiKey);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => askCheckout(service, apiKey, reference)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]!.status, answers[0]!.text).toBe(200);
    const sessions = [...stripe.books(account).sessions.values()];
    expect(sessions.filter((it) => it.client_reference_id === reference)).toHaveLength(1);
  });

  test("that expired is replaced by another", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    stripe.books(account).expireSession(session);
    await deliver();
    const details = { error: "The checkout ended before it was paid.", checkout_url: null };
    await until(reference, { payment_status: "awaiting_payment", payment_details: details });
    expect(await events(reference)).toEqual(["created", "checkout_opened", "payment_failed"]);
    const again = await askCheckout(service, apiKey, reference);
    expect(again.status, again.text).toBe(200);
    expect(sessionOf(stripe, account, reference)).not.toBe(session);
    expect(again.body.data.payment_details).toMatchObject({ error: null });
  });

  test("is ended before the price changes, and not when it stays", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    const update = (body: object) =>
      service.request(`/v1/shipments/${reference}`, { apiKey, method: "PATCH", body });
    await update({ dropoff_address: "Door 2" });
    expect(stripe.books(account).session(session).status).toBe("open");
    const { etag } = await shipment(reference);
    const changed = await update({ weight_kg: 5, etag });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body.data).toMatchObject({ weight_kg: 5, payment_details: NO_DETAILS });
    expect(stripe.books(account).session(session).status).toBe("expired");
    await askCheckout(service, apiKey, reference);
    const next = stripe.books(account).session(sessionOf(stripe, account, reference));
    expect(next.amount_total).toBe(Math.round(changed.body.data.total * 100));
  });

  test("is refused where the provider has no page to pay at", async () => {
    const manual = await service.addWorkspace();
    const { reference } = await book(service, manual.apiKey);
    const { status, body } = await askCheckout(service, manual.apiKey, reference);
    const message = "The payment provider has no page to pay at; record the payment instead.";
    expect({ status, body }).toEqual({
      status: 422,
      body: { message, errors: { payment_provider: [message] } },
    });
  });

  test("is refused while the account takes no payments", async () => {
    const restricted = await setup.connect();
    const { reference } = await book(service, restricted.apiKey);
    stripe.restrictAccount(restricted.account);
    stripe.dropNotices();
    await service.request("/v1/payment_connection/check", { apiKey: restricted.apiKey, body: {} });
    const { status, body } = await askCheckout(service, restricted.apiKey, reference);
    const message =
      "The payment provider takes no payments for the workspace now; look at its connection.";
    expect({ status, body }).toEqual({
      status: 422,
      body: { message, errors: { payment_provider: [message] } },
    });
  });

  test("of a shipment that is cancelled is ended", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    await takeStep(service, apiKey, reference, "cancel");
    const { payment_details } = await until(reference, {
      payment_status: "voided",
      payment_details: { checkout_url: null },
    });
    expect(payment_details).toEqual(NO_DETAILS);
    expect(stripe.books(account).session(session).status).toBe("expired");
  });
});

describe("a payment", () => {
  test("that is made pays the shipment", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    stripe.pay(session);
    expect(new Set(await deliver())).toEqual(new Set([200]));
    const paid = await until(reference, { payment_status: "paid" });
    expect(paid).toMatchObject({ status: "awaiting_pickup", payment_details: NO_DETAILS });
    expect(await events(reference)).toEqual([
      "created",
      "checkout_opened",
      "paid",
      "awaiting_pickup",
    ]);
  });

  test("is recorded as Stripe says, whatever the caller says", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    const record = (headers = {}) =>
      service.request(`/v1/shipments/${reference}/payments`, { apiKey, body: PAYMENT, headers });
    const refused = await record();
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 422,
      body: { message: NOT_CONFIRMED, errors: { payment: [NOT_CONFIRMED] } },
    });
    stripe.pay(session);
    const key = { "idempotency-key": `pay-${reference}` };
    const recorded = await record(key);
    expect(recorded.body).toEqual({
      data: await shipment(reference),
      payment: { provider: "stripe", ...PAYMENT, paid_at: ANY_TIME, refunded_at: null },
    });
    expect((await record(key)).text).toBe(recorded.text);
    expect((await record()).body.message).toBe(
      "The shipment cannot be paid because it is awaiting pickup.",
    );
    expect(await shipment(reference)).toMatchObject({ payment_status: "paid" });
  });

  test("that Stripe knows nothing of is not recorded", async () => {
    const { reference } = await book(service, apiKey);
    const recorded = await takeStep(service, apiKey, reference, "pay");
    expect(recorded.body.message).toBe(NOT_CONFIRMED);
  });

  test("that is processing fixes price and route, and then pays", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    stripe.startProcessing(session);
    await deliver();
    await until(reference, {
      payment_status: "awaiting_payment",
      payment_details: { processing: true, checkout_url: null },
    });
    const refused = await service.request(`/v1/shipments/${reference}`, {
      apiKey,
      method: "PATCH",
      body: { weight_kg: 5 },
    });
    expect(refused.body.message).toBe(
      "The shipment's route and weight cannot be changed because its payment is processing.",
    );
    expect((await askCheckout(service, apiKey, reference)).body.message).toBe(
      "The shipment cannot be paid because its payment is processing.",
    );
    stripe.settleProcessing(session, "succeeded");
    await deliver();
    await until(reference, { payment_status: "paid", payment_details: { processing: false } });
    expect(await events(reference)).toEqual([
      "created",
      "checkout_opened",
      "payment_processing",
      "paid",
      "awaiting_pickup",
    ]);
  });

  test("that fails leaves the shipment unpaid, with the error", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    stripe.failPayment(session);
    await deliver();
    const declined = await until(reference, {});
    expect(declined).toMatchObject({ payment_status: "awaiting_payment" });
    const { payment_details } = await until(reference, {
      payment_details: { error: "Your card was declined." },
    });
    expect(payment_details.checkout_url).not.toBeNull();
    stripe.startProcessing(session);
    stripe.settleProcessing(session, "failed");
    await deliver();
    await until(reference, { payment_details: { processing: false, checkout_url: null } });
    expect((await shipment(reference))["payment_details"].error).not.toBeNull();
  });

  test("that does not count is told, and keeps another page from being paid until it is refunded", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    stripe.books(account).session(session).metadata!["shipment"] = "SHP-OTHER";
    stripe.pay(session);
    await deliver();
    const error = "The payment provider took money at the checkout, but names another shipment.";
    const payment_details = { ...NO_DETAILS, error, uncounted: true };
    const told = await until(reference, { payment_details: { error } });
    expect(told).toMatchObject({ payment_status: "awaiting_payment", payment_details });
    stripe.refundByHand(session, 269);
    await deliver();
    await until(reference, { payment_details: { error, refunded_amount: 2.69 } });
    const refused = await askCheckout(service, apiKey, reference);
    expect({ status: refused.status, message: refused.body.message }).toEqual({
      status: 422,
      message:
        "The shipment cannot be paid because it was paid by money that does not count; refund it at the payment provider.",
    });
    expect(await shipment(reference)).toMatchObject({ payment_details: { error } });
    stripe.refundByHand(session);
    await deliver();
    await until(reference, { payment_details: { error, refunded_amount: 12.69 } });
    expect((await askCheckout(service, apiKey, reference)).status).toBe(200);
    stripe.pay(sessionOf(stripe, account, reference));
    await deliver();
    await until(reference, { payment_status: "paid", payment_details: NO_DETAILS });
  });

  test("in a currency that is not known here does not count, and is settled by that", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    Object.assign(stripe.books(account).session(session), { currency: "xdr", amount_total: 900 });
    stripe.pay(session);
    const recorded = await takeStep(service, apiKey, reference, "pay");
    expect({ status: recorded.status, message: recorded.body.message }).toEqual({
      status: 422,
      message: NOT_CONFIRMED,
    });
    const error = "The payment provider took money in XDR, a currency that is not known here.";
    const { payment_details } = await shipment(reference);
    expect(payment_details).toEqual({ ...NO_DETAILS, error, uncounted: true });
    stripe.refundByHand(session);
    await deliver();
    await until(reference, {
      payment_details: { error, uncounted: false, refunded_amount: 0 },
    });
  });

  test("that comes after the cancellation is refunded", async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    stripe.pay(session);
    await takeStep(service, apiKey, reference, "cancel");
    await until(reference, {
      payment_status: "refunded",
      payment_details: { refunded_amount: 12.69 },
    });
    expect(await events(reference)).toEqual([
      "created",
      "checkout_opened",
      "cancelled",
      "paid",
      "refunded",
    ]);
    expect(moneyOf(session)).toMatchObject({
      charges: 1,
      charged: 1269,
      refunds: 1,
      refunded: 1269,
    });
  });
});

describe("a refund", () => {
  const paid = async () => {
    const checkedOut = await bookCheckout(setup, workspace);
    stripe.pay(checkedOut.session);
    await takeStep(service, apiKey, checkedOut.reference, "pay");
    expect(await shipment(checkedOut.reference)).toMatchObject({ payment_status: "paid" });
    return checkedOut;
  };
  const refundsOf = (session: string) => {
    const { payment_intent: intent } = stripe.books(account).session(session);
    const refunds = [...stripe.books(account).refunds.values()];
    return refunds.filter(({ payment_intent }) => payment_intent === intent);
  };
  const retry = (reference: string) =>
    service.request(`/v1/shipments/${reference}/refunds/retry`, { apiKey, body: {} });

  test("is made when a paid shipment is cancelled", async () => {
    const { reference, session } = await paid();
    await takeStep(service, apiKey, reference, "cancel");
    await until(reference, { payment_status: "refunded" });
    expect(moneyOf(session)).toMatchObject({ refunds: 1, refunded: 1269 });
    expect((await retry(reference)).body.message).toBe(
      "The refund cannot be tried again because its payment is refunded.",
    );
  });

  test("that is pending is refunded once it has succeeded", async () => {
    const { reference, session } = await paid();
    stripe.refundsBecome(account, "pending");
    await takeStep(service, apiKey, reference, "cancel");
    await expect.poll(() => refundsOf(session).length).toBe(1);
    stripe.refundsBecome(account, "succeeded");
    expect((await retry(reference)).body.message).toBe(
      "The refund cannot be tried again because its refund is on its way.",
    );
    expect((await takeStep(service, apiKey, reference, "refund")).body.message).toBe(NOT_CONFIRMED);
    stripe.settleRefund(refundsOf(session)[0]!.id);
    await deliver();
    await until(reference, { payment_status: "refunded" });
  });

  test("that fails is told, and can be tried again", async () => {
    const { reference, session } = await paid();
    stripe.refundsBecome(account, "failed");
    await takeStep(service, apiKey, reference, "cancel");
    const { payment_details } = await until(reference, { payment_status: "refund_pending" });
    await expect
      .poll(async () => (await shipment(reference))["payment_details"].refund_error)
      .toMatch(/^The refund failed: /);
    expect(payment_details.refunded_amount).toBe(0);
    expect(await events(reference)).toContain("refund_failed");
    stripe.refundsBecome(account, "succeeded");
    const retried = await retry(reference);
    expect(retried.body.data.payment_details.refund_error).toBeNull();
    await until(reference, { payment_status: "refunded", payment_details: { refund_error: null } });
    expect(refundsOf(session).map(({ status }) => status)).toEqual(["failed", "succeeded"]);
  });

  test("that Stripe takes back makes the money due again", async () => {
    const { reference, session } = await paid();
    await takeStep(service, apiKey, reference, "cancel");
    await until(reference, { payment_status: "refunded" });
    stripe.dropNotices();
    stripe.settleRefund(refundsOf(session)[0]!.id, "failed");
    await deliver();
    await until(reference, {
      payment_status: "refund_pending",
      payment_details: { refunded_amount: 0 },
    });
    await retry(reference);
    await until(reference, { payment_status: "refunded" });
  });

  test("in part by hand leaves the shipment paid, and the rest is refunded at its cancellation", async () => {
    const { reference, session } = await paid();
    stripe.refundByHand(session, 269);
    await deliver();
    await until(reference, { payment_status: "paid", payment_details: { refunded_amount: 2.69 } });
    expect((await events(reference)).at(-1)).toBe("partly_refunded");
    await takeStep(service, apiKey, reference, "cancel");
    await until(reference, {
      payment_status: "refunded",
      payment_details: { refunded_amount: 12.69 },
    });
    expect(refundsOf(session).map(({ amount }) => amount)).toEqual([269, 1000]);
  });

  test("in part by hand that Stripe takes back later makes its money due again", async () => {
    const { reference, session } = await paid();
    const byHand = stripe.refundByHand(session, 269);
    await takeStep(service, apiKey, reference, "cancel");
    await until(reference, { payment_status: "refunded" });
    stripe.settleRefund(byHand, "failed");
    await deliver();
    const { payment_details } = await until(reference, {
      payment_status: "refund_pending",
      payment_details: { refunded_amount: 10 },
    });
    expect(payment_details.refund_error).toMatch(/^The refund failed: /);
    expect((await retry(reference)).body.data.payment_details.refund_error).toBeNull();
    await until(reference, { payment_status: "refunded", payment_details: { refund_error: null } });
    expect(refundsOf(session).map(({ amount, status }) => [amount, status])).toEqual([
      [269, "failed"],
      [1000, "succeeded"],
      [269, "succeeded"],
    ]);
  });

  test("waits while the payment is disputed, and is made once that is won", async () => {
    const { reference, session } = await paid();
    const dispute = stripe.openDispute(session);
    await deliver();
    await until(reference, { payment_details: { dispute: "open" } });
    await takeStep(service, apiKey, reference, "cancel");
    await until(reference, { payment_status: "refund_pending" });
    for (const step of ["refunds", "refunds/retry"]) {
      const path = `/v1/shipments/${reference}/${step}`;
      expect((await service.request(path, { apiKey, body: {} })).body.message).toBe(
        "The payment is disputed; nothing is refunded before that is decided.",
      );
    }
    expect(refundsOf(session)).toEqual([]);
    stripe.closeDispute(dispute, "won");
    await deliver();
    await until(reference, { payment_status: "refunded", payment_details: { dispute: "won" } });
    expect(refundsOf(session)).toHaveLength(1);
    expect(await events(reference)).toEqual([
      "created",
      "checkout_opened",
      "paid",
      "awaiting_pickup",
      "dispute_opened",
      "cancelled",
      "dispute_closed",
      "refunded",
    ]);
  });

  test("is not made once a dispute was lost, since the money has gone back", async () => {
    const { reference, session } = await paid();
    stripe.closeDispute(stripe.openDispute(session), "lost");
    await deliver();
    await until(reference, { payment_details: { dispute: "lost" } });
    await takeStep(service, apiKey, reference, "cancel");
    const { payment_details } = await until(reference, { payment_status: "refunded" });
    expect(payment_details).toEqual({ ...NO_DETAILS, dispute: "lost", disputed_amount: 12.69 });
    expect(refundsOf(session)).toEqual([]);
  });

  test("is of what a dispute of a part has left, once that is lost", async () => {
    const { reference, session } = await paid();
    const dispute = stripe.openDispute(session, { amount: 300 });
    await takeStep(service, apiKey, reference, "cancel");
    await deliver();
    await until(reference, { payment_details: { dispute: "open" } });
    expect(refundsOf(session)).toEqual([]);
    stripe.closeDispute(dispute, "lost");
    await deliver();
    const { payment_details } = await until(reference, { payment_status: "refunded" });
    expect(payment_details).toEqual({
      ...NO_DETAILS,
      refunded_amount: 9.69,
      dispute: "lost",
      disputed_amount: 3,
    });
    expect(refundsOf(session).map(({ amount }) => amount)).toEqual([969]);
  });

  test("leaves nothing owed when a dispute of all is lost after a part was refunded", async () => {
    const { reference, session } = await paid();
    stripe.refundByHand(session, 269);
    stripe.closeDispute(stripe.openDispute(session), "lost");
    await deliver();
    const details = { refunded_amount: 2.69, dispute: "lost", disputed_amount: 10 };
    await until(reference, { payment_details: details });
    await takeStep(service, apiKey, reference, "cancel");
    await until(reference, { payment_status: "refunded", payment_details: details });
  });

  test("is due again of what the bank gives back of a dispute that was lost", async () => {
    const { reference, session } = await paid();
    const dispute = stripe.openDispute(session, { amount: 300 });
    stripe.closeDispute(dispute, "lost");
    await takeStep(service, apiKey, reference, "cancel");
    await until(reference, { payment_status: "refunded" });
    stripe.books(account).dispute(dispute).status = "won";
    await deliver();
    await until(reference, {
      payment_status: "refund_pending",
      payment_details: { refund_error: "A part is left to refund.", disputed_amount: 0 },
    });
    await retry(reference);
    await until(reference, {
      payment_status: "refunded",
      payment_details: { refund_error: null, refunded_amount: 12.69 },
    });
    expect(refundsOf(session).map(({ amount }) => amount)).toEqual([969, 300]);
  });
});

test("bookings go on while Stripe is away, and what was paid is seen once it is back", async () => {
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.pay(session);
  await stripe.goAway();
  await deliver();
  const booked = await service.request("/v1/shipments", { apiKey, body: BOOKING });
  expect(booked.status).toBe(201);
  const refused = await askCheckout(service, apiKey, booked.body.data.reference);
  expect(refused.status, refused.text).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await shipment(reference)).toMatchObject({ payment_status: "awaiting_payment" });
  clock.ms += 10 * 60_000;
  await stripe.comeBack();
  clock.ms += 10 * 60_000;
  await until(reference, { payment_status: "paid" });
  const { payment_details } = await until(booked.body.data.reference, {
    payment_details: { error: null },
  });
  expect(payment_details.checkout_url).not.toBeNull();
});
