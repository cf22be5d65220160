import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME, BOOKING } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService } from "../../support/service.ts";
import {
  bookCheckout,
  connectStripe,
  getShipment,
  PAGE_URLS,
  RETURN_URLS,
  SEALING_KEY,
  startStripeService,
  stripeSettings,
} from "../../support/stripe-service.ts";
import { createPaymentWorker } from "./payment-worker.ts";

const logged: string[] = [];
const setup = await startStripeService({ logged: (line) => logged.push(JSON.stringify(line)) });
const { service, stripe } = setup;
const work = createPaymentWorker(setup);
const sql = await connectTo(service.databaseUrl);
const first = await service.addWorkspace({ paymentProvider: undefined });

const SECRET = "whsec_own";
const BEGIN = { payment_provider: "stripe", ...RETURN_URLS };

/** Creates a workspace without a provider. Also returns its client. */
async function unconnected() {
  const workspace = await service.addWorkspace({ paymentProvider: undefined });
  return { workspace, client: service.as(workspace.apiKey) };
}
type Client = Awaited<ReturnType<typeof unconnected>>["client"];

/** Creates a workspace with an account that can charge. */
async function connected() {
  const workspace = await setup.connect();
  return { workspace, client: service.as(workspace.apiKey) };
}

const get = (client: Client) => data(client.getPaymentConnection());
const begin = (client: Client) => client.beginPaymentConnection(BEGIN);
const setKey = (client: Client, restricted_key: string) =>
  client.setPaymentKey({ payment_provider: "stripe", restricted_key, webhook_secret: SECRET });
const blockers = async (client: Client) => (await data(client.getWorkspace())).booking_blockers;

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
const READY = {
  provider: "stripe",
  state: "ready",
  account: expect.stringMatching(/^acct_/),
  live: true,
  own_key: false,
  missing: [],
  connected_at: ANY_TIME,
  checked_at: ANY_TIME,
};
const NOT_READY = {
  payment_provider: "The payment provider does not accept payments for the workspace at present. Check its connection.",
};
const OPEN = {
  payment_provider:
    "The workspace has pending payments or refunds at the payment provider. Wait until they are complete.",
};

