import type { Stripe } from "stripe";
import { expect, test } from "vitest";
import { startStripe, type StripeStandIn } from "./stand-in.ts";
import { clientOf, priced } from "./stripe-client.ts";

const now = Date.parse("2026-11-22T12:00:00Z");

async function start() {
  const stripe = await startStripe({ now: () => now });
  const account = stripe.addAccount();
  return { stripe, account, client: clientOf(stripe, { account }) };
}

/** What became of a session, its intent and the charge, in words. */
async function stateOf(client: Stripe, id: string) {
  const session = await client.checkout.sessions.retrieve(id, {
    expand: ["payment_intent.latest_charge"],
  });
  const intent = session.payment_intent;
  const charge = typeof intent === "object" ? intent?.latest_charge : undefined;
  return [
    session.status,
    session.payment_status,
    typeof intent === "object" ? intent?.status : intent,
    typeof charge === "object" ? charge?.status : charge,
  ];
}

const typesOf = (stripe: StripeStandIn, account: string) =>
  stripe.books(account).events.map(({ type }) => type);

test("a session is paid at once, and refunded in two parts", async () => {
  const { stripe, account, client } = await start();
  const session = await client.checkout.sessions.create(
    priced(1299, "usd", {
      client_reference_id: "SHP-1",
      metadata: { workspace: "7" },
      payment_intent_data: { metadata: { reference: "SHP-1" } },
    }),
  );
  expect(session).toMatchObject({
    amount_total: 1299,
    currency: "usd",
    status: "open",
    payment_status: "unpaid",
    client_reference_id: "SHP-1",
    metadata: { workspace: "7" },
    expires_at: now / 1000 + 86_400,
  });
  expect(await stateOf(client, session.id)).toEqual(["open", "unpaid", undefined, undefined]);

  stripe.pay(session.id);
  expect(await stateOf(client, session.id)).toEqual(["complete", "paid", "succeeded", "succeeded"]);
  const { data: found } = await client.checkout.sessions.list({ status: "complete" });
  expect(found.map(({ id }) => id)).toEqual([session.id]);
  const paid = await client.checkout.sessions.retrieve(session.id, { expand: ["payment_intent"] });
  const intent = paid.payment_intent as Stripe.PaymentIntent;
  expect(intent).toMatchObject({ amount_received: 1299, metadata: { reference: "SHP-1" } });

  const first = await client.refunds.create({ payment_intent: intent.id, amount: 299 });
  expect(first).toMatchObject({ amount: 299, status: "succeeded", payment_intent: intent.id });
  await expect(client.refunds.create({ payment_intent: intent.id, amount: 1001 })).rejects.toThrow(
    "Refund amount ($10.01 usd) is greater than unrefunded amount on charge ($10.00 usd)",
  );
  await client.refunds.create({ payment_intent: intent.id });
  await expect(client.refunds.create({ payment_intent: intent.id })).rejects.toMatchObject({
    statusCode: 400,
    code: "charge_already_refunded",
  });
  const { data: refunds } = await client.refunds.list({ payment_intent: intent.id });
  expect(refunds.map(({ amount }) => amount)).toEqual([1000, 299]);
  expect(stripe.payments(account)).toEqual([
    {
      session: session.id,
      reference: "SHP-1",
      currency: "usd",
      charges: 1,
      charged: 1299,
      refunds: 2,
      refunded: 1299,
    },
  ]);
  expect(typesOf(stripe, account)).toEqual([
    "payment_intent.created",
    "charge.succeeded",
    "payment_intent.succeeded",
    "checkout.session.completed",
    "refund.created",
    "charge.refunded",
    "refund.created",
    "charge.refunded",
  ]);
});

test("a declined card leaves the session open, and a slow method completes it before it is paid", async () => {
  const { stripe, account, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(500));
  stripe.failPayment(id);
  expect(await stateOf(client, id)).toEqual([
    "open",
    "unpaid",
    "requires_payment_method",
    "failed",
  ]);
  stripe.startProcessing(id);
  expect(await stateOf(client, id)).toEqual(["complete", "unpaid", "processing", "pending"]);
  stripe.settleProcessing(id, "succeeded");
  expect(await stateOf(client, id)).toEqual(["complete", "paid", "succeeded", "succeeded"]);
  const other = await client.checkout.sessions.create(priced(500));
  stripe.startProcessing(other.id);
  stripe.settleProcessing(other.id, "failed");
  expect(await stateOf(client, other.id)).toEqual([
    "complete",
    "unpaid",
    "requires_payment_method",
    "failed",
  ]);
  expect(stripe.payments(account).map(({ charges, charged }) => [charges, charged])).toEqual([
    [1, 500],
    [0, 0],
  ]);
});

test("an open session is expired by a call or by time, and can be neither paid nor expired then", async () => {
  let time = now;
  const stripe = await startStripe({ now: () => time });
  const account = stripe.addAccount();
  const client = clientOf(stripe, { account });
  const first = await client.checkout.sessions.create(priced(500));
  expect((await client.checkout.sessions.expire(first.id)).status).toBe("expired");
  expect(() => stripe.pay(first.id)).toThrow(`${first.id} is expired, not open`);
  await expect(client.checkout.sessions.expire(first.id)).rejects.toThrow(
    "has a status of expired",
  );
  const expires_at = now / 1000 + 1800;
  const second = await client.checkout.sessions.create(priced(500, "usd", { expires_at }));
  time = expires_at * 1000 - 1;
  expect((await client.checkout.sessions.retrieve(second.id)).status).toBe("open");
  time = expires_at * 1000;
  expect(await client.checkout.sessions.retrieve(second.id)).toMatchObject({
    status: "expired",
    url: null,
  });
  const tooSoon = priced(500, "usd", { expires_at: Math.floor(time / 1000) + 1799 });
  await expect(client.checkout.sessions.create(tooSoon)).rejects.toMatchObject({
    param: "expires_at",
  });
});

