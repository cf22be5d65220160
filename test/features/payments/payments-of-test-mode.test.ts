import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";
import { purgeTestData } from "../../../src/features/test-mode/delete-test-data.ts";
import { ANY_TIME, book, BOOKING, PAYMENT, takeStep } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica } from "../../support/service.ts";
import type { LogLine } from "../../support/service-process.ts";
import {
  askCheckout,
  bookCheckout,
  connectStripe,
  type ConnectedWorkspace,
  eventTypes,
  getShipment,
  PLATFORM_SECRET,
  RETURN_URLS,
  sessionOf,
  startStripeModes,
  stripeSettings,
  TEST_PLATFORM_SECRET,
  untilShipment,
} from "../../support/stripe-service.ts";

const logged: LogLine[] = [];
const setup = await startStripeModes({ logged: (line) => logged.push(line) });
const { service, stripe, stripeTest, clock } = setup;
const sql = await connectTo(service.databaseUrl);

/** The service as the twins of its workspaces see it. */
const testMode = { ...setup, stripe: stripeTest };

const PATH = "/v1/payment_connection";
const NOTICES = "/webhooks/stripe";
const BEGIN = { payment_provider: "stripe", ...RETURN_URLS };
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

const ask = async (apiKey: string, path: string, body?: object, method?: string) => {
  const options = { apiKey, ...(body && { body }), ...(method && { method }) };
  const { status, body: answer, code } = await service.request(path, options);
  return { status, body: answer, code };
};
const connection = async (apiKey: string) => (await ask(apiKey, PATH)).body.data;
const disconnect = (apiKey: string) => ask(apiKey, PATH, undefined, "DELETE");
const setKey = (apiKey: string, restricted_key: string, webhook_secret = "whsec_own") =>
  ask(apiKey, `${PATH}/key`, { payment_provider: "stripe", restricted_key, webhook_secret }, "PUT");
const step = (apiKey: string, reference: string, name: string) =>
  ask(apiKey, `/v1/test/shipments/${reference}/steps`, { step: name });
const deleteData = (apiKey: string) => ask(apiKey, "/v1/test/data", undefined, "DELETE");

/** A workspace that is connected in live mode, and its twin in test mode, by accounts of the platform's. */
async function connectBoth(): Promise<{
  readonly live: ConnectedWorkspace;
  readonly twin: ConnectedWorkspace;
}> {
  const live = await service.addWorkspace({ paymentProvider: undefined });
  const account = await connectStripe(service, stripe, live.apiKey);
  const twin = await connectTwin(live.twin);
  stripe.dropNotices();
  return { live: { ...live, account }, twin };
}

