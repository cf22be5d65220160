import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";
import { purgeTestData } from "../../../src/features/test-mode/delete-test-data.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME, book, BOOKING, PAYMENT, takeStep } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { startReplica } from "../../support/service.ts";
import type { LogLine } from "../../support/service-process.ts";
import {
  requestCheckout,
  bookCheckout,
  type ConnectedWorkspace,
  eventTypes,
  getShipment,
  PLATFORM_SECRET,
  RETURN_URLS,
  sessionOf,
  startStripeModes,
  stripeSettings,
  type StripeService,
  TEST_PLATFORM_SECRET,
} from "../../support/stripe-service.ts";
import { createPaymentWorker } from "./payment-worker.ts";

const logged: LogLine[] = [];
const setup = await startStripeModes({ logged: (line) => logged.push(line) });
const { service, stripe, stripeTest, testMode, clock } = setup;
const work = createPaymentWorker(setup);
const sql = await connectTo(service.databaseUrl);

const EVENTS_PATH = "/webhooks/stripe";
const BEGIN = { payment_provider: "stripe", ...RETURN_URLS };
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

const connection = (apiKey: string) => data(service.as(apiKey).getPaymentConnection());
const disconnect = (apiKey: string) => service.as(apiKey).disconnectPaymentConnection();
const setKey = (apiKey: string, restricted_key: string, webhook_secret = "whsec_own") =>
  service.as(apiKey).setPaymentKey({ payment_provider: "stripe", restricted_key, webhook_secret });
const step = (apiKey: string, shipment: string, name: string) =>
  service.as(apiKey).takeTestStep({ shipment, step: name });
const moveClock = (apiKey: string, ms: number) =>
  data(service.as(apiKey).moveTestClock({ time: new Date(clock.ms + ms).toISOString() }));
const statusOf = async (apiKey: string, reference: string) =>
  (await getShipment(service, apiKey, reference))["payment_status"];

const ALWAYS_CONNECTED = {
  provider: "test",
  state: "ready",
  account: null,
  live: null,
  own_key: false,
  missing: [],
  connected_at: ANY_TIME,
  checked_at: null,
};

describe("a twin is connected", () => {
  test("to a provider that moves no money, unless it is connected to Stripe's test mode", async () => {
    const { apiKey, twin } = await service.addWorkspace({ paymentProvider: undefined });
    expect(await connection(twin.apiKey)).toEqual(ALWAYS_CONNECTED);
    expect((await disconnect(twin.apiKey)).status).toBe(200);
    expect(await connection(twin.apiKey)).toEqual(ALWAYS_CONNECTED);
    const before = await book(service, twin.apiKey);

    const client = service.as(twin.apiKey);
    const begun = await data(client.beginPaymentConnection(BEGIN));
    const { account } = begun;
    expect(begun).toMatchObject({ provider: "stripe", state: "onboarding", live: false });
    expect(stripeTest.books(account).account.metadata).toEqual({
      installation: expect.any(String),
      workspace: String(twin.id),
    });
    expect(() => stripe.books(account)).toThrow("there is no account");
    // As in live mode, bookings are refused until the account can charge.
    expect((await client.createShipment(BOOKING)).code).toBe("PAYMENT_PROVIDER_NOT_READY");
    stripeTest.completeOnboarding(account);
    expect(await data(client.checkPaymentConnection())).toEqual({
      ...ALWAYS_CONNECTED,
      provider: "stripe",
      account,
      live: false,
      checked_at: ANY_TIME,
    });
    expect(await connection(apiKey)).toMatchObject({ provider: null, state: "none" });
    const at = await bookCheckout(testMode, { ...twin, account });
    expect((await disconnect(twin.apiKey)).code).toBe("PAYMENTS_OPEN");
    expect((await takeStep(service, twin.apiKey, at.reference, "cancel")).status).toBe(200);
    await work();
    expect((await disconnect(twin.apiKey)).status).toBe(200);
    expect(await connection(twin.apiKey)).toEqual(ALWAYS_CONNECTED);
    // Recorded payments are accepted again, even for earlier bookings.
    for (const { reference } of [before, await book(service, twin.apiKey)]) {
      const paid = await takeStep(service, twin.apiKey, reference, "pay");
      expect(paid.body.payment).toMatchObject({ provider: "test", ...PAYMENT });
    }
  });

  test("with a test key, and its workspace with a live key of the same account", async () => {
    const { apiKey, twin } = await service.addWorkspace({ paymentProvider: undefined });
    const account = stripe.addAccount();
    stripeTest.addAccount(account);
    const keys = { live: stripe.addKey(account), test: stripeTest.addKey(account) };
    await expectRefused(setKey(apiKey, keys.test), "FIELD_INVALID", {
      restricted_key:
        "restricted_key must be a live key, which begins with rk_live_ or sk_live_. Use a test key in the workspace's test mode.",
    });
    await expectRefused(setKey(twin.apiKey, keys.live), "FIELD_INVALID", {
      restricted_key:
        "restricted_key must be a test key, which begins with rk_test_ or sk_test_. Use a live key in live mode.",
    });
    expect(await connection(twin.apiKey)).toEqual(ALWAYS_CONNECTED);
    expect(await data(setKey(apiKey, keys.live))).toMatchObject({ account, live: true });
    const ofTest = { account, live: false, own_key: true };
    expect(await data(setKey(twin.apiKey, keys.test))).toMatchObject(ofTest);
  });

  test("through the platform only if the platform has an account in test mode", async () => {
    const { apiKey, twin } = await service.addWorkspace({ paymentProvider: undefined });
    const replica = await startReplica(service.databaseUrl, stripeSettings(stripe));
    const begin = (key: string) => replica.as(key).beginPaymentConnection(BEGIN);
    await expectRefused(begin(twin.apiKey), "PAYMENT_PROVIDER_NOT_CONFIGURED", {
      payment_provider: "The platform has no account in Stripe's test mode. Set a test key for this workspace.",
    });
    await data(begin(apiKey));
  });
});