test("an account is onboarded through a link and blocks bookings until it can charge", async () => {
  const { client } = await unconnected();
  expect(await get(client)).toEqual(NONE);
  const begun = await begin(client);
  const missing = expect.arrayContaining(["external_account"]);
  expect(begun.body).toEqual({
    data: { ...READY, state: "onboarding", missing },
    onboarding_url: expect.stringMatching(/^https:\/\/connect\.stripe\.com\//),
    onboarding_expires_at: ANY_TIME,
  });
  expect(await blockers(client)).toEqual(["payment_provider"]);
  await expectRefused(client.createShipment(BOOKING), "PAYMENT_PROVIDER_NOT_READY", NOT_READY);
  // Returning from the page does not prove that onboarding is complete.
  expect(await data(client.checkPaymentConnection())).toMatchObject({ state: "onboarding" });
  const { account } = begun.body.data;
  stripe.completeOnboarding(account);
  expect(await data(client.checkPaymentConnection())).toEqual({ ...READY, account });
  expect(await blockers(client)).toEqual([]);
  await data(client.createShipment(BOOKING));
  expect((await begin(client)).body.data.account).toBe(account);
});

test("a repeated call creates one account, and returns the stored response for an idempotency key", async () => {
  const { client } = await unconnected();
  stripe.fault("POST /v1/account_links", "failed");
  const ask = () => client.beginPaymentConnection(BEGIN, { "idempotency-key": "begin" });
  expect((await ask()).status).toBe(503);
  const made = await ask();
  expect(made.status, made.text).toBe(200);
  expect((await ask()).text).toBe(made.text);
  expect((await begin(client)).body.data.account).toBe(made.body.data.account);
});

test.each([
  ["failed", "another key"],
  ["cut", "the same key"],
] as const)("account creation that has %s is retried with %s", async (fault, under) => {
  const { client } = await unconnected();
  const before = stripe.processed.length;
  stripe.fault("POST /v1/accounts", fault);
  expect((await begin(client)).status).toBe(503);
  await data(begin(client));
  const keys = stripe.processed
    .slice(before)
    .filter(({ line }) => line === "POST /v1/accounts")
    .map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(under === "the same key" ? 1 : 2);
});

test("installations that share a platform account create separate connected accounts", async () => {
  const other = await startService(stripeSettings(stripe));
  // Changes the installation id, because test databases are clones of the same template.
  await (await connectTo(other.databaseUrl)).query("update installation set id = 'other'");
  const others = await other.addWorkspace({ paymentProvider: undefined });
  expect(others.id).toBe(first.id);
  const { rows } = await sql.query("select id from installation");
  for (const [client, installation] of [
    [service.as(first.apiKey), rows[0].id],
    [other.as(others.apiKey), "other"],
  ] as const) {
    const { account } = await data(begin(client));
    const metadata = { installation, workspace: String(first.id) };
    expect(stripe.books(account).account.metadata).toEqual(metadata);
  }
});

test("events report that an account is restricted, works again, and was deauthorized", async () => {
  const { workspace, client } = await connected();
  const processEvents = async () => {
    await stripe.deliverEvents();
    await work();
    return get(client);
  };
  stripe.restrictAccount(workspace.account);
  expect(await processEvents()).toMatchObject({ state: "restricted", missing: [expect.any(String)] });
  expect(await blockers(client)).toEqual(["payment_provider"]);
  await expectRefused(client.createShipment(BOOKING), "PAYMENT_PROVIDER_NOT_READY", NOT_READY);
  stripe.completeOnboarding(workspace.account);
  expect(await processEvents()).toMatchObject({ state: "ready" });
  stripe.deauthorise(workspace.account);
  expect(await processEvents()).toMatchObject({ state: "revoked" });
  await expectRefused(client.createShipment(BOOKING), "PAYMENT_PROVIDER_NOT_READY", NOT_READY);
  expect(await data(begin(client))).toMatchObject({ state: "onboarding" });
});

test("accounts are polled in case an event is lost", async () => {
  const { workspace, client } = await connected();
  stripe.restrictAccount(workspace.account);
  stripe.dropEvents();
  setup.clock.ms += 61 * 60_000;
  await work();
  expect(await get(client)).toMatchObject({ state: "restricted" });
});

test("a workspace's own key is stored encrypted, never shown, and can take payments", async () => {
  const { workspace, client } = await unconnected();
  const { id, apiKey } = workspace;
  const account = stripe.addAccount();
  const own = stripe.addKey(account);
  stripe.addWebhook({ url: `${service.httpUrl}/webhooks/stripe/${id}`, secret: SECRET, account });
  const set = await setKey(client, own);
  expect(set.body).toEqual({ data: { ...READY, account, own_key: true } });
  const { reference, session } = await bookCheckout(setup, { ...workspace, account });
  stripe.dropEvents(({ endpoint }) => endpoint.secret !== SECRET);
  stripe.pay(session);
  expect(new Set(await stripe.deliverEvents())).toEqual(new Set([200]));
  await work();
  expect(await getShipment(service, apiKey, reference)).toMatchObject({ payment_status: "paid" });
  const operator = service.as((await service.addOperator()).key);
  const audit = await operator.listAuditEntries();
  expect(audit.body.data).toContainEqual(
    expect.objectContaining({ action: "SetPaymentKey", subject: `workspace/${id}` }),
  );
  const { rows } = await sql.query("select * from payment_connection where workspace_id = $1", [id]);
  const shown = [audit.text, set.text, JSON.stringify(await get(client)), JSON.stringify(rows)];
  for (const text of [...shown, ...logged]) {
    expect(text).not.toContain(own);
    expect(text).not.toContain(SECRET);
  }
});

test("keys are encrypted with the first encryption key and can be decrypted with the others", async () => {
  const { workspace, client } = await unconnected();
  await setKey(client, stripe.addKey(stripe.addAccount()));
  const sealed = async () => {
    const { rows } = await sql.query("select own_key, notice_secrets from payment_connection where workspace_id = $1", [
      workspace.id,
    ]);
    return rows[0];
  };
  const before = await sealed();
  const replica = await startReplica(service.databaseUrl, {
    secretsKeys: [randomBytes(32), SEALING_KEY],
    stripe: { apiUrl: stripe.url, platforms: {} },
  });
  await eventually("the key to be encrypted again", async () => {
    const { own_key, notice_secrets } = await sealed();
    return own_key !== before.own_key && notice_secrets !== before.notice_secrets;
  });
  const checked = replica.as(workspace.apiKey).checkPaymentConnection();
  expect(await data(checked)).toMatchObject({ state: "ready" });
  // The shared service has only the first encryption key.
  const { body } = await client.checkPaymentConnection();
  expect(body.errors).toHaveProperty("payment_provider");
});

test("rejects a key that Stripe does not know, and any key if no encryption key is configured", async () => {
  const { workspace, client } = await unconnected();
  const payment_provider = expect.stringMatching(/^The payment provider refused the request: Invalid API Key provided/);
  const { body } = await setKey(client, "rk_live_nobody");
  expect(body.errors).toEqual({ payment_provider: [payment_provider] });
  expect(await get(client)).toEqual(NONE);
  const replica = await startReplica(service.databaseUrl, { secretsKeys: [] });
  for (const call of [setKey, begin]) {
    const refused = await call(replica.as(workspace.apiKey), "rk_live_a");
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ["payment_provider"]]);
  }
});

