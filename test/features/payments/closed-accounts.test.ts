import { expect, test } from "vitest";
import { NO_PAYMENT_DETAILS } from "../../../src/domain/shipment/payment-details.ts";
import { ANY_TIME, BOOKING, PAYMENT, type ShipmentJson, takeStep } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import {
  askCheckout,
  bookCheckout,
  type ConnectedWorkspace,
  connectStripe,
  eventTypes,
  getShipment,
  RETURN_URLS,
  sessionOf,
  startStripeService,
  untilShipment,
} from "../../support/stripe-service.ts";

const HOUR_MS = 60 * 60_000;
const NOT_CONNECTED = "The account is not connected any more.";

const setup = await startStripeService();
const { service, stripe, clock } = setup;
const sql = await connectTo(service.databaseUrl);

const PATH = "/v1/payment_connection";
const BEGIN = { payment_provider: "stripe", ...RETURN_URLS };
const disconnect = (apiKey: string) => service.request(PATH, { apiKey, method: "DELETE" });
const stateOf = async (apiKey: string) => (await service.request(PATH, { apiKey })).body.data.state;

const accept = (apiKey: string, reference: string) =>
  service.request(`/v1/shipments/${reference}/payments/accept`, { apiKey, body: {} });
const failedOf = async (apiKey: string): Promise<string[]> =>
  (await service.request("/v1/shipments?failed=true", { apiKey })).body.data.map(
    (shipment: ShipmentJson) => shipment["reference"],
  );

/** Whether the payments of a workspace are left alone. */
const untilLeft = (workspace: number) =>
  eventually("the payments to be left", async () => {
    const { rows } = await sql.query(
      "select 1 from provider_payment where workspace_id = $1 and (due_at is not null or worker is not null)",
      [workspace],
    );
    return rows.length === 0;
  });

/** A workspace whose account was taken away while a page was open. */
async function revoked() {
  const workspace = await setup.connect();
  const booked = await bookCheckout(setup, workspace);
  stripe.deauthorise(workspace.account);
  await stripe.deliverNotices();
  const { apiKey } = workspace;
  await eventually("the account to be revoked", async () => (await stateOf(apiKey)) === "revoked");
  return { ...workspace, ...booked };
}

/** A workspace that disconnected once nothing was open, with one shipment paid and one not. */
async function disconnected() {
  const workspace = await setup.connect();
  const { apiKey } = workspace;
  const unpaid = await bookCheckout(setup, workspace);
  const paid = await bookCheckout(setup, workspace);
  stripe.pay(paid.session);
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, paid.reference, { payment_status: "paid" });
  stripe.books(workspace.account).expireSession(unpaid.session);
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, unpaid.reference, {
    payment_details: { checkout_url: null },
  });
  await untilLeft(workspace.id);
  expect((await disconnect(apiKey)).status).toBe(200);
  return { ...workspace, unpaid: unpaid.reference, paid: paid.reference };
}

test("an account that was taken away is told with what it leaves, and is disconnected though a page was open", async () => {
  const { apiKey, id, reference } = await revoked();
  clock.ms += HOUR_MS;
  const { payment_details } = await untilShipment(service, apiKey, reference, {
    payment_details: { checkout_url: null },
  });
  expect(payment_details.error).toMatch(/does not have access to account/);
  await untilLeft(id);
  expect(await eventTypes(service, apiKey, reference)).toEqual([
    "created",
    "checkout_opened",
    "payment_failed",
  ]);
  expect((await disconnect(apiKey)).status).toBe(200);
  expect(await stateOf(apiKey)).toBe("none");
});

