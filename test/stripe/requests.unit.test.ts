import { Stripe } from "stripe";
import { expect, test } from "vitest";
import { startStripe } from "./stand-in.ts";
import { clientOf, priced } from "./stripe-client.ts";

async function start() {
  const stripe = await startStripe();
  const account = stripe.addAccount();
  return { stripe, account, client: clientOf(stripe, { account }) };
}

/** The body of an error as the server sent it, without what differs each time. */
const bodyOf = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Stripe.errors.StripeError))
    throw new Error(`not refused: ${String(error)}`);
  const { type, rawType, statusCode, code, param, message } = error;
  return { type, rawType, statusCode, code, param, message };
};

test("a parameter that Stripe does not know is refused by its name", async () => {
  const { stripe, account } = await start();
  const response = await fetch(`${stripe.url}/v1/refunds`, {
    method: "POST",
    headers: { authorization: `Bearer ${stripe.secretKey}`, "stripe-account": account },
    body: new URLSearchParams({ charge: "ch_1", "metadata[a]": "1", colour: "red" }),
  });
  expect(response.status).toBe(400);
  const requestId = response.headers.get("request-id");
  expect(await response.json()).toEqual({
    error: {
      type: "invalid_request_error",
      code: "parameter_unknown",
      doc_url: "https://stripe.com/docs/error-codes/parameter-unknown",
      message: "Received unknown parameter: colour",
      param: "colour",
      request_log_url: `https://dashboard.stripe.com/${account}/test/workbench/logs?object=${requestId}`,
    },
  });
});

test("what is missing, empty, no number or not among the values is told of each parameter", async () => {
  const { stripe, account } = await start();
  const post = async (path: string, form: Record<string, string>) => {
    const response = await fetch(`${stripe.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${stripe.secretKey}`, "stripe-account": account },
      body: new URLSearchParams(form),
    });
    const { error } = (await response.json()) as { error: Stripe.StripeRawError };
    return [response.status, error.code, error.param, error.message];
  };
  const item = "line_items[0][price_data]";
  const form = {
    mode: "payment",
    success_url: "https://example.com",
    [`${item}[currency]`]: "usd",
    [`${item}[product_data][name]`]: "A delivery",
    [`${item}[unit_amount]`]: "500",
    "line_items[0][quantity]": "1",
  };
  const { mode: _, ...withoutMode } = form;
  const path = "/v1/checkout/sessions";
  expect(await post(path, withoutMode)).toEqual([
    400,
    "parameter_missing",
    "mode",
    "Missing required param: mode.",
  ]);
  expect(await post(path, { ...form, [`${item}[unit_amount]`]: "5.1" })).toEqual([
    400,
    "parameter_invalid_integer",
    `${item}[unit_amount]`,
    "Invalid integer: 5.1",
  ]);
  const [, code, param] = await post(path, { ...form, client_reference_id: "" });
  expect([code, param]).toEqual(["parameter_invalid_empty", "client_reference_id"]);
  expect(await post(path, { ...form, mode: "gift" })).toEqual([
    400,
    undefined,
    "mode",
    "Invalid mode: must be one of payment",
  ]);
  expect(await post(path, { ...form, [`${item}[currency]`]: "xyz" })).toEqual([
    400,
    undefined,
    `${item}[currency]`,
    "Invalid currency: xyz.",
  ]);
  expect(await post("/v1/refunds", {})).toEqual([
    400,
    "parameter_missing",
    "payment_intent",
    "Missing required param: payment_intent.",
  ]);
});