test("payments of a twin have times of the test clock, while checkouts expire in real time", async () => {
  const { apiKey, ...twin } = await testMode.connect();
  await moveClock(apiKey, 400 * DAY_MS);
  const { reference, session } = await bookCheckout(testMode, { apiKey, ...twin });
  const { payment_details } = await getShipment(service, apiKey, reference);
  expect(Date.parse(payment_details.checkout_expires_at) - clock.ms).toBeLessThan(DAY_MS);
  stripeTest.pay(session);
  await stripeTest.deliverEvents();
  await work();
  const events = await data(service.as(apiKey).listShipmentEvents({ shipment: reference }));
  expect(events.find((event: { type: string }) => event.type === "shipment.paid")).toMatchObject({
    timestamp: new Date(clock.ms + 400 * DAY_MS).toISOString(),
    test: true,
  });
});

describe("an event of one mode", () => {
  let events = 0;

  /** Delivers an event about a payment. Returns the response and the stored event. */
  async function send(
    account: string | undefined,
    fields: { readonly livemode: boolean; readonly shipment: string },
    { secret, path = EVENTS_PATH }: { readonly secret: string; readonly path?: string },
  ) {
    const id = `evt_mode_${++events}`;
    const { livemode, shipment } = fields;
    const object = { id: "pi_1", object: "payment_intent", metadata: { shipment } };
    const type = "payment_intent.succeeded";
    const payload = JSON.stringify({
      id,
      object: "event",
      type,
      account,
      livemode,
      data: { object },
    });
    const timestamp = Math.floor(clock.ms / 1_000);
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    const response = await fetch(`${service.httpUrl}${path}`, {
      method: "POST",
      headers: { "stripe-signature": signature },
      body: payload,
    });
    const { rows } = await sql.query("select live from payment_notice where id = $1", [id]);
    return { status: response.status, kept: rows };
  }

  /** Returns the number of polls requested for each shipment. */
  const requestedPolls = async (references: readonly string[]): Promise<number[]> => {
    const { rows } = await sql.query(
      `select wakes from provider_payment
       where shipment_reference = any($1) order by array_position($1, shipment_reference)`,
      [references],
    );
    return rows.map(({ wakes }) => wakes);
  };
  test("has no effect in the other mode, even with the same account id", async () => {
    const workspace = await service.addWorkspace({ paymentProvider: undefined });
    const account = stripe.addAccount();
    stripeTest.addAccount(account);
    await setKey(workspace.apiKey, stripe.addKey(account), "whsec_live");
    await setKey(workspace.twin.apiKey, stripeTest.addKey(account), "whsec_test");
    const live = await bookCheckout(setup, { ...workspace, account });
    const test = await bookCheckout(testMode, { ...workspace.twin, account });
    const both = [live.reference, test.reference];
    const before = await requestedPolls(both);
    const platform = { live: PLATFORM_SECRET, test: TEST_PLATFORM_SECRET };
    const paths = {
      live: `${EVENTS_PATH}/${workspace.id}`,
      test: `${EVENTS_PATH}/${workspace.twin.id}`,
    };
    const own = {
      live: { secret: "whsec_live", path: paths.live },
      test: { secret: "whsec_test", path: paths.test },
    };

    const NOT_STORED = { status: 200, kept: [] };
    for (const shipment of both) {
      for (const [mode, other] of [
        ["live", "test"],
        ["test", "live"],
      ] as const) {
        // Events that are signed with the other mode's secret, or sent to the other mode's URL.
        const foreign = { livemode: other === "live", shipment };
        const secret = platform[mode];
        expect(await send(account, foreign, { secret })).toEqual(NOT_STORED);
        expect(await send(undefined, foreign, own[mode])).toEqual(NOT_STORED);
        const fields = { livemode: mode === "live", shipment };
        const elsewhere = { secret: own[mode].secret, path: paths[other] };
        expect(await send(undefined, fields, elsewhere)).toEqual({ status: 400, kept: [] });
        // Events that are signed correctly, but whose shipment belongs to the other mode.
        if (shipment === (mode === "live" ? live : test).reference) continue;
        const KEPT = { status: 200, kept: [{ live: mode === "live" }] };
        expect(await send(account, fields, { secret })).toEqual(KEPT);
        expect(await send(undefined, fields, own[mode])).toEqual(KEPT);
      }
    }
    await work();
    expect(await requestedPolls(both)).toEqual(before);
    const named = { livemode: false, shipment: test.reference };
    await send(account, named, { secret: TEST_PLATFORM_SECRET });
    await work();
    expect(await requestedPolls(both)).toEqual([before[0], before[1]! + 1]);
  });
});

