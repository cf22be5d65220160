import { expect, onTestFinished, test } from "vitest";
import { data } from "../../support/answers.ts";
import { book, BOOKING, PAYMENT } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { PROTOCOLS } from "../../support/rpc-client.ts";
import { startService } from "../../support/service.ts";
import { addWebhook, attemptsAt, deliveriesOf, hurry } from "../../support/webhooks.ts";

const service = await startService();

/** Creates a workspace with a test key and a webhook with a receiver. */
async function addTestReceiver() {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const { twin, apiKey: liveKey } = await service.addWorkspace({ paymentProvider: "manual" });
  const { apiKey } = twin;
  const { data: webhook } = await addWebhook(service, apiKey, receiver);
  return { apiKey, liveKey, receiver, webhook };
}

const untilReceived = (receiver: Receiver, count: number) =>
  eventually(`message ${count}`, () => receiver.received.length === count);

const typesOf = ({ received }: Receiver) => received.map(({ body }) => body.type);

const idsOf = ({ received }: Receiver) => received.map(({ headers }) => String(headers["webhook-id"]));

/** Waits until this many deliveries have ended. Returns them with their attempts, newest first. */
async function endedDeliveries(apiKey: string, webhook: string, count: number) {
  const ended = await eventually("the end of the deliveries", async () => {
    const found = await deliveriesOf(service, apiKey, webhook);
    return found.length === count && found.every((it) => it.status !== "pending") && found;
  });
  return Promise.all(
    ended.map(async (delivery) => ({
      status: delivery.status,
      attempts: (await attemptsAt(service, apiKey, delivery)).map(({ status, answer }) => answer || status),
    })),
  );
}

const NOT_SENT = "Not sent, as requested by Simulate.";

const API_PROTOCOLS = ["json", ...(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[])] as const;

/** Books with a simulated fault over JSON, then over every other protocol. */
async function bookByAll(apiKey: string, simulate: string): Promise<string[]> {
  const references = [];
  for (const protocol of API_PROTOCOLS) {
    const booked = await service.as(apiKey, protocol).createShipment(BOOKING, { simulate });
    expect([booked.status, booked.headers.get("simulated")]).toEqual([201, simulate]);
    references.push(booked.body.data.reference);
  }
  return references;
}

test("duplicate_webhook sends the call's events twice with the same id, over every protocol", async () => {
  const { apiKey, receiver, webhook } = await addTestReceiver();
  const references = await bookByAll(apiKey, "duplicate_webhook");
  await untilReceived(receiver, 2 * references.length);
  const ids = references.map((reference) => `evt_${reference}_1`);
  expect(idsOf(receiver).toSorted()).toEqual([...ids, ...ids].toSorted());
  const once = { status: "delivered", attempts: [204] };
  expect(await endedDeliveries(apiKey, webhook.id, 2 * ids.length)).toEqual([...ids, ...ids].map(() => once));
});

test("reorder_webhooks sends later events before the call's events, and these in reverse order", async () => {
  const { apiKey, receiver } = await addTestReceiver();
  const references = await bookByAll(apiKey, "reorder_webhooks");
  const [first] = references;
  const pay = (headers: Record<string, string>, shipment: string) =>
    service.as(apiKey).recordPayment({ shipment, ...PAYMENT }, headers);
  await pay({}, first!);
  await untilReceived(receiver, 2);
  const paid = ["shipment.paid", "shipment.awaiting_pickup"];
  expect(typesOf(receiver)).toEqual(paid);
  await hurry(service);
  await untilReceived(receiver, 2 + references.length);
  expect(idsOf(receiver).slice(2).toSorted()).toEqual(references.map((reference) => `evt_${reference}_1`).toSorted());

  const { reference } = await book(service, apiKey);
  await untilReceived(receiver, 3 + references.length);
  await pay({ simulate: "reorder_webhooks" }, reference);
  await hurry(service);
  await untilReceived(receiver, 5 + references.length);
  expect(typesOf(receiver).slice(-2)).toEqual(paid.toReversed());
});

test("fail_webhook=N fails the first N attempts as the receiver would, and the next ones follow at once", async () => {
  const { apiKey, receiver, webhook } = await addTestReceiver();
  const references = await bookByAll(apiKey, "fail_webhook=2");
  await untilReceived(receiver, references.length);
  expect(await endedDeliveries(apiKey, webhook.id, references.length)).toEqual(
    references.map(() => ({ status: "delivered", attempts: [NOT_SENT, NOT_SENT, 204] })),
  );
  const found = await data(service.as(apiKey).getWebhook({ webhook: webhook.id }));
  expect(found).toMatchObject({ enabled: true, failing_since: null });
});

test("a delivery whose attempts are all simulated to fail is never sent and fails", async () => {
  const { apiKey, receiver, webhook } = await addTestReceiver();
  const headers = { simulate: "fail_webhook=10" };
  await service.as(apiKey).createShipment(BOOKING, headers);
  expect(await endedDeliveries(apiKey, webhook.id, 1)).toEqual([
    { status: "failed", attempts: Array.from({ length: 10 }, () => NOT_SENT) },
  ]);
  expect(receiver.received).toEqual([]);
});

test("simulated faults also apply to webhook tests and redelivered events, several at once", async () => {
  const { apiKey, receiver, webhook } = await addTestReceiver();
  const headers = { simulate: "duplicate_webhook, fail_webhook=1, reorder_webhooks" };
  const caller = service.as(apiKey);
  await caller.testWebhook({ webhook: webhook.id }, headers);
  await hurry(service);
  const [failedOnce, twice] = [{ status: "delivered", attempts: [NOT_SENT, 204] }, [1, 2]];
  expect(await endedDeliveries(apiKey, webhook.id, 2)).toEqual(twice.map(() => failedOnce));
  const event = receiver.received[0]!.headers["webhook-id"];
  await caller.redeliverEvent({ webhook: webhook.id, event }, headers);
  await hurry(service);
  await untilReceived(receiver, 4);
  expect(idsOf(receiver)).toEqual([event, event, event, event]);
});

test("with a live key no faults are simulated", async () => {
  const { liveKey: apiKey } = await addTestReceiver();
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const { data: webhook } = await addWebhook(service, apiKey, receiver);
  for (const simulate of ["duplicate_webhook", "reorder_webhooks", "fail_webhook=9"]) {
    const headers = { simulate };
    const booked = await service.as(apiKey).createShipment(BOOKING, headers);
    expect([booked.status, booked.headers.get("simulated")]).toEqual([201, "ignored"]);
  }
  await untilReceived(receiver, 3);
  expect(await endedDeliveries(apiKey, webhook.id, 3)).toEqual(
    Array.from({ length: 3 }, () => ({ status: "delivered", attempts: [204] })),
  );
});
