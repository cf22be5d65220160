import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { PaymentConnectionState } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { ANY_TIME, BOOKING } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService } from "../../support/service.ts";
import {
  bookCheckout,
  connectStripe,
  getShipment,
  RETURN_URLS,
  startStripeService,
  stripeSettings,
  untilShipment,
} from "../../support/stripe-service.ts";

const key = randomBytes(32);
const logged: string[] = [];
const setup = await startStripeService({
  secretsKeys: [key],
  logged: (line) => logged.push(JSON.stringify(line)),
});
const { service, stripe } = setup;
const sql = await connectTo(service.databaseUrl);

const PATH = "/v1/payment_connection";
const BEGIN = { payment_provider: "stripe", ...RETURN_URLS };
const SECRET = "whsec_own";

const begin = (apiKey: string, body: object = BEGIN) => service.request(PATH, { apiKey, body });
const get = async (apiKey: string) => (await service.request(PATH, { apiKey })).body.data;
const check = (apiKey: string) => service.request(`${PATH}/check`, { apiKey, body: {} });
const disconnect = (apiKey: string) => service.request(PATH, { apiKey, method: "DELETE" });
const blockers = async (apiKey: string) =>
  (await service.request("/v1/workspace", { apiKey })).body.data.booking_blockers;
const book = (apiKey: string) => service.request("/v1/shipments", { apiKey, body: BOOKING });
const setKey = (apiKey: string, restrictedKey: string, webhookSecret = SECRET) =>
  service.request(`${PATH}/key`, {
    apiKey,
    method: "PUT",
    body: {
      payment_provider: "stripe",
      restricted_key: restrictedKey,
      webhook_secret: webhookSecret,
    },
  });

const NONE = {
  provider: null,
  state: "none",
  account: null,
  live: null,
  own_key: false,
  missing: [],
  connected_at: null,
  checked_at: null,
};
const NOT_READY =
  "The payment provider takes no payments for the workspace now; look at its connection.";