test.each([
  ["by another account", (apiKey: string) => connectStripe(service, stripe, apiKey)],
  [
    "by an operator",
    async (_: string, id: number) => {
      const { key } = await service.addOperator();
      const path = `/admin/v1/workspaces/${id}/payment_provider`;
      const body = { payment_provider: "manual" };
      const connected = await service.request(path, { apiKey: key, method: "PUT", body });
      expect(connected.status, connected.text).toBe(200);
    },
  ],
])("an account that was taken away is replaced %s, and bookings go on", async (_, replace) => {
  const { apiKey, id } = await revoked();
  await replace(apiKey, id);
  expect((await service.request("/v1/shipments", { apiKey, body: BOOKING })).status).toBe(201);
});

test("a page of an account that was taken away is not replaced by another account's while it may be paid", async () => {
  const before = await revoked();
  const { apiKey, id, reference } = before;
  const account = await connectStripe(service, stripe, apiKey);
  clock.ms += HOUR_MS;
  await untilLeft(id);
  expect(await failedOf(apiKey)).toEqual([reference]);
  const refused = await askCheckout(service, apiKey, reference);
  const text =
    "The shipment cannot be paid because it may be paid at a page of an account that is not connected any more.";
  expect({ status: refused.status, body: refused.body }).toEqual({
    status: 422,
    body: { message: text, errors: { shipment: [text] } },
  });
  clock.ms += 24 * HOUR_MS;
  const opened = await askCheckout(service, apiKey, reference);
  expect(opened.status, opened.text).toBe(200);
  const next = sessionOf(stripe, account, reference);
  stripe.startProcessing(next);
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, reference, {
    payment_details: { error: null, processing: true, uncounted: true },
  });
  // The page of the other account may have been paid too.
  expect(await failedOf(apiKey)).toEqual([reference]);
  expect((await accept(apiKey, reference)).body.data).toMatchObject({
    payment_details: { processing: true, uncounted: false },
  });
  stripe.settleProcessing(next, "succeeded");
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, reference, { payment_status: "paid" });
  expect(await failedOf(apiKey)).toEqual([]);
});

test("a shipment that is cancelled stays among what failed while a page of it may have been paid unseen", async () => {
  const { apiKey, account, id, reference, session } = await revoked();
  clock.ms += HOUR_MS;
  await untilLeft(id);
  await takeStep(service, apiKey, reference, "cancel");
  clock.ms += 24 * HOUR_MS;
  await untilLeft(id);
  expect(await failedOf(apiKey)).toEqual([reference]);
  expect((await accept(apiKey, reference)).body.data).toMatchObject({
    payment_status: "voided",
    payment_details: { error: null, uncounted: false },
  });
  expect(await failedOf(apiKey)).toEqual([]);
  // Once the account is open again, what is seen there counts all the same.
  stripe.books(account).session(session).status = "open";
  stripe.books(account).session(session).expires_at += 30 * 24 * 60 * 60;
  stripe.pay(session);
  stripe.books(account).authorised = true;
  stripe.dropNotices();
  await service.request(`${PATH}/check`, { apiKey, body: {} });
  await untilShipment(service, apiKey, reference, { payment_status: "refunded" });
  expect(await failedOf(apiKey)).toEqual([]);
});

test("the price stays while a page may be paid whose account was taken away, and another replaced it", async () => {
  const { apiKey, id, reference } = await revoked();
  await connectStripe(service, stripe, apiKey);
  clock.ms += HOUR_MS;
  await untilLeft(id);
  const reprice = () =>
    service.request(`/v1/shipments/${reference}`, {
      apiKey,
      method: "PATCH",
      body: { weight_kg: 5 },
    });
  const refused = await reprice();
  expect({ status: refused.status, message: refused.body.message }).toEqual({
    status: 422,
    message:
      "The shipment's price cannot be changed because it may be paid at a page of an account that is not connected any more.",
  });
  clock.ms += 24 * HOUR_MS;
  expect((await reprice()).status).toBe(200);
});