test("a provider cannot be disconnected or replaced while payments are open", async () => {
  const { workspace, client } = await connected();
  const operator = service.as((await service.addOperator()).key);
  const { reference, session } = await bookCheckout(setup, workspace);
  const manual = { workspace: workspace.id, payment_provider: "manual" };
  await expectRefused(client.disconnectPaymentConnection(), "PAYMENTS_OPEN", OPEN);
  await expectRefused(setKey(client, stripe.addKey(stripe.addAccount())), "PAYMENTS_OPEN", OPEN);
  const { id } = workspace;
  await expectRefused(operator.disconnectPaymentProvider({ workspace: id }), "PAYMENTS_OPEN", OPEN);
  await expectRefused(operator.connectPaymentProvider(manual), "PAYMENTS_OPEN", OPEN);
  stripe.pay(session);
  await stripe.deliverEvents();
  await work();
  expect((await client.disconnectPaymentConnection()).status).toBe(200);
  expect(await get(client)).toEqual(NONE);
  expect(await getShipment(service, workspace.apiKey, reference)).toMatchObject({
    payment_status: "paid",
  });
});

test("only operators can disconnect manual payments, which return when the replacing account is disconnected", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const client = service.as(apiKey);
  const disconnect = () => client.disconnectPaymentConnection();
  await expectRefused(disconnect(), "ROLE_INSUFFICIENT", "Only operators can disconnect manual payments.");
  const manual = await get(client);
  expect(manual).toMatchObject({ provider: "manual", state: "ready" });
  await connectStripe(service, stripe, apiKey);
  // A key for another account replaces the first account.
  await data(setKey(client, stripe.addKey(stripe.addAccount())));
  expect((await disconnect()).status).toBe(200);
  expect(await get(client)).toEqual({ ...manual, connected_at: ANY_TIME });
  const operator = service.as((await service.addOperator()).key);
  expect((await operator.disconnectPaymentProvider({ workspace: id })).status).toBe(200);
  expect(await get(client)).toEqual(NONE);
  expect((await disconnect()).status).toBe(200);
});