async function connectTwin(twin: { readonly apiKey: string; readonly id: number }) {
  const account = await connectStripe(service, stripeTest, twin.apiKey);
  stripeTest.dropNotices();
  return { ...twin, account };
}

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
  test("to what moves no money, until it is connected to Stripe's test mode, and after that again", async () => {
    const { apiKey, twin } = await service.addWorkspace({ paymentProvider: undefined });
    expect(await connection(twin.apiKey)).toEqual(ALWAYS_CONNECTED);
    expect((await disconnect(twin.apiKey)).status).toBe(200);
    expect(await connection(twin.apiKey)).toEqual(ALWAYS_CONNECTED);
    const before = await book(service, twin.apiKey);

    const begun = await ask(twin.apiKey, PATH, BEGIN);
    const { account } = begun.body.data;
    expect(begun.body.data).toMatchObject({ provider: "stripe", state: "onboarding", live: false });
    expect(stripeTest.books(account).account.metadata).toEqual({
      installation: expect.any(String),
      workspace: String(twin.id),
    });
    expect(() => stripe.books(account)).toThrow("there is no account");
    // As in live mode: bookings wait until it may charge.
    expect((await ask(twin.apiKey, "/v1/shipments", BOOKING)).code).toBe(
      "PAYMENT_PROVIDER_NOT_READY",
    );
    stripeTest.completeOnboarding(account);
    const checked = await ask(twin.apiKey, `${PATH}/check`, {});
    expect(checked.body.data).toEqual({
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
    await eventually(
      "the page to be ended",
      async () => (await disconnect(twin.apiKey)).status === 200,
    );
    expect(await connection(twin.apiKey)).toEqual(ALWAYS_CONNECTED);
    // Its word is taken again for what was booked before and after.
    for (const { reference } of [before, await book(service, twin.apiKey)]) {
      const paid = await takeStep(service, twin.apiKey, reference, "pay");
      expect(paid.body.payment).toMatchObject({ provider: "test", ...PAYMENT });
    }
  });

  test("by a test key of its own, and its workspace by a live key of the same account", async () => {
    const { apiKey, twin } = await service.addWorkspace({ paymentProvider: undefined });
    const account = stripe.addAccount();
    stripeTest.addAccount({}, account);
    const keys = { live: stripe.addKey(account), test: stripeTest.addKey(account) };
    const refused = (text: string) => ({
      status: 422,
      code: "FIELD_INVALID",
      body: errorBody(`restricted_key ${text}`, "restricted_key"),
    });
    expect(await setKey(apiKey, keys.test)).toEqual(
      refused(
        "must be a live key, which begins with rk_live_ or sk_live_; a test key is for the workspace's test mode.",
      ),
    );
    expect(await setKey(twin.apiKey, keys.live)).toEqual(
      refused(
        "must be a test key, which begins with rk_test_ or sk_test_; a live key is for the workspace itself.",
      ),
    );
    expect(await connection(twin.apiKey)).toEqual(ALWAYS_CONNECTED);
    expect((await setKey(apiKey, keys.live)).body.data).toMatchObject({ account, live: true });
    expect((await setKey(twin.apiKey, keys.test)).body.data).toMatchObject({
      account,
      live: false,
      own_key: true,
    });
  });

  test("through the platform only where that has an account in test mode", async () => {
    const { apiKey, twin } = await service.addWorkspace({ paymentProvider: undefined });
    const replica = await startReplica(service.databaseUrl, stripeSettings(stripe));
    const begin = async (key: string) => {
      const { status, body, code } = await replica.request(PATH, { apiKey: key, body: BEGIN });
      return { status, body, code };
    };
    const text =
      "The platform has no account in Stripe's test mode; set a test key of the workspace's own.";
    expect(await begin(twin.apiKey)).toEqual({
      status: 422,
      code: "PAYMENT_PROVIDER_NOT_CONFIGURED",
      body: errorBody(text, "payment_provider"),
    });
    expect((await begin(apiKey)).status).toBe(200);
  });
});

describe("money of a twin", () => {
  test("is paid, disputed and refunded in Stripe's test mode alone", async () => {
    const { live, twin } = await connectBoth();
    const before = stripe.taken.length;
    const { reference, session } = await bookCheckout(testMode, twin);
    stripeTest.pay(session);
    expect(new Set(await stripeTest.deliverNotices())).toEqual(new Set([200]));
    await untilShipment(service, twin.apiKey, reference, { payment_status: "paid" });
    const { rows } = await sql.query("select provider from payment where shipment_reference = $1", [
      reference,
    ]);
    expect(rows).toEqual([{ provider: "stripe" }]);
    stripeTest.closeDispute(stripeTest.openDispute(session), "won");
    await stripeTest.deliverNotices();
    await untilShipment(service, twin.apiKey, reference, { payment_details: { dispute: "won" } });
    await takeStep(service, twin.apiKey, reference, "cancel");
    await untilShipment(service, twin.apiKey, reference, { payment_status: "refunded" });
    const events = await ask(twin.apiKey, `/v1/shipments/${reference}/events`);
    expect(new Set(events.body.data.map((event: { test: boolean }) => event.test))).toEqual(
      new Set([true]),
    );
    expect(stripeTest.payments(twin.account)).toMatchObject([{ charges: 1, refunded: 1269 }]);
    expect(stripe.payments(live.account)).toEqual([]);
    expect(stripe.taken.slice(before)).toEqual([]);
  });

  test("is dated by the clock of test mode, while its page goes by the real time", async () => {
    const { twin } = await connectBoth();
    const time = new Date(clock.ms + 400 * DAY_MS).toISOString();
    await ask(twin.apiKey, "/v1/test/clock", { time });
    const { reference, session } = await bookCheckout(testMode, twin);
    const { payment_details } = await getShipment(service, twin.apiKey, reference);
    const expires = Date.parse(payment_details.checkout_expires_at);
    expect(expires - clock.ms).toBeLessThan(DAY_MS);
    stripeTest.pay(session);
    await stripeTest.deliverNotices();
    await untilShipment(service, twin.apiKey, reference, { payment_status: "paid" });
    const { body } = await ask(twin.apiKey, `/v1/shipments/${reference}/events`);
    const paid = body.data.find(({ type }: { type: string }) => type === "shipment.paid");
    expect(paid.timestamp).toBe(time);
  });

  test("of which no notice came is found in the list of its mode", async () => {
    const { live, twin } = await connectBoth();
    const paid = [];
    for (const [mode, workspace] of [
      [setup, live],
      [testMode, twin],
    ] as const) {
      const { reference, session } = await bookCheckout(mode, workspace);
      mode.stripe.pay(session);
      await takeStep(service, workspace.apiKey, reference, "pay");
      paid.push({ mode, workspace, reference, session });
    }
    for (const { mode, session } of paid) mode.stripe.refundByHand(session, 269);
    for (const { mode } of paid) mode.stripe.dropNotices();
    clock.ms += HOUR_MS + 60_000;
    for (const { workspace, reference } of paid) {
      const payment_details = { refunded_amount: 2.69 };
      await untilShipment(service, workspace.apiKey, reference, { payment_details });
    }
  });
});