/** A workspace whose account was taken away while money was on its way. */
async function revokedWhileProcessing() {
  const workspace = await setup.connect();
  const { apiKey, account, id } = workspace;
  const booked = await bookCheckout(setup, workspace);
  stripe.startProcessing(booked.session);
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, booked.reference, { payment_details: { processing: true } });
  stripe.deauthorise(account);
  await stripe.deliverNotices();
  await eventually("the account to be revoked", async () => (await stateOf(apiKey)) === "revoked");
  clock.ms += HOUR_MS;
  await untilLeft(id);
  return { ...workspace, ...booked };
}

test("money on its way to an account that was taken away keeps price and page, until it is recorded by hand", async () => {
  const { apiKey, reference } = await revokedWhileProcessing();
  const account = await connectStripe(service, stripe, apiKey);
  const { payment_details } = await getShipment(service, apiKey, reference);
  expect(payment_details).toMatchObject({ processing: true, checkout_url: null, uncounted: true });
  expect(await failedOf(apiKey)).toEqual([reference]);
  expect(payment_details.error).toMatch(/does not have access to account/);
  expect((await askCheckout(service, apiKey, reference)).body.message).toBe(
    "The shipment cannot be paid because its payment is processing.",
  );
  const path = `/v1/shipments/${reference}`;
  const repriced = await service.request(path, { apiKey, method: "PATCH", body: { weight_kg: 5 } });
  expect(repriced.body.message).toBe(
    "The shipment's route and weight cannot be changed because its payment is processing.",
  );
  expect(stripe.payments(account)).toEqual([]);
  expect((await takeStep(service, apiKey, reference, "pay")).body.data).toMatchObject({
    payment_status: "paid",
    payment_details: { processing: false, error: null, uncounted: false },
  });
});

test("money that was on its way to an account that was taken away pays once the account is back", async () => {
  const { apiKey, account, session, reference } = await revokedWhileProcessing();
  stripe.settleProcessing(session, "succeeded");
  stripe.books(account).authorised = true;
  stripe.dropNotices();
  await service.request(`${PATH}/check`, { apiKey, body: {} });
  await untilShipment(service, apiKey, reference, {
    payment_status: "paid",
    payment_details: { processing: false, error: null, uncounted: false },
  });
});

/** A workspace one of whose pages took 9.00 for 12.69. */
async function uncounted() {
  const workspace = await setup.connect();
  const { apiKey, account, id } = workspace;
  const booked = await bookCheckout(setup, workspace);
  stripe.books(account).session(booked.session).amount_total = 900;
  stripe.pay(booked.session);
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, booked.reference, { payment_details: { uncounted: true } });
  await untilLeft(id);
  return { ...workspace, ...booked };
}

const TOOK = "The payment provider took 9 USD, which is not the shipment's total.";

test.each(["refunded", "accepted"])(
  "money that does not count keeps its shipment among what failed, and its account connected, until it is %s",
  async (end) => {
    const { apiKey, id, reference, session } = await uncounted();
    await takeStep(service, apiKey, reference, "cancel");
    const { payment_details } = await untilShipment(service, apiKey, reference, {
      payment_status: "voided",
    });
    expect(payment_details).toMatchObject({ error: TOOK, uncounted: true });
    await untilLeft(id);
    expect(await failedOf(apiKey)).toEqual([reference]);
    const subject = { id: reference, name: null, at: ANY_TIME, reason: TOOK };
    expect((await service.request("/v1/attention", { apiKey })).body.data).toEqual([
      { kind: "payment_uncounted", count: 1, subjects: [subject] },
    ]);
    const text =
      "Money was taken that does not count; refund it at the payment provider, or accept it, first.";
    const refused = await disconnect(apiKey);
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 422,
      body: { message: text, errors: { payment_provider: [text] } },
    });
    if (end === "refunded") stripe.refundByHand(session);
    else expect((await accept(apiKey, reference)).status).toBe(200);
    await stripe.deliverNotices();
    await untilShipment(service, apiKey, reference, { payment_details: { uncounted: false } });
    await untilLeft(id);
    expect(await failedOf(apiKey)).toEqual([]);
    expect((await disconnect(apiKey)).status).toBe(200);
  },
);