test.each([
  [49, "usd", "amount_too_small"],
  [49, "jpy", "amount_too_small"],
  [100_000_000, "usd", "amount_too_large"],
  [5_125, "kwd", "parameter_invalid_integer"],
  [5_050, "isk", "parameter_invalid_integer"],
])("%d %s is refused as %s", async (amount, currency, code) => {
  const { client } = await start();
  await expect(client.checkout.sessions.create(priced(amount, currency))).rejects.toMatchObject({
    type: "StripeInvalidRequestError",
    statusCode: 400,
    code,
  });
});

test("the smallest amounts of currencies without and with three decimals are taken, and nothing is to be paid for 0", async () => {
  const { stripe, client } = await start();
  for (const [amount, currency] of [
    [50, "jpy"],
    [5_120, "kwd"],
  ] as const) {
    const session = await client.checkout.sessions.create(priced(amount, currency));
    expect(session).toMatchObject({ amount_total: amount, currency });
  }
  const free = await client.checkout.sessions.create(priced(0));
  expect(free.payment_status).toBe("no_payment_required");
  stripe.pay(free.id);
  expect(await stateOf(client, free.id)).toEqual([
    "complete",
    "no_payment_required",
    undefined,
    undefined,
  ]);
});

test("a refund may stay pending, and gives its amount back to the charge when it fails", async () => {
  const { stripe, account, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(1000));
  stripe.pay(id);
  const { payment_intent } = await client.checkout.sessions.retrieve(id);
  const create = () => client.refunds.create({ payment_intent: payment_intent as string });
  stripe.refundsBecome(account, "pending");
  const refund = await create();
  expect(refund).toMatchObject({ status: "pending", pending_reason: "processing" });
  await expect(create()).rejects.toMatchObject({ code: "charge_already_refunded" });
  stripe.settleRefund(refund.id, "failed");
  expect(await client.refunds.retrieve(refund.id)).toMatchObject({
    status: "failed",
    failure_reason: "expired_or_canceled_card",
  });
  stripe.refundsBecome(account, "requires_action");
  const second = await create();
  expect(second.status).toBe("requires_action");
  stripe.settleRefund(second.id);
  expect((await client.refunds.retrieve(second.id)).status).toBe("succeeded");
  expect(stripe.payments(account)).toMatchObject([{ refunds: 1, refunded: 1000 }]);
  const [charge] = (await client.charges.list({ payment_intent: payment_intent as string })).data;
  expect(charge).toMatchObject({ amount_refunded: 1000, refunded: true });
});

test("a refund that was planned to ends by itself, later", async () => {
  let time = now;
  const stripe = await startStripe({ now: () => time });
  const account = stripe.addAccount();
  const client = clientOf(stripe, { account });
  const { id } = await client.checkout.sessions.create(priced(1000));
  stripe.pay(id);
  stripe.refundsBecome(account, "pending", { status: "failed", afterSeconds: 60 });
  const refund = stripe.refundByHand(id);
  const statusAfter = async (ms: number) => {
    time = now + ms;
    return (await client.refunds.retrieve(refund)).status;
  };
  expect(await statusAfter(59_999)).toBe("pending");
  expect(await statusAfter(60_000)).toBe("failed");
});

test("a refund by hand is one among the others", async () => {
  const { stripe, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(1000));
  stripe.pay(id);
  const byHand = stripe.refundByHand(id, 400);
  const { data } = await client.refunds.list({ expand: ["data.charge"] });
  expect(data).toMatchObject([{ id: byHand, charge: { amount_refunded: 400, refunded: false } }]);
});

test("nothing is refunded while a charge is disputed or once the dispute is lost, but when it is won", async () => {
  const { stripe, client } = await start();
  const outcomes = ["won", "lost"] as const;
  for (const outcome of outcomes) {
    const { id } = await client.checkout.sessions.create(priced(1000));
    stripe.pay(id);
    const { payment_intent } = await client.checkout.sessions.retrieve(id);
    const refund = () => client.refunds.create({ payment_intent: payment_intent as string });
    const dispute = stripe.openDispute(id);
    await expect(refund()).rejects.toMatchObject({ code: "charge_disputed" });
    expect((await client.disputes.retrieve(dispute)).status).toBe("needs_response");
    stripe.closeDispute(dispute, outcome);
    expect((await client.disputes.retrieve(dispute)).status).toBe(outcome);
    if (outcome === "won") expect((await refund()).status).toBe("succeeded");
    else await expect(refund()).rejects.toMatchObject({ code: "charge_disputed" });
  }
});

test("an intent that has not been paid may be cancelled, and one that was may not", async () => {
  const { stripe, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(1000));
  stripe.failPayment(id);
  const { payment_intent } = await client.checkout.sessions.retrieve(id);
  const cancelled = await client.paymentIntents.cancel(payment_intent as string, {
    cancellation_reason: "abandoned",
  });
  expect(cancelled).toMatchObject({ status: "canceled", cancellation_reason: "abandoned" });
  await expect(client.paymentIntents.cancel(cancelled.id)).rejects.toMatchObject({
    code: "payment_intent_unexpected_state",
  });
});
