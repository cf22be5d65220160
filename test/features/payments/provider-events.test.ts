import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Stripe } from "stripe";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { bookCheckout, PLATFORM_SECRET, startStripeService, untilShipment } from "../../support/stripe-service.ts";

const setup = await startStripeService({ trustedProxies: ["127.0.0.1"] });
const { service, stripe, clock } = setup;
const workspace = await setup.connect();
const sql = await connectTo(service.databaseUrl);

const PATH = "/webhooks/stripe";
let events = 0;

/** Returns an event about a payment in the workspace's account. */
const eventOf = (fields: object = {}) => ({
  id: `evt_${++events}`,
  object: "event",
  type: "payment_intent.succeeded",
  account: workspace.account,
  livemode: true,
  created: Math.floor(clock.ms / 1_000),
  data: { object: { id: "pi_unknown", object: "payment_intent", metadata: {} } },
  ...fields,
});

async function send(
  payload: string,
  { secret = PLATFORM_SECRET, agoSeconds = 0, path = PATH, signature = "", headers = {} } = {},
) {
  const timestamp = Math.floor(clock.ms / 1_000) - agoSeconds;
  const signed = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  const response = await fetch(`${service.httpUrl}${path}`, {
    method: "POST",
    headers: { "stripe-signature": signature || signed, ...headers },
    body: payload,
  });
  return { status: response.status, body: await response.json() };
}

const kept = async (id: string) => (await sql.query("select 1 from payment_notice where id = $1", [id])).rowCount;

const UNSIGNED = "The event is not signed by the payment provider.";
const REFUSED = {
  status: 400,
  body: {
    message: UNSIGNED,
    errors: {},
    code: "REQUEST_MALFORMED",
    request_id: expect.any(String),
  },
};

test("stores an event once, however often it is delivered", async () => {
  const event = eventOf();
  const answers = await Promise.all([1, 2, 3].map(() => send(JSON.stringify(event))));
  expect(answers).toEqual([1, 2, 3].map(() => ({ status: 200, body: {} })));
  expect(await kept(event.id)).toBe(1);
});

describe("rejects an event without storing it", () => {
  test.for([
    ["signed with another secret", { secret: "whsec_other" }],
    ["signed too long ago", { agoSeconds: 301 }],
    ["with an invalid signature", { signature: "nonsense" }],
    ["to a workspace without its own key", { path: `${PATH}/${workspace.id}` }],
    ["to a missing workspace", { path: `${PATH}/999999999` }],
  ] as const)("%s", async ([, how]) => {
    const event = eventOf();
    expect(await send(JSON.stringify(event), how)).toEqual(REFUSED);
    expect(await kept(event.id)).toBe(0);
  });

  test("with a body that differs from the signed one", async () => {
    const payload = JSON.stringify(eventOf());
    const timestamp = Math.floor(clock.ms / 1_000);
    const signature = Stripe.webhooks.generateTestHeaderString({
      payload,
      secret: PLATFORM_SECRET,
      timestamp,
    });
    expect(await send(payload.replace("evt_", "evt_x"), { signature })).toEqual(REFUSED);
  });

  test("of more than 1 MiB", async () => {
    const padding = "x".repeat(1024 * 1024);
    expect((await send(JSON.stringify(eventOf({ padding })))).status).toBe(413);
  });
});

test.for([
  ["of the other mode", { livemode: false }],
  ["of the platform's own account", { account: undefined }],
  ["of an unrelated object", { type: "customer.created" }],
] as const)("accepts an event %s without storing it", async ([, fields]) => {
  const event = eventOf(fields);
  expect(await send(JSON.stringify(event))).toEqual({ status: 200, body: {} });
  expect(await kept(event.id)).toBe(0);
});

