import { expect, test } from "vitest";
import { book, takeStep } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { startReplica } from "../../support/service.ts";
import {
  askCheckout,
  bookCheckout,
  eventTypes,
  getShipment,
  PLATFORM_SECRET,
  sessionOf,
  startStripeService,
  untilShipment,
} from "../../support/stripe-service.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

const MINUTE_MS = 60_000;

const setup = await startStripeService();
const { service, stripe, clock } = setup;
const workspace = await setup.connect();
const { apiKey, account } = workspace;

const until = (reference: string, payment_status: string) =>
  untilShipment(service, apiKey, reference, { payment_status });

/** What was charged and refunded at Stripe for each session of a shipment. */
const moneyOf = (reference: string) =>
  stripe
    .payments(account)
    .filter((payment) => payment.reference === reference)
    .map(({ charges, charged, refunds, refunded }) => ({ charges, charged, refunds, refunded }));

const REFUNDED = { charges: 1, charged: 1269, refunds: 1, refunded: 1269 };

async function bookPaid() {
  const booked = await bookCheckout(setup, workspace);
  stripe.pay(booked.session);
  await takeStep(service, apiKey, booked.reference, "pay");
  stripe.dropNotices();
  await until(booked.reference, "paid");
  return booked;
}

test.for([
  ["lost", "cut"],
  ["no session", "garbled"],
] as const)(
  "a page that was opened though the answer was %s is given, and the only one",
  async ([, fault]) => {
    const { reference } = await book(service, apiKey);
    stripe.fault("POST /v1/checkout/sessions", fault);
    expect((await askCheckout(service, apiKey, reference)).status).toBe(503);
    const again = await askCheckout(service, apiKey, reference);
    expect(again.status, again.text).toBe(200);
    const sessions = [...stripe.books(account).sessions.values()];
    const own = sessions.filter((session) => session.client_reference_id === reference);
    expect(own.map(({ url }) => url)).toEqual([again.body.checkout_url]);
  },
);

test("an answer of 200 that is no session says nothing of an open page, and lets no other be opened", async () => {
  const { reference, session } = await bookCheckout(setup, workspace);
  const { url } = stripe.books(account).session(session);
  const looking = stripe.fault(`GET /v1/checkout/sessions/${session}`, "garbled");
  clock.ms += 4 * MINUTE_MS;
  await looking.met;
  expect((await askCheckout(service, apiKey, reference)).body.checkout_url).toBe(url);
  stripe.pay(session);
  await takeStep(service, apiKey, reference, "pay");
  expect(await eventTypes(service, apiKey, reference)).toEqual([
    "created",
    "checkout_opened",
    "paid",
    "awaiting_pickup",
  ]);
  expect(moneyOf(reference)).toEqual([{ charges: 1, charged: 1269, refunds: 0, refunded: 0 }]);
});

test("a page that was opened meanwhile for the same figure in another currency is ended", async () => {
  const { reference } = await book(service, apiKey);
  stripe.fault("POST /v1/checkout/sessions", "cut");
  expect((await askCheckout(service, apiKey, reference)).status).toBe(503);
  await publishDocument(service.app.em, { ...SAMPLE_TARIFF, currency: "EUR" });
  const path = `/v1/shipments/${reference}`;
  const body = { weight_kg: 2.501 };
  const changed = await service.request(path, { apiKey, method: "PATCH", body });
  await publishDocument(service.app.em, SAMPLE_TARIFF);
  expect(changed.body.data).toMatchObject({ total: 12.69, currency: "EUR" });
  clock.ms += MINUTE_MS;
  const session = sessionOf(stripe, account, reference);
  await eventually(
    "the page to be ended",
    () => stripe.books(account).session(session).status === "expired",
  );
  expect(await eventTypes(service, apiKey, reference)).not.toContain("checkout_opened");
});

test("a refund that was made though the answer was lost is seen, and made once", async () => {
  const { reference } = await bookPaid();
  stripe.fault("POST /v1/refunds", "cut");
  await takeStep(service, apiKey, reference, "cancel");
  await eventually("the refund to be seen", async () => {
    clock.ms += MINUTE_MS;
    return (await getShipment(service, apiKey, reference))["payment_status"] === "refunded";
  });
  expect(moneyOf(reference)).toEqual([REFUNDED]);
});

test("a page is opened, and a refund made, once Stripe has failed under their first keys", async () => {
  const { reference } = await book(service, apiKey);
  stripe.fault("POST /v1/checkout/sessions", "failed");
  expect((await askCheckout(service, apiKey, reference)).status).toBe(503);
  const again = await askCheckout(service, apiKey, reference);
  expect(again.status, again.text).toBe(200);
  const paid = await bookPaid();
  stripe.fault("POST /v1/refunds", "failed");
  await takeStep(service, apiKey, paid.reference, "cancel");
  await eventually("the refund to be seen", async () => {
    clock.ms += MINUTE_MS;
    const { payment_status } = await getShipment(service, apiKey, paid.reference);
    return payment_status === "refunded";
  });
  expect(moneyOf(paid.reference)).toEqual([REFUNDED]);
});