describe("a notice of one mode", () => {
  let events = 0;

  /** Sends a notice of a payment; says what came of it, and how it is kept. */
  async function send(
    account: string | undefined,
    fields: { readonly livemode: boolean; readonly shipment: string },
    { secret, path = NOTICES }: { readonly secret: string; readonly path?: string },
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
    return { status: response.status, kept: rows, id };
  }

  /** How often each of the shipments was to be looked at. */
  const wakesOf = async (references: readonly string[]): Promise<number[]> => {
    const { rows } = await sql.query(
      `select wakes from provider_payment
       where shipment_reference = any($1) order by array_position($1, shipment_reference)`,
      [references],
    );
    return rows.map(({ wakes }) => wakes);
  };
  const untilHandedOn = (id: string) =>
    eventually("the notice to be handed on", async () => {
      const { rows } = await sql.query(
        `select 1 from payment_notice where id = $1 and attempts = 1
           and (due_at is null or due_at = received_at + interval '5 seconds')`,
        [id],
      );
      return rows.length > 0;
    });

  test("leads to nothing in the other, though Stripe names the account the same in both", async () => {
    const workspace = await service.addWorkspace({ paymentProvider: undefined });
    const account = stripe.addAccount();
    stripeTest.addAccount({}, account);
    await setKey(workspace.apiKey, stripe.addKey(account), "whsec_live");
    await setKey(workspace.twin.apiKey, stripeTest.addKey(account), "whsec_test");
    const live = await bookCheckout(setup, { ...workspace, account });
    const test = await bookCheckout(testMode, { ...workspace.twin, account });
    const both = [live.reference, test.reference];
    const before = await wakesOf(both);
    const platform = { live: PLATFORM_SECRET, test: TEST_PLATFORM_SECRET };
    const paths = { live: `${NOTICES}/${workspace.id}`, test: `${NOTICES}/${workspace.twin.id}` };
    const own = {
      live: { secret: "whsec_live", path: paths.live },
      test: { secret: "whsec_test", path: paths.test },
    };

    // By the other mode's secret, or at the other's address, whatever they name.
    for (const shipment of both) {
      for (const mode of ["live", "test"] as const) {
        const livemode = mode !== "live";
        const secret = platform[mode];
        expect(await send(account, { livemode, shipment }, { secret })).toMatchObject({
          status: 200,
          kept: [],
        });
        expect(await send(undefined, { livemode, shipment }, own[mode])).toMatchObject({
          status: 200,
          kept: [],
        });
        const elsewhere = { secret: own[mode].secret, path: paths[livemode ? "live" : "test"] };
        expect(await send(undefined, { livemode: !livemode, shipment }, elsewhere)).toMatchObject({
          status: 400,
          kept: [],
        });
      }
    }
    expect(await wakesOf(both)).toEqual(before);

    // By its own: what it names in the other mode is nothing that it knows.
    for (const [mode, theirs] of [
      ["live", test],
      ["test", live],
    ] as const) {
      const livemode = mode === "live";
      const named = { livemode, shipment: theirs.reference };
      for (const told of [
        await send(account, named, { secret: platform[mode] }),
        await send(undefined, named, own[mode]),
      ]) {
        expect(told).toMatchObject({ status: 200, kept: [{ live: livemode }] });
        await untilHandedOn(told.id);
      }
    }
    expect(await wakesOf(both)).toEqual(before);

    const told = await send(
      account,
      { livemode: false, shipment: test.reference },
      { secret: TEST_PLATFORM_SECRET },
    );
    await untilHandedOn(told.id);
    expect(await wakesOf(both)).toEqual([before[0], before[1]! + 1]);
  });
});