test("an account is onboarded by a link, and blocks bookings until it may charge", async () => {
  const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  expect(await get(apiKey)).toEqual(NONE);
  const begun = await begin(apiKey);
  const { account } = begun.body.data;
  expect(begun.body).toEqual({
    data: {
      provider: "stripe",
      state: "onboarding",
      account: expect.stringMatching(/^acct_/),
      live: true,
      own_key: false,
      missing: expect.arrayContaining(["external_account"]),
      connected_at: ANY_TIME,
      checked_at: ANY_TIME,
    },
    onboarding_url: expect.stringMatching(/^https:\/\/connect\.stripe\.com\//),
    onboarding_expires_at: ANY_TIME,
  });
  expect(await blockers(apiKey)).toEqual(["payment_provider"]);
  const refused = await book(apiKey);
  expect({ status: refused.status, body: refused.body }).toEqual({
    status: 422,
    body: { message: NOT_READY, errors: { payment_provider: [NOT_READY] } },
  });
  // Coming back from the page proves nothing.
  expect((await check(apiKey)).body.data).toMatchObject({ state: "onboarding" });
  stripe.completeOnboarding(account);
  const grpc = service.grpcClient(apiKey, PaymentConnectionService);
  expect(await grpc.checkPaymentConnection({})).toMatchObject({
    data: { state: PaymentConnectionState.READY, missing: [] },
  });
  expect(await blockers(apiKey)).toEqual([]);
  expect((await book(apiKey)).status).toBe(201);
  expect((await begin(apiKey)).body.data.account).toBe(account);
});

test("a repeated begin makes one account, and its answer is the same under an idempotency key", async () => {
  const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  stripe.fault("POST /v1/account_links", "failed");
  const headers = { "idempotency-key": "begin" };
  const ask = () => service.request(PATH, { apiKey, body: BEGIN, headers });
  expect((await ask()).status).toBe(503);
  const first = await ask();
  expect(first.status, first.text).toBe(200);
  expect((await ask()).text).toBe(first.text);
  expect((await begin(apiKey)).body.data.account).toBe(first.body.data.account);
});

/** The keys under which accounts were asked for, from a moment on. */
function keysOfAccounts() {
  const { length } = stripe.taken;
  return () =>
    stripe.taken
      .slice(length)
      .filter(({ line }) => line === "POST /v1/accounts")
      .map(({ idempotencyKey }) => idempotencyKey);
}

test("an account that Stripe has failed to make is asked for under another key", async () => {
  const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  const keys = keysOfAccounts();
  stripe.fault("POST /v1/accounts", "failed");
  expect((await begin(apiKey)).status).toBe(503);
  const made = await begin(apiKey);
  expect(made.status, made.text).toBe(200);
  const [first, again, next] = keys();
  expect(again).toBe(first);
  expect(next).not.toBe(first);
  stripe.deauthorise(made.body.data.account);
  expect((await begin(apiKey)).status).toBe(200);
});

test("an account of which it is not known whether it was made is asked for under the same key", async () => {
  const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  const keys = keysOfAccounts();
  stripe.fault("POST /v1/accounts", "cut");
  expect((await begin(apiKey)).status).toBe(503);
  const made = await begin(apiKey);
  expect(made.status, made.text).toBe(200);
  const [first, again] = keys();
  expect(keys()).toEqual([first, first]);
  expect(again).toBe(first);
});

test("installations that share the platform's account have accounts of their own", async () => {
  const one = await startStripeService();
  const other = await startService(stripeSettings(one.stripe));
  const [ownSql, otherSql] = await Promise.all(
    [one.service, other].map(({ databaseUrl }) => connectTo(databaseUrl)),
  );
  // Databases of tests are copies of one.
  await otherSql!.query("update installation set id = 'other'");
  const { rows } = await ownSql!.query("select id from installation");
  const made = [];
  for (const { addWorkspace, request } of [one.service, other]) {
    const { id, apiKey } = await addWorkspace({ paymentProvider: undefined });
    const begun = await request(PATH, { apiKey, body: BEGIN });
    const { account } = begun.body.data;
    made.push({ id, account, metadata: one.stripe.books(account).account.metadata });
  }
  const [own, others] = made;
  expect(others!.id).toBe(own!.id);
  expect(others!.account).not.toBe(own!.account);
  expect(made.map(({ metadata }) => metadata)).toEqual([
    { installation: rows[0].id, workspace: String(own!.id) },
    { installation: "other", workspace: String(own!.id) },
  ]);
});

test("notices tell that an account is restricted, works again, and was taken away", async () => {
  const { apiKey, account } = await setup.connect();
  const until = (state: string) =>
    eventually(`the state ${state}`, async () => {
      await stripe.deliverNotices();
      return (await get(apiKey)).state === state;
    });
  stripe.restrictAccount(account);
  await until("restricted");
  expect(await get(apiKey)).toMatchObject({
    missing: expect.arrayContaining([expect.any(String)]),
  });
  expect(await blockers(apiKey)).toEqual(["payment_provider"]);
  expect((await book(apiKey)).body.message).toBe(NOT_READY);
  stripe.completeOnboarding(account);
  await until("ready");
  stripe.deauthorise(account);
  await until("revoked");
  expect((await book(apiKey)).body.message).toBe(NOT_READY);
  const again = await begin(apiKey);
  expect(again.body.data).toMatchObject({ state: "onboarding" });
});

test("without a notice, an account is read again by and by", async () => {
  const { apiKey, account } = await setup.connect();
  stripe.restrictAccount(account);
  stripe.dropNotices();
  setup.clock.ms += 61 * 60_000;
  await eventually(
    "the account to be read",
    async () => (await get(apiKey)).state === "restricted",
  );
});

test("a workspace's own key is kept sealed, shown nowhere, and takes payments", async () => {
  const workspace = await service.addWorkspace({ paymentProvider: undefined });
  const { apiKey, id } = workspace;
  const account = stripe.addAccount();
  const own = stripe.addKey(account);
  stripe.addWebhook({ url: `${service.httpUrl}/webhooks/stripe/${id}`, secret: SECRET, account });
  const set = await setKey(apiKey, own);
  expect(set.body).toEqual({
    data: {
      provider: "stripe",
      state: "ready",
      account,
      live: true,
      own_key: true,
      missing: [],
      connected_at: ANY_TIME,
      checked_at: ANY_TIME,
    },
  });
  const { reference, session } = await bookCheckout(setup, { ...workspace, account });
  stripe.dropNotices(({ endpoint }) => endpoint.secret !== SECRET);
  stripe.pay(session);
  expect(new Set(await stripe.deliverNotices())).toEqual(new Set([200]));
  await untilShipment(service, apiKey, reference, { payment_status: "paid" });
  const operator = await service.addOperator();
  const audit = await service.request("/admin/v1/audit_entries", { apiKey: operator.key });
  expect(audit.body.data[0]).toMatchObject({
    action: "SetPaymentKey",
    subject: `workspace/${id}`,
  });
  const { rows } = await sql.query("select * from payment_connection where workspace_id = $1", [
    id,
  ]);
  const shown = [audit.text, set.text, JSON.stringify(await get(apiKey)), JSON.stringify(rows)];
  for (const text of [...shown, ...logged]) {
    expect(text).not.toContain(own);
    expect(text).not.toContain(SECRET);
  }
});

test("a key is kept under the first of the keys that seal, and opens by the others", async () => {
  const { apiKey, id } = await service.addWorkspace({ paymentProvider: undefined });
  await setKey(apiKey, stripe.addKey(stripe.addAccount()));
  const sealed = async () =>
    (
      await sql.query(
        "select own_key, notice_secrets from payment_connection where workspace_id = $1",
        [id],
      )
    ).rows[0];
  const before = await sealed();
  const replica = await startReplica(service.databaseUrl, {
    secretsKeys: [randomBytes(32), key],
    stripe: { apiUrl: stripe.url, platforms: {} },
  });
  await eventually("the key to be sealed anew", async () => {
    const { own_key, notice_secrets } = await sealed();
    return own_key !== before.own_key && notice_secrets !== before.notice_secrets;
  });
  const checked = await replica.request(`${PATH}/check`, { apiKey, body: {} });
  expect(checked.body.data).toMatchObject({ state: "ready" });
  // What the file started has the first key alone.
  expect((await check(apiKey)).body.errors).toHaveProperty("payment_provider");
});

test("a key that Stripe does not know is refused, and none is kept without a key to seal by", async () => {
  const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  const refused = await setKey(apiKey, "rk_live_nobody");
  const text = expect.stringMatching(/^The payment provider refuses: Invalid API Key provided/);
  expect({ status: refused.status, body: refused.body }).toEqual({
    status: 422,
    body: { message: text, errors: { payment_provider: [text] } },
  });
  expect(await get(apiKey)).toEqual(NONE);
  const replica = await startReplica(service.databaseUrl, { secretsKeys: [] });
  for (const [path, method, body] of [
    [
      "/key",
      "PUT",
      { payment_provider: "stripe", restricted_key: "rk_live_a", webhook_secret: SECRET },
    ],
    ["", "POST", BEGIN],
  ] as const) {
    const { status, body: answer } = await replica.request(`${PATH}${path}`, {
      apiKey,
      method,
      body,
    });
    expect({ status, errors: answer.errors }).toEqual({
      status: 422,
      errors: { payment_provider: [expect.any(String)] },
    });
  }
});

test("a provider is not disconnected or replaced while payments are open", async () => {
  const workspace = await setup.connect();
  const { apiKey, id } = workspace;
  const operator = await service.addOperator();
  const { reference, session } = await bookCheckout(setup, workspace);
  const text =
    "Payments or refunds of the workspace are open at the payment provider; wait for their end.";
  const path = `/admin/v1/workspaces/${id}/payment_provider`;
  const asOperator = { apiKey: operator.key };
  for (const refused of [
    await disconnect(apiKey),
    await setKey(apiKey, stripe.addKey(stripe.addAccount())),
    await service.request(path, { ...asOperator, method: "DELETE" }),
    await service.request(path, {
      ...asOperator,
      method: "PUT",
      body: { payment_provider: "manual" },
    }),
  ]) {
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 422,
      body: { message: text, errors: { payment_provider: [text] } },
    });
  }
  stripe.pay(session);
  await stripe.deliverNotices();
  await untilShipment(service, apiKey, reference, { payment_status: "paid" });
  await eventually(
    "the payment to be settled",
    async () => (await disconnect(apiKey)).status === 200,
  );
  expect(await get(apiKey)).toEqual(NONE);
  expect(await getShipment(service, apiKey, reference)).toMatchObject({ payment_status: "paid" });
});