describe("a twin's payment records are deleted", () => {
  const tables = ["provider_payment", "payment", "shipment"];
  const rowsOf = async ({ id, account }: ConnectedWorkspace) => {
    const counts = tables.map((table) => `(select count(*)::int from ${table} where workspace_id = $1)`);
    const { rows } = await sql.query(
      `select array[${counts.join(", ")}, (select count(*)::int from payment_notice where account = $2)] as rows`,
      [id, account],
    );
    return rows[0].rows as number[];
  };

  /**
   * Creates shipments with open and expired pages, and with paid, refunded and pending payments.
   * Returns one with an open page.
   */
  async function fill(mode: StripeService, workspace: ConnectedWorkspace) {
    const [open, paid, pending, disputed, refunded] = await Promise.all(
      Array.from({ length: 5 }, () => bookCheckout(mode, workspace)),
    );
    for (const { session } of [paid!, pending!, disputed!, refunded!]) mode.stripe.pay(session);
    mode.stripe.openDispute(disputed!.session);
    await mode.stripe.deliverEvents();
    await work();
    await takeStep(service, workspace.apiKey, refunded!.reference, "cancel");
    await work();
    mode.stripe.refundsBecome(workspace.account, "pending");
    await takeStep(service, workspace.apiKey, pending!.reference, "cancel");
    await work();
    const lines = mode.stripe.payments(workspace.account);
    expect(lines.reduce((sum, { refunds }) => sum + refunds, 0)).toBe(2);
    await mode.stripe.deliverEvents();
    await untilEventsDropped();
    return open!;
  }
  /** Waits until events about unknown payments are dropped, which happens after a while. */
  const untilEventsDropped = async () => {
    clock.ms += HOUR_MS;
    await work();
  };

  test("on request, and later events about it have no effect", async () => {
    const [live, twin] = [await setup.connect(), await testMode.connect()];
    const open = await fill(testMode, twin);
    await bookCheckout(setup, live);
    const ofLive = await rowsOf(live);
    logged.length = 0;
    expect((await service.as(twin.apiKey).deleteTestData()).body).toEqual({ complete: true });
    expect(await rowsOf(twin)).toEqual([0, 0, 0, 0]);
    expect(await rowsOf(live)).toEqual(ofLive);
    expect(await connection(twin.apiKey)).toMatchObject({ provider: "stripe", state: "ready" });

    // The page is not expired early and can still be paid.
    stripeTest.pay(open.session);
    expect(new Set(await stripeTest.deliverEvents())).toEqual(new Set([200]));
    await untilEventsDropped();
    expect(logged.filter(({ level }) => level === "error")).toEqual([]);
    const { reference, session } = await bookCheckout(testMode, twin);
    stripeTest.pay(session);
    await stripeTest.deliverEvents();
    await work();
    expect(await statusOf(twin.apiKey, reference)).toBe("paid");
  });

  test("after 30 days", async () => {
    const [live, twin] = [await setup.connect(), await testMode.connect()];
    await fill(testMode, twin);
    await bookCheckout(setup, live);
    const [, , ...ofLive] = await rowsOf(live);
    await purgeTestData(service.app.em, new Date(clock.ms + 31 * DAY_MS));
    expect((await rowsOf(twin)).slice(0, 3)).toEqual([0, 0, 0]);
    expect((await rowsOf(live)).slice(2)).toEqual(ofLive);
  });
});