test("money that was accepted stays so when it is looked at again, and another page can be paid", async () => {
  const { apiKey, id, account, reference, session } = await uncounted();
  expect((await accept(apiKey, reference)).body.data).toMatchObject({
    payment_status: "awaiting_payment",
    payment_details: { error: null, uncounted: false },
  });
  stripe.refundByHand(session, 100);
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, reference, { payment_details: { refunded_amount: 1 } });
  await untilLeft(id);
  expect(await failedOf(apiKey)).toEqual([]);
  expect((await askCheckout(service, apiKey, reference)).status).toBe(200);
  const next = sessionOf(stripe, account, reference);
  stripe.books(account).session(next).amount_total = 900;
  stripe.pay(next);
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, reference, {
    payment_details: { error: TOOK, uncounted: true },
  });
});

test("a shipment without money that does not count has none to accept", async () => {
  const { apiKey, paid } = await disconnected();
  const text = "The shipment has no money that does not count.";
  const refused = await accept(apiKey, paid);
  expect({ status: refused.status, body: refused.body }).toEqual({
    status: 422,
    body: { message: text, errors: { shipment: [text] } },
  });
});

test("money that does not count is recorded by hand once its account was taken away", async () => {
  const { apiKey, id, account, reference } = await uncounted();
  stripe.deauthorise(account);
  await stripe.deliverNotices();
  await eventually("the account to be revoked", async () => (await stateOf(apiKey)) === "revoked");
  expect((await disconnect(apiKey)).status).toBe(200);
  await takeStep(service, apiKey, reference, "pay");
  const { rows } = await sql.query(
    "select payment_details as details from shipment where workspace_id = $1",
    [id],
  );
  expect(rows[0].details).toEqual(NO_PAYMENT_DETAILS);
});

test("a shipment whose money was on its way to an account that was taken away can be cancelled", async () => {
  const { apiKey, reference } = await revokedWhileProcessing();
  const cancelled = await takeStep(service, apiKey, reference, "cancel");
  expect(cancelled.body.data).toMatchObject({ status: "cancelled", payment_status: "voided" });
});

test("once an account is disconnected, the caller's word is taken for payments of its shipments", async () => {
  const { apiKey, id, unpaid } = await disconnected();
  const recorded = await service.request(`/v1/shipments/${unpaid}/payments`, {
    apiKey,
    body: PAYMENT,
  });
  expect(recorded.body).toEqual({
    data: await getShipment(service, apiKey, unpaid),
    payment: { provider: "manual", ...PAYMENT, paid_at: ANY_TIME, refunded_at: null },
  });
  expect(recorded.body.data).toMatchObject({
    status: "awaiting_pickup",
    payment_status: "paid",
    payment_details: { error: null, checkout_url: null },
  });
  await untilLeft(id);
});

test("once an account is disconnected, the caller's word is taken for refunds of its shipments, which stay refunded", async () => {
  const { apiKey, id, paid, account } = await disconnected();
  await takeStep(service, apiKey, paid, "cancel");
  await untilShipment(service, apiKey, paid, {
    payment_status: "refund_pending",
    payment_details: { refund_error: NOT_CONNECTED },
  });
  await untilLeft(id);
  const recorded = await takeStep(service, apiKey, paid, "refund");
  expect(recorded.body).toEqual({
    data: await getShipment(service, apiKey, paid),
    payment: { provider: "stripe", ...PAYMENT, paid_at: ANY_TIME, refunded_at: ANY_TIME },
  });
  expect(recorded.body.data).toMatchObject({
    payment_status: "refunded",
    payment_details: { refund_error: null, refunded_amount: 0 },
  });
  // Nothing that is left keeps the workspace from connecting, and disconnecting again.
  const again = await service.request(PATH, { apiKey, body: BEGIN });
  expect(again.status, again.text).toBe(200);
  await untilLeft(id);
  expect((await disconnect(apiKey)).status).toBe(200);
  expect(await getShipment(service, apiKey, paid)).toMatchObject({ payment_status: "refunded" });
  expect(stripe.payments(account)).toMatchObject([{ charges: 0 }, { charges: 1, refunds: 0 }]);
});