test("a key that is unknown, an account that is not open, and a permission that is not given differ", async () => {
  const { stripe, account, client } = await start();
  const wrong = clientOf(stripe, { key: "sk_test_00000000wxyz" });
  expect(await bodyOf(wrong.balance.retrieve())).toMatchObject({
    type: "StripeAuthenticationError",
    statusCode: 401,
    message: "Invalid API Key provided: sk_test_********wxyz",
  });
  const foreign = clientOf(stripe, { account: "acct_1nobody" });
  expect(await bodyOf(foreign.checkout.sessions.list())).toMatchObject({
    type: "StripePermissionError",
    statusCode: 403,
    code: "account_invalid",
  });
  stripe.deauthorise(account);
  expect(await bodyOf(client.checkout.sessions.list())).toMatchObject({ code: "account_invalid" });
  const own = stripe.addKey(account, ["rak_checkout_session_write"]);
  const restricted = clientOf(stripe, { key: own });
  expect((await restricted.checkout.sessions.list()).data).toEqual([]);
  expect(await bodyOf(restricted.refunds.list())).toMatchObject({
    type: "StripePermissionError",
    statusCode: 403,
    code: undefined,
  });
  stripe.revokeKey(own);
  expect(await bodyOf(restricted.checkout.sessions.list())).toMatchObject({ statusCode: 401 });
});

test("requests are noted with the account, the key and the version that they came with", async () => {
  const { stripe, account, client } = await start();
  await client.checkout.sessions.create(priced(500), { idempotencyKey: "booking-1" });
  await clientOf(stripe, { key: "sk_test_wrong" })
    .checkout.sessions.list()
    .catch(() => undefined);
  const line = "/v1/checkout/sessions";
  const version = Stripe.API_VERSION;
  expect(stripe.taken).toEqual([
    { line: `POST ${line}`, account, idempotencyKey: "booking-1", version, status: 200 },
    { line: `GET ${line}`, account: undefined, idempotencyKey: undefined, version, status: 401 },
  ]);
});

test("what is not there, or of another account, is no such object", async () => {
  const { stripe, client } = await start();
  const other = clientOf(stripe, { account: stripe.addAccount() });
  const { id } = await client.checkout.sessions.create(priced(500));
  expect(await bodyOf(other.checkout.sessions.retrieve(id))).toEqual({
    type: "StripeInvalidRequestError",
    rawType: "invalid_request_error",
    statusCode: 404,
    code: "resource_missing",
    param: "session",
    message: `No such checkout.session: '${id}'`,
  });
  expect(await bodyOf(client.customers.list())).toMatchObject({
    statusCode: 404,
    message: expect.stringContaining("Unrecognized request URL (GET: /v1/customers)"),
  });
});

test("a key gives the same answer again, and refuses other parameters and another endpoint", async () => {
  const { stripe, account, client } = await start();
  const options = { idempotencyKey: "booking-1" };
  const first = await client.checkout.sessions.create(priced(500), options);
  stripe.pay(first.id);
  const again = await client.checkout.sessions.create(priced(500), options);
  expect(again).toEqual(first);
  expect(again.lastResponse.headers).toMatchObject({
    "idempotent-replayed": "true",
    "original-request": first.lastResponse.requestId,
  });
  expect(await bodyOf(client.checkout.sessions.create(priced(600), options))).toMatchObject({
    type: "StripeIdempotencyError",
    statusCode: 400,
    message: expect.stringContaining("with the same parameters they were first used with"),
  });
  expect(await bodyOf(client.refunds.create({ charge: "ch_1" }, options))).toMatchObject({
    type: "StripeIdempotencyError",
    message: expect.stringContaining("for the same endpoint they were first used for"),
  });
  expect(stripe.payments(account)).toHaveLength(1);
});

test("a refusal that was carried out is kept under its key, and one of the parameters is not", async () => {
  const { stripe, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(1000));
  stripe.pay(id);
  const intent = (await client.checkout.sessions.retrieve(id)).payment_intent as string;
  const options = { idempotencyKey: "refund-1" };
  const dispute = stripe.openDispute(id);
  const refund = () => client.refunds.create({ payment_intent: intent }, options);
  expect(await bodyOf(refund())).toMatchObject({ code: "charge_disputed" });
  stripe.closeDispute(dispute, "won");
  expect(await bodyOf(refund())).toMatchObject({ code: "charge_disputed" });
  const other = { idempotencyKey: "refund-2" };
  expect(await bodyOf(client.refunds.create({}, other))).toMatchObject({
    code: "parameter_missing",
  });
  expect(await client.refunds.create({ payment_intent: intent }, other)).toMatchObject({
    status: "succeeded",
  });
});