describe("what a twin has of Stripe is deleted with its test data", () => {
  const tables = ["provider_payment", "payment", "shipment"];
  const rowsOf = async ({ id, account }: ConnectedWorkspace) => {
    const counts = tables.map(
      (table) => `(select count(*)::int from ${table} where workspace_id = $1)`,
    );
    const { rows } = await sql.query(
      `select array[${counts.join(", ")}, (select count(*)::int from payment_notice where account = $2)] as rows`,
      [id, account],
    );
    return rows[0].rows as number[];
  };

  /** Shipments whose pages are open and ended, and whose payments are paid, refunded, and open at Stripe. */
  async function fill(mode: typeof testMode, workspace: ConnectedWorkspace) {
    const [open, paid, pending, disputed, refunded] = await Promise.all(
      Array.from({ length: 5 }, () => bookCheckout(mode, workspace)),
    );
    for (const { session } of [paid!, pending!, disputed!, refunded!]) mode.stripe.pay(session);
    mode.stripe.openDispute(disputed!.session);
    await mode.stripe.deliverNotices();
    for (const { reference } of [paid!, pending!, disputed!, refunded!]) {
      await untilShipment(service, workspace.apiKey, reference, { payment_status: "paid" });
    }
    await takeStep(service, workspace.apiKey, refunded!.reference, "cancel");
    const done = { payment_status: "refunded" };
    await untilShipment(service, workspace.apiKey, refunded!.reference, done);
    mode.stripe.refundsBecome(workspace.account, "pending");
    await takeStep(service, workspace.apiKey, pending!.reference, "cancel");
    const { stripe: at } = mode;
    await eventually(
      "the refund to be asked for",
      () => at.payments(workspace.account).reduce((sum, { refunds }) => sum + refunds, 0) === 2,
    );
    await at.deliverNotices();
    return open!;
  }
  /** Waits until nothing that its account was told of is to be looked at, and it is not being checked. */
  const untilHeard = async (account: string) => {
    await eventually("its notices to be handed on, or given up", async () => {
      clock.ms += 5 * 60_000;
      const { rows } = await sql.query(
        "select 1 from payment_notice where account = $1 and due_at is not null",
        [account],
      );
      return rows.length === 0;
    });
    // A check in flight would keep what it has listed after a deletion. It has claimed two minutes.
    await eventually("its checks to end", async () => {
      const { rows } = await sql.query(
        "select 1 from payment_connection where account = $1 and check_at > $2",
        [account, new Date(clock.ms + 2 * 60_000)],
      );
      return rows.length === 1;
    });
  };

  test("at once, and what Stripe tells of it later finds nothing, and is no work", async () => {
    const { live, twin } = await connectBoth();
    const open = await fill(testMode, twin);
    await bookCheckout(setup, live);
    await untilHeard(twin.account);
    const ofLive = await rowsOf(live);
    logged.length = 0;
    expect(await deleteData(twin.apiKey)).toMatchObject({ status: 200, body: { complete: true } });
    expect(await rowsOf(twin)).toEqual([0, 0, 0, 0]);
    expect(await rowsOf(live)).toEqual(ofLive);
    expect(await connection(twin.apiKey)).toMatchObject({ provider: "stripe", state: "ready" });

    // The page is left to end by itself: until then it can be paid.
    stripeTest.pay(open.session);
    expect(new Set(await stripeTest.deliverNotices())).toEqual(new Set([200]));
    await untilHeard(twin.account);
    expect(logged.filter(({ level }) => level === "error")).toEqual([]);
    const { reference, session } = await bookCheckout(testMode, twin);
    stripeTest.pay(session);
    await stripeTest.deliverNotices();
    await untilShipment(service, twin.apiKey, reference, { payment_status: "paid" });
    expect(await eventTypes(service, twin.apiKey, reference)).toContain("paid");
  });

  test("after 30 days", async () => {
    const { live, twin } = await connectBoth();
    await fill(testMode, twin);
    await bookCheckout(setup, live);
    const [, , ...ofLive] = await rowsOf(live);
    await purgeTestData(service.app.em, new Date(clock.ms + 31 * DAY_MS));
    expect((await rowsOf(twin)).slice(0, 3)).toEqual([0, 0, 0]);
    expect((await rowsOf(live)).slice(2)).toEqual(ofLive);
  });
});

