import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { book, takeStep } from "../../support/bookings.ts";
import { everLonger } from "../../support/ever-longer.ts";
import { eventually } from "../../support/eventually.ts";
import { TEST_MS } from "../../support/limits.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startService, type TestService } from "../../support/service.ts";
import { addReceiver, addWebhook, attemptsAt, deliveriesOf, hurry, untilAttempted } from "../../support/webhooks.ts";

/** Clock of the service. It is frozen while `ms` is set. */
const clock: { ms?: number | undefined; skewMs: number } = { skewMs: 0 };
const start = (webhookTimeoutMs: number) =>
  startService({
    now: () => new Date((clock.ms ?? Date.now()) + clock.skewMs),
    outside: { webhookTimeoutMs, random: () => 0.5 },
  });
const service = await start(TEST_MS);

const untilSettled = (apiKey: string, webhook: string, at: TestService = service) =>
  eventually("the end of the deliveries", async () => {
    const deliveries = await deliveriesOf(at, apiKey, webhook);
    return deliveries.length > 0 && deliveries.every((it) => it.status !== "pending");
  });

const answer500 = (response: ServerResponse) => response.writeHead(500).end();

/** Returns the time until a delivery's next attempt, while the clock is frozen. */
const waitMs = (delivery: any, attempt: any) => Date.parse(delivery.next_attempt_at) - Date.parse(attempt.started_at);

/** Freezes the clock ahead of the database's clock. Further attempts then become due only when a test moves it. */
function stopClock(): void {
  clock.ms = Date.now() + 60 * 60 * 1_000;
  onTestFinished(() => void (clock.ms = undefined));
}