test("what was left is looked at again once its account is open to the service again", async () => {
  const workspace = await service.addWorkspace({ paymentProvider: undefined });
  const { apiKey, id } = workspace;
  const account = stripe.addAccount();
  const setKey = async (key: string) => {
    const body = { payment_provider: "stripe", restricted_key: key, webhook_secret: "whsec_own" };
    const set = await service.request(`${PATH}/key`, { apiKey, method: "PUT", body });
    expect(set.status, set.text).toBe(200);
  };
  const key = stripe.addKey(account);
  await setKey(key);
  const connected: ConnectedWorkspace = { ...workspace, account };
  const open = await bookCheckout(setup, connected);
  const paid = await bookCheckout(setup, connected);
  stripe.pay(paid.session);
  await takeStep(service, apiKey, paid.reference, "pay");
  stripe.revokeKey(key);
  await takeStep(service, apiKey, paid.reference, "cancel");
  clock.ms += HOUR_MS;
  await untilLeft(id);
  const { payment_details } = await getShipment(service, apiKey, paid.reference);
  expect(payment_details.refund_error).toMatch(/^Invalid API Key/);
  stripe.pay(open.session);
  await setKey(stripe.addKey(account));
  for (const [reference, payment_status] of [
    [open.reference, "paid"],
    [paid.reference, "refunded"],
  ] as const) {
    await untilShipment(service, apiKey, reference, { payment_status });
  }
  expect(stripe.payments(account)).toMatchObject([
    { charges: 1, refunds: 0 },
    { charges: 1, refunds: 1, refunded: 1269 },
  ]);
});

test("what was left is looked at again though the account was closed for a moment only", async () => {
  const workspace = await setup.connect();
  const { apiKey, id, account } = workspace;
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.deauthorise(account);
  stripe.dropNotices();
  expect((await takeStep(service, apiKey, reference, "pay")).status).toBe(422);
  await untilLeft(id);
  stripe.books(account).authorised = true;
  stripe.pay(session);
  stripe.dropNotices();
  expect(await stateOf(apiKey)).toBe("ready");
  clock.ms += HOUR_MS;
  // Not at once: the account that reads as ready may refuse again.
  const dueAt = await eventually("the payment to be due", async () => {
    const select = "select due_at from provider_payment where workspace_id = $1";
    return (await sql.query(select, [id])).rows[0].due_at ?? undefined;
  });
  expect(dueAt.getTime()).toBe(clock.ms + 60_000);
  clock.ms += 60_000;
  await untilShipment(service, apiKey, reference, { payment_status: "paid" });
  await untilLeft(id);
});

test("why a page was not opened stays told, once", async () => {
  const { apiKey, account } = await setup.connect();
  const { reference } = (await service.request("/v1/shipments", { apiKey, body: BOOKING })).body
    .data;
  stripe.restrictAccount(account);
  stripe.dropNotices();
  const refused = await askCheckout(service, apiKey, reference);
  expect(refused.status).toBe(422);
  const told = (await getShipment(service, apiKey, reference))["payment_details"];
  expect(refused.body.message).toBe(`The payment provider refuses: ${told.error}`);
  expect((await takeStep(service, apiKey, reference, "pay")).status).toBe(422);
  clock.ms += HOUR_MS;
  await eventually("the account to be read", async () => (await stateOf(apiKey)) === "restricted");
  expect((await getShipment(service, apiKey, reference))["payment_details"]).toEqual(told);
  expect(await eventTypes(service, apiKey, reference)).toEqual(["created", "payment_failed"]);
});