describe("in a twin that is connected, a simulation", () => {
  const AT_PROVIDER =
    "The shipment has a checkout, so that its payment cannot be simulated: pay, refund or dispute it at the payment provider.";

  test("pays a shipment without a checkout, as in any twin", async () => {
    const { twin } = await connectBoth();
    const simulation = { scenario: "no_courier", step_seconds: 1 };
    const { reference } = await book(service, twin.apiKey, { simulation });
    const time = new Date(clock.ms + HOUR_MS).toISOString();
    await ask(twin.apiKey, "/v1/test/clock", { time });
    expect(await eventTypes(service, twin.apiKey, reference)).toEqual([
      "created",
      "paid",
      "awaiting_pickup",
      "cancelled",
      "refunded",
    ]);
    const { rows } = await sql.query("select provider from payment where shipment_reference = $1", [
      reference,
    ]);
    expect(rows).toEqual([{ provider: "test" }]);
    expect(stripeTest.payments(twin.account)).toEqual([]);
  });

  test("ends where the shipment has a checkout, and the payment is Stripe's to tell", async () => {
    const { twin } = await connectBoth();
    const simulation = { scenario: "deliver", step_seconds: 1 };
    const { reference } = await book(service, twin.apiKey, { simulation });
    expect((await askCheckout(service, twin.apiKey, reference)).status).toBe(200);
    const time = new Date(clock.ms + HOUR_MS).toISOString();
    await ask(twin.apiKey, "/v1/test/clock", { time });
    expect(await getShipment(service, twin.apiKey, reference)).toMatchObject({
      status: "pending",
      payment_status: "awaiting_payment",
    });
    const left = await sql.query("select 1 from simulation where shipment_reference = $1", [
      reference,
    ]);
    expect(left.rows).toEqual([]);
    const refused = {
      status: 422,
      code: "SHIPMENT_STATE",
      body: errorBody(AT_PROVIDER, "shipment"),
    };
    for (const name of ["pay", "decline_payment", "open_dispute"]) {
      expect(await step(twin.apiKey, reference, name)).toEqual(refused);
    }
    stripeTest.pay(sessionOf(stripeTest, twin.account, reference));
    await stripeTest.deliverNotices();
    await untilShipment(service, twin.apiKey, reference, { payment_status: "paid" });
    // The courier is nobody's at Stripe.
    for (const [name, status] of [
      ["pick_up", "in_transit"],
      ["deliver", "delivered"],
    ] as const) {
      expect((await step(twin.apiKey, reference, name)).body.data).toMatchObject({ status });
    }
  });

  test("cancels a shipment as a sender does, which refunds it at Stripe", async () => {
    const { twin } = await connectBoth();
    const { reference, session } = await bookCheckout(testMode, twin);
    stripeTest.pay(session);
    await takeStep(service, twin.apiKey, reference, "pay");
    expect((await step(twin.apiKey, reference, "cancel")).body.data).toMatchObject({
      payment_status: "refund_pending",
    });
    await untilShipment(service, twin.apiKey, reference, { payment_status: "refunded" });
    expect(stripeTest.payments(twin.account)).toMatchObject([{ refunded: 1269 }]);
  });
});

test("work of test mode that is not done is nobody's to be woken for, nor are its calls measured", async () => {
  const { twin } = await connectBoth();
  const operator = await service.addOperator("viewer");
  await bookCheckout(testMode, twin);
  await stripeTest.goAway();
  await eventually("its payment to fail", async () => {
    clock.ms += 60_000;
    const { rows } = await sql.query(
      "select failures from provider_payment where workspace_id = $1",
      [twin.id],
    );
    return rows[0].failures >= 8;
  });
  await eventually("nothing else to be overdue", async () => {
    const { body } = await ask(operator.key, "/admin/v1/health");
    const { overdue_payments, overdue_notices, overdue_accounts, payments } = body.data.payments;
    return overdue_payments + overdue_notices + overdue_accounts + payments.length === 0;
  });
  const metrics = (await service.request("/metrics")).text;
  expect(metrics).toMatch(/^shipments_provider_call_seconds_count\{outcome="unanswered"\} 0$/m);
  await stripeTest.comeBack();
});