describe("for a workspace with its own signing secret", () => {
  const SECRET = "whsec_own";
  const own = async () => {
    const { apiKey, id } = await service.addWorkspace({ paymentProvider: undefined });
    const account = stripe.addAccount();
    const body = {
      payment_provider: "stripe",
      restricted_key: stripe.addKey(account),
      webhook_secret: SECRET,
    };
    const path = "/v1/payment_connection/key";
    const set = await service.request(path, { apiKey, method: "PUT", body });
    expect(set.status, set.text).toBe(200);
    return { account, how: { secret: SECRET, path: `${PATH}/${id}` } };
  };
  const keptOf = async (account: string) =>
    (await sql.query("select id, type, shipment, payment from payment_notice where account = $1", [account])).rows;
  const about = (object: unknown) => ({ data: { object } });

  test("accepts events with invalid ids or types without storing them", async () => {
    const { account, how } = await own();
    const fields: object[] = [
      { id: `evt_${"x".repeat(252)}` },
      { id: undefined },
      { id: 7 },
      { id: "evt_\u0000" },
      { id: "evt_\ud800" },
      { id: "evt with spaces" },
      { type: `charge.${"x".repeat(900_000)}` },
      { type: null },
      { data: null },
      { data: "" },
      about(null),
      about("pi_1"),
      about({ object: "payment_intent", id: 7 }),
      about({ object: "charge", payment_intent: { id: "pi_\u0000" } }),
      about({ object: "charge", metadata: { shipment: ["SHP-"] } }),
      about({ object: "charge", metadata: 7, payment_intent: "x".repeat(256) }),
    ];
    const payloads = fields.map((overrides) => JSON.stringify(eventOf({ account: undefined, ...overrides })));
    for (const payload of [...payloads, "null", "7", "[]"]) {
      expect(await send(payload, how), payload.slice(0, 200)).toEqual({ status: 200, body: {} });
    }
    expect(await keptOf(account)).toEqual([]);
    const object = { object: "charge", metadata: { shipment: 7 }, payment_intent: { id: "pi_1" } };
    const event = eventOf({ account: undefined, type: "charge.refunded", ...about(object) });
    expect(await send(JSON.stringify(event), how)).toEqual({ status: 200, body: {} });
    expect(await keptOf(account)).toEqual([{ id: event.id, type: "charge.refunded", shipment: null, payment: "pi_1" }]);
  });

  test("accepts 600 events and then ten per second, regardless of other workspaces", async () => {
    const { account, how } = await own();
    const other = await own();
    const payload = () => JSON.stringify(eventOf({ account: undefined }));
    const sendSome = () => Promise.all(Array.from({ length: 20 }, () => send(payload(), how)));
    const untilRefused = async (): Promise<Awaited<ReturnType<typeof send>>> =>
      (await sendSome()).find(({ status }) => status !== 200) ?? untilRefused();
    const last = await untilRefused();
    const message = "Too many payment events for the workspace. Try again in a moment.";
    expect(last).toEqual({
      status: 429,
      body: { message, errors: {}, code: "RATE_LIMITED", request_id: expect.any(String) },
    });
    expect((await keptOf(account)).length).toBeGreaterThanOrEqual(600);
    expect((await send(payload(), other.how)).status).toBe(200);
    expect((await send(JSON.stringify(eventOf()))).status).toBe(200);
  });
});

/** Sends the headers and the first bytes of a webhook delivery. */
async function begin(bytes: number, path = PATH): Promise<Socket> {
  const { hostname, port } = new URL(service.httpUrl);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nStripe-Signature: t=1,v1=x\r\nContent-Length: 1048576\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(head + "x".repeat(bytes), () => resolve()));
  return socket;
}

test("unsigned events do not block signed events from another address", async () => {
  const from = (address: string, bad: boolean) =>
    send(JSON.stringify(eventOf()), {
      ...(bad && { secret: "whsec_other" }),
      headers: { "x-forwarded-for": address },
    });
  const flood = Array.from({ length: 300 }, () => from("203.0.113.7", true));
  const real = Array.from({ length: 40 }, () => from("198.51.100.1", false));
  expect(await Promise.all(real)).toEqual(real.map(() => ({ status: 200, body: {} })));
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(200);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  expect(new Set(statuses)).toEqual(new Set([400, 429]));
});

test("rejects an event for a workspace without a secret before reading the body", async () => {
  const socket = await begin(0, `${PATH}/999999999`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 400 /);
});

test("connections that send headers without a body do not block other events", async () => {
  await Promise.all(Array.from({ length: 64 }, () => begin(0)));
  expect((await send(JSON.stringify(eventOf()))).status).toBe(200);
});

test("drops the oldest of many unfinished bodies when they exceed the memory limit", async () => {
  const sockets: Socket[] = [];
  for (let i = 0; i < 34; i++) sockets.push(await begin(1024 * 1024 - 1));
  await eventually("the oldest connection to close", async () => sockets[0]!.destroyed);
  expect(sockets.at(-1)!.destroyed).toBe(false);
  expect((await send(JSON.stringify(eventOf()))).status).toBe(200);
});

test("rejects other methods and unknown providers", async () => {
  expect((await service.request(PATH)).status).toBe(405);
  expect((await service.request("/webhooks/nobody", { body: {} })).status).toBe(404);
});

test.for([
  ["three times, newest first", { times: 3, reversed: true }],
  ["once", {}],
] as const)("events that arrive %s have the same effect", async ([, how]) => {
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.pay(session);
  stripe.refundByHand(session, 100);
  expect(new Set(await stripe.deliverEvents(how))).toEqual(new Set([200]));
  const { apiKey } = workspace;
  await untilShipment(service, apiKey, reference, {
    payment_status: "paid",
    payment_details: { refunded_amount: 1 },
  });
});

test("finds a payment without any event", async () => {
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.pay(session);
  stripe.dropEvents();
  clock.ms += 4 * 60_000;
  await untilShipment(service, workspace.apiKey, reference, { payment_status: "paid" });
});
