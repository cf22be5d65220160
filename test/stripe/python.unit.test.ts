import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startReceiver } from "../support/receiver.ts";
import { whenOver } from "../support/when-over.ts";
import { startStripe } from "./stand-in.ts";

/** Debian installs `python3-stripe` for this interpreter, whatever comes first on the path. */
const PYTHON = "/usr/bin/python3";
const SCRIPT = fileURLToPath(new URL("python_client.py", import.meta.url));

interface Answer {
  readonly answer?: any;
  readonly error?: string;
}

/** Starts Python's client; what it gives makes one call, named as in Python. */
function startPython(url: string, key: string) {
  const python = spawn(PYTHON, [SCRIPT, url, key], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(python, "close");
  const lines = createInterface(python.stdout)[Symbol.asyncIterator]();
  whenOver(async () => {
    python.stdin.end();
    await ended;
  });
  return async (call: string, named: object = {}, ...positional: unknown[]): Promise<Answer> => {
    const request = { call: call.split("."), of: positional, with: named };
    python.stdin.write(`${JSON.stringify(request)}\n`);
    const { value } = await lines.next();
    return JSON.parse(String(value)) as Answer;
  };
}

test("Debian's client for Python takes the stand-in for Stripe", async (context) => {
  const isInstalled = spawnSync(PYTHON, ["-c", "import stripe"]).status === 0;
  context.skip(!isInstalled, "python3-stripe is not installed");
  const stripe = await startStripe();
  const account = stripe.addAccount();
  const receiver = await startReceiver();
  stripe.addWebhook({ url: receiver.url, secret: "whsec_python" });
  const call = startPython(stripe.url, stripe.secretKey);
  const on = { stripe_account: account };

  const { answer: made } = await call("Account.create", { type: "standard" });
  expect((await call("Account.retrieve", {}, made.id)).answer.charges_enabled).toBe(false);
  const params = {
    ...on,
    mode: "payment",
    success_url: "https://example.com",
    line_items: [
      {
        quantity: 2,
        price_data: { currency: "eur", unit_amount: 500, product_data: { name: "A delivery" } },
      },
    ],
    idempotency_key: "booking-1",
  };
  const { answer: session } = await call("checkout.Session.create", params);
  expect(session).toMatchObject({ amount_total: 1000, currency: "eur", status: "open" });
  expect((await call("checkout.Session.create", params)).answer.id).toBe(session.id);
  expect(await call("checkout.Session.create", { ...params, success_url: "x" })).toEqual({
    error: "IdempotencyError",
    status: 400,
    code: null,
    param: null,
  });

  stripe.pay(session.id);
  const expand = ["payment_intent.latest_charge"];
  const paid = await call("checkout.Session.retrieve", { ...on, expand }, session.id);
  expect(paid.answer).toMatchObject({
    payment_status: "paid",
    payment_intent: { status: "succeeded", latest_charge: { amount: 1000, paid: true } },
  });
  const payment_intent: string = paid.answer.payment_intent.id;
  const refund = await call("Refund.create", { ...on, payment_intent, amount: 400 });
  expect(refund.answer).toMatchObject({ amount: 400, status: "succeeded" });
  expect(await call("Refund.create", { ...on, payment_intent, amount: 601 })).toEqual({
    error: "InvalidRequestError",
    status: 400,
    code: null,
    param: "amount",
  });
  expect((await call("Refund.list", { ...on, payment_intent })).answer.data).toHaveLength(1);
  expect(await call("Refund.create", { ...on, colour: "red" })).toEqual({
    error: "InvalidRequestError",
    status: 400,
    code: "parameter_unknown",
    param: "colour",
  });
  expect(await call("Refund.list", { stripe_account: "acct_1nobody" })).toMatchObject({
    error: "PermissionError",
    status: 403,
  });
  expect(await call("Refund.list", { ...on, api_key: "sk_test_wrong" })).toMatchObject({
    error: "AuthenticationError",
    status: 401,
  });

  await stripe.deliverNotices();
  const notices = receiver.received.map(({ text, headers }) =>
    call("Webhook.construct_event", {}, text, headers["stripe-signature"], "whsec_python"),
  );
  const types = (await Promise.all(notices)).map(({ answer }) => String(answer.type));
  expect(types).toEqual(stripe.books(account).events.map(({ type }) => type));
});