describe("in a connected twin, a simulation", () => {
  const AT_PROVIDER =
    "The shipment has a checkout, so its payment cannot be simulated. Pay, refund or dispute it at the payment provider.";

  test("pays a shipment without a checkout, as in any twin", async () => {
    const twin = await testMode.connect();
    const simulation = { scenario: "no_courier", step_seconds: 1 };
    const { reference } = await book(service, twin.apiKey, { simulation });
    await moveClock(twin.apiKey, HOUR_MS);
    expect(await eventTypes(service, twin.apiKey, reference)).toEqual([
      "created",
      "paid",
      "awaiting_pickup",
      "cancelled",
      "refunded",
    ]);
    const { rows } = await sql.query("select provider from payment where shipment_reference = $1", [reference]);
    expect(rows).toEqual([{ provider: "test" }]);
    expect(stripeTest.payments(twin.account)).toEqual([]);
  });

  test("ends if the shipment has a checkout, whose payment is made at Stripe", async () => {
    const twin = await testMode.connect();
    const simulation = { scenario: "deliver", step_seconds: 1 };
    const { reference } = await book(service, twin.apiKey, { simulation });
    expect((await requestCheckout(service, twin.apiKey, reference)).status).toBe(200);
    await moveClock(twin.apiKey, HOUR_MS);
    expect(await getShipment(service, twin.apiKey, reference)).toMatchObject({
      status: "pending",
      payment_status: "awaiting_payment",
    });
    const left = await sql.query("select 1 from simulation where shipment_reference = $1", [reference]);
    expect(left.rows).toEqual([]);
    for (const name of ["pay", "decline_payment", "open_dispute"]) {
      const refused = step(twin.apiKey, reference, name);
      await expectRefused(refused, "SHIPMENT_STATE", { shipment: AT_PROVIDER });
    }
    stripeTest.pay(sessionOf(stripeTest, twin.account, reference));
    await stripeTest.deliverEvents();
    await work();
    expect(await statusOf(twin.apiKey, reference)).toBe("paid");
    // Stripe has no connected account with this id.
    for (const [name, status] of [
      ["pick_up", "in_transit"],
      ["deliver", "delivered"],
    ] as const) {
      expect(await data(step(twin.apiKey, reference, name))).toMatchObject({ status });
    }
  });

  test("cancels a shipment as a sender would, which refunds it at Stripe", async () => {
    const twin = await testMode.connect();
    const { reference, session } = await bookCheckout(testMode, twin);
    stripeTest.pay(session);
    await takeStep(service, twin.apiKey, reference, "pay");
    const cancelled = await data(step(twin.apiKey, reference, "cancel"));
    expect(cancelled).toMatchObject({ payment_status: "refund_pending" });
    await work();
    expect(await statusOf(twin.apiKey, reference)).toBe("refunded");
    expect(stripeTest.payments(twin.account)).toMatchObject([{ refunded: 1269 }]);
  });
});

test("overdue payments in test mode raise no alert, and their calls are not measured", async () => {
  const twin = await testMode.connect();
  const operator = await service.addOperator("viewer");
  await bookCheckout(testMode, twin);
  await stripeTest.goAway();
  for (let failures = 0; failures < 8; failures++) {
    clock.ms += HOUR_MS;
    await work();
  }
  const { rows } = await sql.query("select failures from provider_payment where workspace_id = $1", [twin.id]);
  expect(rows[0].failures).toBeGreaterThanOrEqual(8);
  expect((await data(service.as(operator.key).getHealth())).payments).toEqual({
    overdue_payments: 0,
    overdue_notices: 0,
    overdue_accounts: 0,
    payments: [],
  });
  const metrics = (await service.request("/metrics")).text;
  expect(metrics).toMatch(/^shipments_provider_call_seconds_count\{outcome="unanswered"\} 0$/m);
  await stripeTest.comeBack();
});
