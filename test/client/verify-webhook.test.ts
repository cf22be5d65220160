import { beforeAll, expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { createClient, verifyWebhook, type Client, type WebhookHeaders } from "../../src/client/client.ts";
import { bookAnd } from "../support/bookings.ts";
import { eventually } from "../support/eventually.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { HURRIED, startService, type TestService } from "../support/service.ts";

let service: TestService;
let key: string;
let client: Client;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService({ outside: HURRIED });
  key = (await service.addWorkspace()).twin.apiKey;
  client = createClient({ url: service.httpUrl, key });
  receiver = await startReceiver();
});

/** Returns the webhook message of an event of this type. */
const messageOf = (type: string) =>
  eventually(`a message of ${type}`, () => receiver.received.find(({ body }) => body.type === type));

test("a verified message equals the event of the feed, with either secret of a rotation", async () => {
  const { data, secret: before } = await client.webhooks.createWebhook({ url: receiver.url });
  const metadata = { gate: "7", floor: "3" };
  await bookAnd(service, key, ["pay"], { metadata });
  const created = await messageOf("shipment.created");
  const event = await verifyWebhook(before, created.headers, created.text);
  expect(event).toEqual((await client.events.getEvent({ event: event.id })).data);
  expect(event.data?.metadata).toEqual(metadata);

  const { secret: now } = await client.webhooks.rotateWebhookSecret({ webhook: data!.id });
  await client.webhooks.testWebhook({ webhook: data!.id });
  const { headers, text } = await messageOf("webhook.test");
  const bytes = Buffer.from(text);
  for (const secrets of [before, now, [before, now], [now, before]]) {
    const tested = await verifyWebhook(secrets, new Headers(headers as HeadersOf), bytes);
    expect(tested).toEqual((await client.events.getEvent({ event: tested.id })).data);
  }
});

type HeadersOf = Record<string, string>;

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(24, 8).toString("base64")}`;
const AT = new Date("2026-12-01T12:00:00Z");
const BODY = '{"id":"evt_1","type":"webhook.test"}';

function signed(body = BODY) {
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(AT.getTime() / 1_000),
    "webhook-signature": new Webhook(SECRET).sign("evt_1", AT, body),
  };
}

test.each([
  ["without a signature", { ...signed(), "webhook-signature": undefined }, BODY, "HEADER_MISSING"],
  [
    "signed with another secret",
    { ...signed(), "webhook-signature": new Webhook(OTHER).sign("evt_1", AT, BODY) },
    BODY,
    "SIGNATURE_WRONG",
  ],
  ["with two times", { ...signed(), "webhook-timestamp": ["1", "2"] }, BODY, "HEADER_MISSING"],
  ["with an empty signature", { ...signed(), "webhook-signature": "v1," }, BODY, "SIGNATURE_WRONG"],
  ["with a signature that is not base64", { ...signed(), "webhook-signature": "v1,a" }, BODY, "SIGNATURE_WRONG"],
  ["under another id", { ...signed(), "webhook-id": "evt_2" }, BODY, "SIGNATURE_WRONG"],
  ["that was changed", signed(), BODY.replace("test", "tests"), "SIGNATURE_WRONG"],
  ["without a time", { ...signed(), "webhook-timestamp": "noon" }, BODY, "TOO_OLD"],
  ["that is not an event", signed("7 o'clock"), "7 o'clock", "NOT_AN_EVENT"],
  ["without an id", signed('{"type":"a"}'), '{"type":"a"}', "NOT_AN_EVENT"],
  ["without a type", signed('{"id":"evt_1"}'), '{"id":"evt_1"}', "NOT_AN_EVENT"],
  ["that is null", signed("null"), "null", "NOT_AN_EVENT"],
  ["with a byte order mark", signed(), Buffer.from(`\uFEFF${BODY}`), "SIGNATURE_WRONG"],
  ["with bytes that are not UTF-8", signed("\uFFFD"), Buffer.from([255]), "SIGNATURE_WRONG"],
])("rejects a message %s", async (_, headers, body, reason) => {
  const nowMs = AT.getTime();
  await expect(verifyWebhook(SECRET, headers, body, { nowMs })).rejects.toMatchObject({ reason });
});

const inCapitals = Object.fromEntries(
  Object.entries(signed()).map(([name, value]) => [name.replaceAll(/\b\w/g, (c) => c.toUpperCase()), value]),
);
const ofAnotherRealm = { get: (name: string) => new Headers(signed()).get(name) };

const distinct = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name, [value]]));

test.each<[string, WebhookHeaders]>([
  ["in capitals", inCapitals],
  ["in lists, as in headersDistinct of Node", distinct],
  ["of another realm", ofAnotherRealm as Headers],
])("accepts a message with headers %s", async (_, headers) => {
  const { id } = await verifyWebhook(SECRET, headers, BODY, { nowMs: AT.getTime() });
  expect(id).toBe("evt_1");
});

test("a body that was parsed already throws TypeError", async () => {
  const parsed = JSON.parse(BODY) as Uint8Array;
  const verified = verifyWebhook(SECRET, signed(), parsed, { nowMs: AT.getTime() });
  await expect(verified).rejects.toThrow(TypeError);
});

test("ignores an empty secret and uses the other", async () => {
  const nowMs = AT.getTime();
  for (const secrets of [
    ["", SECRET],
    ["whsec_", SECRET],
    [SECRET, ""],
    [undefined, SECRET],
    [SECRET, undefined],
  ]) {
    expect((await verifyWebhook(secrets, signed(), BODY, { nowMs })).id).toBe("evt_1");
  }
  const refused = verifyWebhook("", signed(), BODY, { nowMs });
  await expect(refused).rejects.toMatchObject({ reason: "SIGNATURE_WRONG" });
});

test.each([
  [300_000, undefined],
  [300_001, "TOO_OLD"],
  [-300_000, undefined],
  [-300_001, "TOO_EARLY"],
])("accepts a message within five minutes: %i ms, %s", async (ageMs, reason) => {
  const nowMs = AT.getTime() + ageMs;
  const verified = verifyWebhook([OTHER, SECRET], signed(), BODY, { nowMs });
  await expect(
    verified.then(
      ({ id }) => id,
      (error) => error.reason,
    ),
  ).resolves.toBe(reason ?? "evt_1");
});
