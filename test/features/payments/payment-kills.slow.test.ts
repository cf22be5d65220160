import { expect, test } from "vitest";
import { PAYMENT } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startReplica } from "../../support/service.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import {
  requestCheckout,
  bookCheckout,
  PLATFORM_SECRET,
  startStripeService,
  untilShipment,
} from "../../support/stripe-service.ts";

/** Time after which a worker's lease on a payment has expired, in milliseconds. */
const LEASE_EXPIRED_MS = 2 * 60_000;
/** Time after which a checkout page has expired, in milliseconds. */
const PAGE_EXPIRED_MS = 24 * 60 * 60_000;

/** Pays a shipment at Stripe, and starts the only process that works on the payment. Tests kill the process. */
async function startDoomed() {
  const setup = await startStripeService();
  const { service, stripe, clock } = setup;
  // The process uses the machine's clock, so the stand-in's clock must match it.
  clock.ms = Date.now();
  const workspace = await setup.connect();
  const booked = await bookCheckout(setup, workspace);
  stripe.pay(booked.session);
  await service.close();
  const doomed = await startServiceProcess({
    DATABASE_URL: service.databaseUrl,
    STRIPE_API_URL: stripe.url,
    STRIPE_SECRET_KEY: stripe.secretKey,
    STRIPE_WEBHOOK_SECRET: PLATFORM_SECRET,
  });
  await doomed.untilReady();
  return {
    ...booked,
    ...workspace,
    stripe,
    doomed,
    async kill() {
      doomed.process.kill("SIGKILL");
      await doomed.ended;
    },
    sql: await connectTo(service.databaseUrl),
    /** Starts another process, by default after the first one's lease has expired. */
    async takeOver(laterMs = LEASE_EXPIRED_MS) {
      clock.ms = Date.now() + laterMs;
      return startReplica(service.databaseUrl, {
        now: () => new Date(clock.ms),
        stripe: {
          apiUrl: stripe.url,
          platforms: { live: { secretKey: stripe.secretKey, webhookSecrets: [PLATFORM_SECRET] } },
        },
      });
    },
  };
}

test("another process applies an event after the process that received it is killed", async () => {
  const { stripe, doomed, reference, session, account, apiKey, ...acts } = await startDoomed();
  stripe.dropEvents();
  stripe.addWebhook({ url: `${doomed.httpUrl}/webhooks/stripe`, secret: PLATFORM_SECRET });
  const reading = stripe.fault("GET /v1/checkout/sessions", "held", { times: 10 });
  stripe.refundByHand(session, 269);
  const statuses = await stripe.deliverEvents({
    where: ({ endpoint }) => endpoint.url.startsWith(doomed.httpUrl),
  });
  expect(statuses).toEqual([200, 200]);
  await reading.met;
  await acts.kill();
  reading.release();
  const next = await acts.takeOver();
  await untilShipment(next, apiKey, reference, {
    payment_status: "paid",
    payment_details: { refunded_amount: 2.69 },
  });
  expect(stripe.payments(account)).toMatchObject([{ charges: 1, refunds: 1, refunded: 269 }]);
});

test("another process completes a refund after a kill between Stripe's refund and its response", async () => {
  const { stripe, doomed, reference, account, apiKey, ...acts } = await startDoomed();
  const post = (path: string, body = {}) => doomed.request(`/v1/shipments/${reference}/${path}`, { apiKey, body });
  await post("payments", PAYMENT);
  // The webhook receiver sends no response. Stripe, which waits for the receiver, sends none either.
  const first = await startReceiver(() => undefined);
  stripe.addWebhook({ url: first.url, secret: PLATFORM_SECRET });
  stripe.delivery = "first";
  expect((await post("cancel")).body.data.payment_status).toBe("refund_pending");
  await eventually("Stripe to refund", () => first.received.length > 0);
  await acts.kill();
  await first.close();
  stripe.delivery = "held";
  const next = await acts.takeOver();
  await untilShipment(next, apiKey, reference, { payment_status: "refunded" });
  expect(stripe.payments(account)).toMatchObject([{ charges: 1, refunds: 1, refunded: 1269 }]);
});

test("no second checkout is opened after a process is killed before it applies a payment", async () => {
  const { stripe, doomed, reference, session, account, apiKey, sql, ...acts } = await startDoomed();
  stripe.dropEvents();
  stripe.addWebhook({ url: `${doomed.httpUrl}/webhooks/stripe`, secret: PLATFORM_SECRET });
  // Locks the shipment, so that the snapshot cannot be applied.
  await sql.query("begin");
  await sql.query("select 1 from shipment where reference = $1 for update", [reference]);
  stripe.refundByHand(session, 269);
  const statuses = await stripe.deliverEvents({
    where: ({ endpoint }) => endpoint.url.startsWith(doomed.httpUrl),
  });
  expect(statuses).toEqual([200, 200]);
  await eventually("the process to wait for the shipment", async () => {
    // Without this, the transaction would keep its first snapshot of the statistics.
    await sql.query("select pg_stat_clear_snapshot()");
    const { rows } = await sql.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  });
  const { rows } = await sql.query("select state, version from provider_payment");
  expect(rows).toEqual([{ state: "open", version: 1 }]);
  await acts.kill();
  await sql.query("rollback");
  const next = await acts.takeOver(PAGE_EXPIRED_MS);
  const response = await requestCheckout(next, apiKey, reference);
  expect({ status: response.status, message: response.body.message }).toEqual({
    status: 422,
    message: "The shipment cannot be paid because it is awaiting pickup.",
  });
  expect(stripe.payments(account)).toMatchObject([{ charges: 1, refunded: 269 }]);
});