test("a webhook's message is the event as in the feed, with a signature that the reference library accepts", async () => {
  const { receiver, apiKey, secret } = await addReceiver(service);
  const { reference } = await book(service, apiKey);
  await eventually("the first message", () => receiver.received.length === 1);

  const [message] = receiver.received;
  const listed = service.as(apiKey).listShipmentEvents({ shipment: reference });
  expect(message!.body).toEqual((await data(listed))[0]);
  expect(message).toMatchObject({
    method: "POST",
    path: "/hook",
    headers: { "content-type": "application/json", "webhook-id": `evt_${reference}_1` },
  });
  const headers = message!.headers as Record<string, string>;
  expect(new Webhook(secret).verify(message!.text, headers)).toEqual(message!.body);
  expect(headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  expect(() => new Webhook(secret).verify(`${message!.text} `, headers)).toThrow();
});

test("a delivery shows its attempt with status and response, and no further due time", async () => {
  const { apiKey, webhook } = await addReceiver(service, (response) =>
    response.writeHead(202).end(`\u20AC${"x".repeat(5_000)}`),
  );
  const { reference } = await book(service, apiKey);
  await untilSettled(apiKey, webhook.id);
  const [delivery] = await deliveriesOf(service, apiKey, webhook.id);
  expect(delivery).toEqual({
    id: expect.any(Number),
    webhook: webhook.id,
    event: `evt_${reference}_1`,
    type: "shipment.created",
    status: "delivered",
    attempts: 1,
    next_attempt_at: null,
    created_at: expect.any(String),
    ended_at: expect.any(String),
    shipment: reference,
    last_status: 202,
    last_error: null,
    last_duration_ms: expect.any(Number),
  });
  expect(await attemptsAt(service, apiKey, delivery)).toEqual([
    {
      number: 1,
      started_at: expect.any(String),
      duration_ms: expect.any(Number),
      status: 202,
      error: null,
      answer: `\u20AC${"x".repeat(1_021)}`,
    },
  ]);
});

test("signs messages with the old and the new secret during a rotation, and only with the new one afterwards", async () => {
  const { receiver, apiKey, webhook, secret: old } = await addReceiver(service);
  const rotate = async (overlap_seconds: number): Promise<string> => {
    const fields = { webhook: webhook.id, overlap_seconds };
    return (await service.as(apiKey).rotateWebhookSecret(fields)).body.secret;
  };
  const fresh = await rotate(3_600);
  await book(service, apiKey);
  await eventually("the first message", () => receiver.received.length === 1);
  const latest = await rotate(0);
  await book(service, apiKey);
  await eventually("the second message", () => receiver.received.length === 2);

  const accepts = (secret: string, i: number) => {
    const { text, headers } = receiver.received[i]!;
    try {
      new Webhook(secret).verify(text, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };
  const secrets = [old, fresh, latest];
  expect(new Set(secrets).size).toBe(3);
  expect(secrets.map((secret) => accepts(secret, 0))).toEqual([true, true, false]);
  expect(secrets.map((secret) => accepts(secret, 1))).toEqual([false, false, true]);
  const signatures = String(receiver.received[0]!.headers["webhook-signature"]).split(" ");
  expect(signatures).toHaveLength(2);
});

test("a webhook receives only events of its types and of its workspace", async () => {
  const receiver = await startReceiver();
  const { apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  const types = ["shipment.cancelled"];
  const { data: webhook } = await addWebhook(service, apiKey, { url: receiver.url, types });
  await book(service, other.apiKey);
  const { reference } = await book(service, apiKey);
  await takeStep(service, apiKey, reference, "cancel");
  await untilSettled(apiKey, webhook.id);
  expect(receiver.received.map(({ body }) => [body.type, body.shipment])).toEqual([["shipment.cancelled", reference]]);
});

const FAILURES = {
  "responds with 500": [
    (response: any) => response.writeHead(500).end("oh"),
    { status: 500, error: null, answer: "oh" },
  ],
  "redirects elsewhere": [
    (response: any) => response.writeHead(302, { location: "/other" }).end(),
    { status: 302, error: null, answer: "" },
  ],
  "resets the connection": [
    (response: any) => response.socket.resetAndDestroy(),
    { status: null, error: "The connection was reset.", answer: null },
  ],
} as const;

test.for(Object.entries(FAILURES))(
  "retries a receiver that %s after five seconds plus jitter, with the same id",
  ([, [answering, outcome]]) => expectRetry(service, answering, outcome),
);

test("also retries a receiver that does not respond", () =>
  everLonger(700, async (webhookTimeoutMs) => {
    const outcome = { status: null, error: "The receiver did not respond in time.", answer: null };
    await expectRetry(await start(webhookTimeoutMs), () => {}, outcome);
  }));

async function expectRetry(
  at: TestService,
  answering: (response: ServerResponse) => unknown,
  outcome: object,
): Promise<void> {
  stopClock();
  const { receiver, apiKey, webhook } = await addReceiver(at, (response, count) =>
    count === 1 ? answering(response) : response.writeHead(200).end(),
  );
  await book(at, apiKey);
  const failed = await untilAttempted(at, apiKey, webhook.id, 1);
  expect(failed).toMatchObject({ status: "pending", attempts: 1, ended_at: null });
  const [attempt] = await attemptsAt(at, apiKey, failed);
  expect(attempt).toMatchObject({ number: 1, ...outcome });
  // The delay is five seconds plus half of the jitter.
  expect(Math.floor(waitMs(failed, attempt) / 1_000)).toBe(5);
  const read = () => data(at.as(apiKey).getWebhook({ webhook: webhook.id }));
  expect((await read()).failing_since).toBe(attempt.started_at);

  await hurry(at);
  await untilSettled(apiKey, webhook.id, at);
  const [delivered] = await deliveriesOf(at, apiKey, webhook.id);
  expect(delivered).toMatchObject({ status: "delivered", attempts: 2 });
  expect(receiver.received.map(({ path }) => path)).toEqual(["/hook", "/hook"]);
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids)).toEqual(new Set([delivered.event]));
  expect((await read()).failing_since).toBeNull();
}

test("makes no further attempt before a receiver's Retry-After time", async () => {
  stopClock();
  const { receiver, apiKey, webhook } = await addReceiver(service, (response) =>
    response.writeHead(503, { "retry-after": "7200" }).end(),
  );
  await book(service, apiKey);
  const failed = await untilAttempted(service, apiKey, webhook.id, 1);
  const [attempt] = await attemptsAt(service, apiKey, failed);
  expect(Math.floor(waitMs(failed, attempt) / 1_000)).toBe(7_200);
  const { reference } = await book(service, apiKey);
  await eventually("the next message", () => receiver.received.length > 1);
  expect(receiver.received.slice(1).map(({ body }) => body.shipment)).toEqual([reference]);
});

test("a delivery fails permanently after ten attempts", async () => {
  stopClock();
  const { receiver, apiKey, webhook } = await addReceiver(service, answer500);
  await book(service, apiKey);
  for (let i = 1; i <= 10; i++) {
    await untilAttempted(service, apiKey, webhook.id, i);
    await hurry(service);
  }
  const [delivery] = await deliveriesOf(service, apiKey, webhook.id);
  expect(delivery).toMatchObject({ status: "failed", attempts: 10, next_attempt_at: null });
  expect(await attemptsAt(service, apiKey, delivery)).toHaveLength(10);
  expect(receiver.received).toHaveLength(10);
});

test("response 410 disables the webhook at once and writes an event", async () => {
  const answer = (response: ServerResponse) => response.writeHead(410).end();
  const { apiKey, webhook: gone } = await addReceiver(service, answer);
  const witness = await startReceiver();
  await addWebhook(service, apiKey, { url: witness.url, types: ["webhook.disabled"] });
  await book(service, apiKey);
  await eventually("the first message", () => witness.received.length === 1);
  const now = await data(service.as(apiKey).getWebhook({ webhook: gone.id }));
  expect(now).toMatchObject({ enabled: false, disabled_reason: "gone" });
  expect(witness.received[0]!.body).toEqual({
    id: `evt_${gone.id}_1`,
    type: "webhook.disabled",
    timestamp: now.updated_at,
    shipment: null,
    number: 1,
    data: null,
    webhook: now,
    actor: null,
    position: 2,
    test: false,
    api_key: null,
    courier: null,
  });
  const [delivery] = await deliveriesOf(service, apiKey, gone.id);
  expect(delivery).toMatchObject({ status: "failed", attempts: 1 });
  await book(service, apiKey);
  expect(await deliveriesOf(service, apiKey, gone.id)).toHaveLength(1);
});

test("response 410 from an earlier URL does not disable the webhook, and the message is sent to the new URL", async () => {
  const held: ServerResponse[] = [];
  const { apiKey, webhook } = await addReceiver(service, (response) => held.push(response));
  await book(service, apiKey);
  await eventually("the first message", () => held.length === 1);
  const successor = await startReceiver();
  onTestFinished(successor.close);
  await data(service.as(apiKey).updateWebhook({ webhook: webhook.id, url: successor.url }));
  held[0]!.writeHead(410).end();
  await untilAttempted(service, apiKey, webhook.id, 1);
  expect(await data(service.as(apiKey).getWebhook({ webhook: webhook.id }))).toMatchObject({ enabled: true });
  await hurry(service);
  await untilSettled(apiKey, webhook.id);
  expect(successor.received).toHaveLength(1);
});

test("disables a webhook after five days of failures, and not before", async () => {
  const { apiKey, webhook } = await addReceiver(service, answer500);
  const dayMs = 24 * 60 * 60 * 1_000;
  const state = async () => {
    const found = await data(service.as(apiKey).getWebhook({ webhook: webhook.id }));
    return [found.enabled, found.disabled_reason];
  };
  try {
    await book(service, apiKey);
    await untilAttempted(service, apiKey, webhook.id, 1);
    clock.skewMs = 5 * dayMs - 60_000;
    await hurry(service);
    await untilAttempted(service, apiKey, webhook.id, 2);
    expect(await state()).toEqual([true, null]);
    clock.skewMs = 5 * dayMs + 60_000;
    await hurry(service);
    await untilAttempted(service, apiKey, webhook.id, 3);
    expect(await state()).toEqual([false, "failing"]);
  } finally {
    clock.skewMs = 0;
  }
});

test("pending deliveries of a disabled webhook fail without being sent", async () => {
  stopClock();
  const { receiver, apiKey, webhook } = await addReceiver(service, answer500);
  await book(service, apiKey);
  await untilAttempted(service, apiKey, webhook.id, 1);
  await data(service.as(apiKey).updateWebhook({ webhook: webhook.id, enabled: false }));
  await hurry(service);
  await untilSettled(apiKey, webhook.id);
  const [delivery] = await deliveriesOf(service, apiKey, webhook.id);
  expect(delivery).toMatchObject({ status: "failed", attempts: 1 });
  expect(receiver.received).toHaveLength(1);
});

test("redelivers an event on request with its own id, regardless of the webhook's types", async () => {
  const receiver = await startReceiver();
  const { apiKey } = await service.addWorkspace();
  const { reference } = await book(service, apiKey);
  const types = ["shipment.refunded"];
  const { data: webhook } = await addWebhook(service, apiKey, { url: receiver.url, types });
  const event = `evt_${reference}_1`;
  const redeliver = (id: string) => service.as(apiKey).redeliverEvent({ webhook: webhook.id, event: id });
  const delivery = await data(redeliver(event));
  expect(delivery).toMatchObject({ event, status: "pending", attempts: 0 });
  await eventually("the first message", () => receiver.received.length === 1);
  expect(receiver.received[0]!.headers["webhook-id"]).toBe(event);

  const stranger = await service.addWorkspace();
  const foreign = await book(service, stranger.apiKey);
  for (const id of [`evt_${foreign.reference}_1`, "evt_nothing_1", "nonsense"]) {
    await expectRefused(redeliver(id), "EVENT_NOT_FOUND");
  }
});

test("sends a test event regardless of the webhook's types, and only to that webhook", async () => {
  const receiver = await startReceiver();
  const other = await startReceiver();
  const { apiKey } = await service.addWorkspace();
  const types = ["shipment.refunded"];
  const { data: webhook } = await addWebhook(service, apiKey, { url: receiver.url, types });
  const { data: silent } = await addWebhook(service, apiKey, { url: other.url });
  const tested = await data(service.as(apiKey).testWebhook({ webhook: webhook.id }));
  expect(tested.type).toBe("webhook.test");
  await eventually("the first message", () => receiver.received.length === 1);
  expect(receiver.received[0]!.body).toMatchObject({ type: "webhook.test", webhook });
  expect(await deliveriesOf(service, apiKey, silent.id)).toEqual([]);
});

test("a receiver that does not respond does not delay other workspaces", async () => {
  const hanging = await startReceiver(() => {});
  const receiver = await startReceiver();
  const slow = await service.addWorkspace();
  const quick = await service.addWorkspace();
  for (let i = 0; i < 5; i++) await addWebhook(service, slow.apiKey, { url: hanging.url });
  await addWebhook(service, quick.apiKey, { url: receiver.url });
  await Promise.all(Array.from({ length: 20 }, () => book(service, slow.apiKey)));
  await book(service, quick.apiKey);
  await eventually("the first message", () => receiver.received.length === 1);
  const [row] = await service.app.em.execute(
    "select count(*)::int as waiting from webhook_delivery where workspace_id = ? and attempts = 0",
    [slow.id],
  );
  expect(row!.waiting).toBeGreaterThan(0);
  const { deleteWebhook, listWebhooks } = service.as(slow.apiKey);
  for (const { id } of await data(listWebhooks())) await deleteWebhook({ webhook: id });
});

test("sends nothing for a change that is rolled back", async () => {
  const { receiver, id, apiKey } = await addReceiver(service);
  await service.app.em
    .fork()
    .transactional(async (tx) => {
      await tx.execute(
        `insert into event (workspace_id, subject, number, type, data, created_at)
         values (?, 'SHP-000000000000', 1, 'shipment.created', '{}', now())`,
        [id],
      );
      throw new Error("rolls back the transaction");
    })
    .catch(() => undefined);
  const { reference } = await book(service, apiKey);
  await eventually("the next message", () => receiver.received.length > 0);
  expect(receiver.received.map(({ body }) => body.shipment)).toEqual([reference]);
});