test("reconnecting returns the previous account in its current state, or a new one if that is lost", async () => {
  const { workspace, client } = await connected();
  const { account } = workspace;
  await client.disconnectPaymentConnection();
  expect(await data(begin(client))).toMatchObject({ account, state: "ready", missing: [] });
  await client.disconnectPaymentConnection();
  stripe.deauthorise(account);
  const other = await data(begin(client));
  expect(other).toMatchObject({ account: expect.not.stringMatching(account), state: "onboarding" });
  await client.disconnectPaymentConnection();
  expect((await data(begin(client))).account).toBe(other.account);
});

test("a refund made while the account was disconnected is found once the account is connected again", async () => {
  const { workspace, client } = await connected();
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.pay(session);
  await stripe.deliverEvents();
  await work();
  await client.disconnectPaymentConnection();
  stripe.refundByHand(session, 100);
  await stripe.deliverEvents();
  // The event is dropped after its last retry, because no workspace uses the account.
  for (let hours = 1; hours <= 5; hours++) {
    await work();
    setup.clock.ms += 60 * 60_000;
  }
  await work();
  await data(begin(client));
  setup.clock.ms += 60 * 60_000;
  await work();
  const { payment_details } = await getShipment(service, workspace.apiKey, reference);
  expect(payment_details).toMatchObject({ refunded_amount: 1 });
});

test("an expired platform key does not disconnect an account", async () => {
  const { workspace, client } = await connected();
  const ended = { secretKey: "sk_live_ended", webhookSecrets: [] };
  const replica = await startReplica(service.databaseUrl, {
    secretsKeys: [SEALING_KEY],
    stripe: { apiUrl: stripe.url, platforms: { live: ended } },
  });
  expect((await replica.as(workspace.apiKey).checkPaymentConnection()).status).toBe(503);
  expect(await get(client)).toMatchObject({ state: "ready" });
});

test("onboarding does not replace an account that was connected during it and has an open payment", async () => {
  const { workspace, client } = await unconnected();
  const account = stripe.addAccount();
  const making = stripe.fault("POST /v1/accounts", "held");
  const beginning = begin(client);
  await making.met;
  await data(setKey(client, stripe.addKey(account)));
  await bookCheckout(setup, { ...workspace, account });
  making.release();
  await expectRefused(beginning, "PAYMENTS_OPEN", OPEN);
  expect(await get(client)).toMatchObject({ account, own_key: true });
});

const ADDRESS = "must be a URL such as https://example.org/done.";

test.each<[string, keyof Client, object, string, string | undefined]>([
  [
    "a return URL without TLS",
    "beginPaymentConnection",
    { ...BEGIN, return_url: "http://shop.example.org" },
    "return_url",
    `return_url ${ADDRESS}`,
  ],
  [
    "a script as return URL",
    "beginPaymentConnection",
    { ...BEGIN, return_url: "javascript:alert(1)" },
    "return_url",
    `return_url ${ADDRESS}`,
  ],
  [
    "an invalid cancel URL",
    "createCheckout",
    { shipment: "SHP-0000000000ZZ", ...PAGE_URLS, cancel_url: "cart" },
    "cancel_url",
    `cancel_url ${ADDRESS}`,
  ],
  [
    "an invalid restricted key",
    "setPaymentKey",
    { payment_provider: "stripe", restricted_key: "secret", webhook_secret: SECRET },
    "restricted_key",
    undefined,
  ],
  [
    "a check without a connected provider",
    "checkPaymentConnection",
    {},
    "payment_provider",
    "The workspace has no payment provider connected. Connect one before booking.",
  ],
])("rejects %s", async (_, method, fields, subject, text) => {
  const { client } = await unconnected();
  const { body, status } = await client[method](fields);
  const errors = { [subject]: [text ?? expect.stringContaining(subject)] };
  expect({ status, errors: body.errors }).toEqual({ status: 422, errors });
});

afterAll(() => expect(logged.join("\n")).not.toContain(stripe.secretKey));