test("operators alone end manual payments, which come back once the account in their place is disconnected", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const text = "Only operators of the platform disconnect manual payments.";
  const refused = await disconnect(apiKey);
  expect({ status: refused.status, body: refused.body }).toEqual({
    status: 403,
    body: { message: text, errors: {} },
  });
  const manual = await get(apiKey);
  expect(manual).toMatchObject({ provider: "manual", state: "ready" });
  await connectStripe(service, stripe, apiKey);
  // Another account takes the place of the first.
  expect((await setKey(apiKey, stripe.addKey(stripe.addAccount()))).status).toBe(200);
  expect((await disconnect(apiKey)).status).toBe(200);
  expect(await get(apiKey)).toEqual({ ...manual, connected_at: ANY_TIME });
  const operator = await service.addOperator();
  const path = `/admin/v1/workspaces/${id}/payment_provider`;
  await service.request(path, { apiKey: operator.key, method: "DELETE" });
  expect(await get(apiKey)).toEqual(NONE);
  expect((await disconnect(apiKey)).status).toBe(200);
});

test("connecting anew gives the account that was made first as it is now, and another once that is lost", async () => {
  const { apiKey, account } = await setup.connect();
  expect((await disconnect(apiKey)).status).toBe(200);
  const again = (await begin(apiKey)).body.data;
  expect(again).toMatchObject({ account, state: "ready", missing: [] });
  await disconnect(apiKey);
  stripe.deauthorise(account);
  const other = (await begin(apiKey)).body.data;
  expect(other).toMatchObject({ account: expect.not.stringMatching(account), state: "onboarding" });
  await disconnect(apiKey);
  expect((await begin(apiKey)).body.data.account).toBe(other.account);
});