test("a second request under a key that is at work is a conflict, and keys are forgotten after a day", async () => {
  let now = Date.parse("2026-11-22T12:00:00Z");
  const stripe = await startStripe({ now: () => now });
  const client = clientOf(stripe, { account: stripe.addAccount() });
  const create = () =>
    client.checkout.sessions.create(priced(500), { idempotencyKey: "booking-1" });
  const held = stripe.fault("POST /v1/checkout/sessions", "held");
  const first = create();
  await held.met;
  expect(await bodyOf(create())).toMatchObject({ statusCode: 409, code: "idempotency_key_in_use" });
  held.release();
  const { id } = await first;
  now += 24 * 60 * 60 * 1000 - 1;
  expect((await create()).id).toBe(id);
  now += 1;
  expect((await create()).id).not.toBe(id);
});

test("an answer is lost after the work, and a connection breaks before it", async () => {
  const { stripe, account, client } = await start();
  // The client repeats once what a broken connection took.
  stripe.fault("POST /v1/checkout/sessions", "unreached", { times: 2 });
  const create = () =>
    client.checkout.sessions.create(priced(500), { idempotencyKey: "booking-1" });
  expect(await bodyOf(create())).toMatchObject({ type: "StripeConnectionError" });
  expect(stripe.payments(account)).toEqual([]);
  stripe.fault("POST /v1/checkout/sessions", "lost", { times: 2 });
  expect(await bodyOf(create())).toMatchObject({ type: "StripeConnectionError" });
  expect(stripe.payments(account)).toHaveLength(1);
  stripe.fault("POST /v1/checkout/sessions", "cut");
  expect(await bodyOf(create())).toMatchObject({ type: "StripeConnectionError" });
  expect((await create()).id).toBe(stripe.payments(account)[0]?.session);
});

test("a limit leaves nothing behind, and a failure its answer under the key", async () => {
  const { stripe, account, client } = await start();
  const create = (idempotencyKey: string) =>
    client.checkout.sessions.create(priced(500), { idempotencyKey });
  stripe.fault("POST /v1/checkout", "rateLimited");
  expect(await bodyOf(create("booking-1"))).toMatchObject({
    type: "StripeRateLimitError",
    statusCode: 429,
  });
  await create("booking-1");
  stripe.fault("POST /v1/checkout", "failed");
  for (const _ of [1, 2]) {
    expect(await bodyOf(create("booking-2"))).toMatchObject({
      type: "StripeAPIError",
      statusCode: 500,
    });
  }
  expect(stripe.payments(account)).toHaveLength(1);
  await create("booking-3");
  expect(stripe.payments(account)).toHaveLength(2);
});

test("whoever is away refuses connections, and comes back with all there was", async () => {
  const { stripe, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(500));
  await stripe.goAway();
  expect(await bodyOf(client.checkout.sessions.retrieve(id))).toMatchObject({
    type: "StripeConnectionError",
  });
  await stripe.comeBack();
  expect((await client.checkout.sessions.retrieve(id)).id).toBe(id);
});

test("pages of a list follow each other", async () => {
  const { client } = await start();
  const made: string[] = [];
  for (let count = 0; count < 5; count++) {
    made.push((await client.checkout.sessions.create(priced(500))).id);
  }
  const seen: string[] = [];
  for await (const { id } of client.checkout.sessions.list({ limit: 2 })) seen.push(id);
  expect(seen).toEqual(made.toReversed());
  const { data } = await client.checkout.sessions.list({ ending_before: made[1]!, limit: 2 });
  expect(data.map(({ id }) => id)).toEqual([made[3], made[2]]);
});
