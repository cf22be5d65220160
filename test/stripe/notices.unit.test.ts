import { Stripe } from "stripe";
import { expect, test } from "vitest";
import { startReceiver } from "../support/receiver.ts";
import { startStripe } from "./stand-in.ts";
import { clientOf, priced } from "./stripe-client.ts";

const SECRET = "whsec_of_the_platform";

/** A stand-in with an account, and a receiver of the platform's notices. */
async function start(answer?: Parameters<typeof startReceiver>[0]) {
  const stripe = await startStripe();
  const receiver = await startReceiver(answer);
  stripe.addWebhook({ url: receiver.url, secret: SECRET });
  const account = stripe.addAccount();
  return { stripe, account, receiver, client: clientOf(stripe, { account }) };
}

type Received = Awaited<ReturnType<typeof startReceiver>>["received"];

/** What was received, each checked as the package does. */
function verified(received: Received, secret = SECRET) {
  return received.map(({ text, headers }) =>
    Stripe.webhooks.constructEvent(text, String(headers["stripe-signature"]), secret),
  );
}

const PAID = [
  "payment_intent.created",
  "charge.succeeded",
  "payment_intent.succeeded",
  "checkout.session.completed",
];

test("notices are held until they are asked for, signed, and name the account", async () => {
  const { stripe, account, receiver, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(500));
  stripe.pay(id);
  expect(receiver.received).toEqual([]);
  expect(await stripe.deliverNotices()).toEqual([204, 204, 204, 204]);
  const events = verified(receiver.received);
  expect(events.map(({ type }) => type)).toEqual(PAID);
  expect(events.map((event) => event.account)).toEqual(PAID.map(() => account));
  expect(events.at(-1)).toMatchObject({
    livemode: false,
    api_version: Stripe.API_VERSION,
    request: { id: null, idempotency_key: null },
    data: { object: { id, payment_status: "paid" } },
  });
  expect(() => verified(receiver.received, "whsec_other")).toThrow("signature");
  expect(await stripe.deliverNotices()).toEqual([]);
});

test("notices come doubled, reversed, chosen, or never", async () => {
  const { stripe, receiver, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(500));
  stripe.pay(id);
  expect(stripe.dropNotices(({ event }) => event.type === "charge.succeeded")).toBe(1);
  await stripe.deliverNotices({ where: ({ event }) => event.type.startsWith("checkout") });
  await stripe.deliverNotices({ times: 2, reversed: true });
  expect(verified(receiver.received).map(({ type }) => type)).toEqual([
    "checkout.session.completed",
    "payment_intent.succeeded",
    "payment_intent.succeeded",
    "payment_intent.created",
    "payment_intent.created",
  ]);
  const listed = await client.events.list({ type: "charge.*" });
  expect(listed.data.map(({ type }) => type)).toEqual(["charge.succeeded"]);
});

test("a notice that is not taken is kept for another try", async () => {
  let status = 500;
  const { stripe, receiver, client } = await start((response) => response.writeHead(status).end());
  const { id } = await client.checkout.sessions.create(priced(500));
  await client.checkout.sessions.expire(id);
  expect(await stripe.deliverNotices({ times: 2 })).toEqual([500, 500]);
  expect(stripe.held).toHaveLength(1);
  status = 200;
  expect(await stripe.deliverNotices()).toEqual([200]);
  expect(stripe.held).toEqual([]);
  await receiver.close();
  stripe.notices = "sent";
  const other = await client.checkout.sessions.create(priced(500));
  stripe.pay(other.id);
  await stripe.whenSent();
  expect(stripe.held.map(({ event }) => event.type).toSorted()).toEqual(PAID.toSorted());
});

test("a notice comes before the answer of the call that caused it, and names it", async () => {
  const { stripe, receiver, client } = await start();
  const { id } = await client.checkout.sessions.create(priced(500));
  stripe.notices = "first";
  const answered = client.checkout.sessions
    .expire(id, {}, { idempotencyKey: "expire-1" })
    .then(({ lastResponse }) => ({
      requestId: lastResponse.requestId,
      before: receiver.received.length,
    }));
  const { requestId, before } = await answered;
  expect(before).toBe(1);
  expect(verified(receiver.received)).toMatchObject([
    {
      type: "checkout.session.expired",
      request: { id: requestId, idempotency_key: "expire-1" },
    },
  ]);
});

test("an account's own address is told of its events alone, without its name", async () => {
  const { stripe, account, receiver, client } = await start();
  const own = await startReceiver();
  stripe.addWebhook({ url: own.url, secret: "whsec_own", account });
  stripe.restrictAccount(stripe.addAccount());
  const { id } = await client.checkout.sessions.create(priced(500));
  await client.checkout.sessions.expire(id);
  stripe.deauthorise(account);
  await stripe.deliverNotices();
  expect(verified(receiver.received).map(({ type }) => type)).toEqual([
    "account.updated",
    "checkout.session.expired",
    "account.application.deauthorized",
  ]);
  const events = verified(own.received, "whsec_own");
  expect(events.map((event) => [event.type, event.account])).toEqual([
    ["checkout.session.expired", undefined],
    ["account.application.deauthorized", undefined],
  ]);
});