test("a key of the platform's that has ended takes no account away", async () => {
  const other = await startStripeService();
  const { apiKey } = await other.connect();
  other.stripe.revokeKey(other.stripe.secretKey);
  const checked = await other.service.request(`${PATH}/check`, { apiKey, body: {} });
  expect(checked.status, checked.text).toBe(503);
  const { body } = await other.service.request(PATH, { apiKey });
  expect(body.data).toMatchObject({ state: "ready" });
});

test("an account that is connected another way meanwhile is not replaced while a page of it is open", async () => {
  const workspace = await service.addWorkspace({ paymentProvider: undefined });
  const { apiKey } = workspace;
  const account = stripe.addAccount();
  const making = stripe.fault("POST /v1/accounts", "held");
  const beginning = begin(apiKey);
  await making.met;
  expect((await setKey(apiKey, stripe.addKey(account))).status).toBe(200);
  await bookCheckout(setup, { ...workspace, account });
  making.release();
  const { status, body } = await beginning;
  const text =
    "Payments or refunds of the workspace are open at the payment provider; wait for their end.";
  expect({ status, body }).toEqual({
    status: 422,
    body: { message: text, errors: { payment_provider: [text] } },
  });
  expect(await get(apiKey)).toMatchObject({ account, own_key: true });
});

test.for(["http://shop.example.org", "javascript:alert(1)", "shop"])(
  "nobody is sent to %s",
  async (address) => {
    const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
    const { status, body } = await begin(apiKey, { ...BEGIN, return_url: address });
    const text = "return_url must be an address such as https://example.org/done.";
    expect({ status, body }).toEqual({
      status: 422,
      body: { message: text, errors: { return_url: [text] } },
    });
  },
);

afterAll(() => expect(logged.join("\n")).not.toContain(stripe.secretKey));