test("a notice that comes before the answer to the call that caused it leads to nothing twice", async () => {
  const { reference } = await bookPaid();
  stripe.notices = "first";
  await takeStep(service, apiKey, reference, "cancel");
  await until(reference, "refunded");
  await stripe.whenSent();
  stripe.notices = "held";
  expect(stripe.dropNotices()).toBe(0);
  expect(moneyOf(reference)).toEqual([REFUNDED]);
});

test.each([
  ["three times", { times: 3 }],
  ["in reverse", { reversed: true }],
])("notices that come %s tell what they tell once and in order", async (_, how) => {
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.failPayment(session);
  stripe.pay(session);
  stripe.refundByHand(session, 269);
  expect(new Set(await stripe.deliverNotices(how))).toEqual(new Set([200]));
  await untilShipment(service, apiKey, reference, {
    payment_status: "paid",
    payment_details: { refunded_amount: 2.69 },
  });
  expect(await eventTypes(service, apiKey, reference)).toEqual([
    "created",
    "checkout_opened",
    "paid",
    "awaiting_pickup",
    "partly_refunded",
  ]);
});

test("what no notice tells is seen some minutes later", async () => {
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.pay(session);
  stripe.dropNotices();
  clock.ms += 5 * MINUTE_MS;
  await until(reference, "paid");
});

test("what becomes of a settled payment is found, though no notice of it ever comes", async () => {
  const { reference, session } = await bookPaid();
  stripe.refundByHand(session, 269);
  stripe.openDispute(session);
  expect(stripe.dropNotices()).toBeGreaterThan(0);
  clock.ms += 61 * MINUTE_MS;
  await untilShipment(service, apiKey, reference, {
    payment_status: "paid",
    payment_details: { refunded_amount: 2.69, dispute: "open" },
  });
  expect(await eventTypes(service, apiKey, reference)).toEqual([
    "created",
    "checkout_opened",
    "paid",
    "awaiting_pickup",
    "partly_refunded",
    "dispute_opened",
  ]);
});

test("more than a look takes is found in several, the oldest first", async () => {
  const { reference, session } = await bookPaid();
  stripe.refundByHand(session, 269);
  stripe.dropNotices();
  const { events } = stripe.books(account);
  const told = events.at(-1)!;
  // Then came many of a payment that nobody knows here.
  const data = { object: { object: "refund", id: "re_other", payment_intent: "pi_other" } };
  for (let more = 1; more <= 520; more++) {
    events.push({ ...told, id: `evt_other_${more}`, created: told.created + more, data });
  }
  clock.ms += 61 * MINUTE_MS;
  const refunded = async () =>
    (await getShipment(service, apiKey, reference))["payment_details"].refunded_amount === 2.69;
  await eventually("the refund to be found", refunded);
});

test("two replicas that are told the same at once, and look at once, refund once", async () => {
  const other = await startReplica(service.databaseUrl, {
    now: () => new Date(clock.ms),
    stripe: {
      apiUrl: stripe.url,
      platforms: { live: { secretKey: stripe.secretKey, webhookSecrets: [PLATFORM_SECRET] } },
    },
  });
  const replicas = [service, other];
  stripe.addWebhook({ url: `${other.httpUrl}/webhooks/stripe`, secret: PLATFORM_SECRET });
  const booked = await Promise.all(Array.from({ length: 4 }, () => bookCheckout(setup, workspace)));
  for (const { session } of booked) stripe.pay(session);
  stripe.notices = "sent";
  // Told of the payment, both look for it; and each cancels half of the shipments meanwhile.
  const [told] = await Promise.all([
    stripe.deliverNotices(),
    ...booked.map(({ reference }, index) =>
      takeStep(replicas[index % 2]!, apiKey, reference, "cancel"),
    ),
  ]);
  expect(new Set(told)).toEqual(new Set([200]));
  for (const { reference } of booked) await until(reference, "refunded");
  await stripe.whenSent();
  expect(stripe.held).toEqual([]);
  for (const { reference } of booked) {
    expect(moneyOf(reference)).toEqual([REFUNDED]);
    const types = await eventTypes(service, apiKey, reference);
    expect(types.filter((type) => type === "paid" || type === "refunded")).toEqual([
      "paid",
      "refunded",
    ]);
  }
  const calls = stripe.taken.filter(({ line }) => line === "POST /v1/refunds");
  const keys = calls.map(({ idempotencyKey }) => idempotencyKey);
  for (const { reference } of booked) {
    expect(keys.filter((key) => key?.includes(reference))).toHaveLength(1);
  }
});
