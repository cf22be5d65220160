import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { insertEvents } from "../../../src/features/events/insert-events.ts";
import { book, BOOKING } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { startReplica, startService } from "../../support/service.ts";
import { connectTo, createDatabase } from "../../support/database.ts";
import { addReceiver, addWebhook, untilAttempted } from "../../support/webhooks.ts";

const service = await startService();

/** Writes so many events of each of so many shipments, in one transaction. */
async function writeEvents(workspace: number, shipments: number, each: number): Promise<void> {
  const ofShipment = (shipment: number) =>
    Array.from({ length: each }, (_, i) => ({
      subject: `SHP-${String(shipment + 1).padStart(12, "0")}`,
      number: i + 1,
      type: "shipment.updated" as const,
      data: {},
      actor: null,
      createdAt: new Date(),
    }));
  const events = Array.from({ length: shipments }, (_, shipment) => ofShipment(shipment)).flat();
  await service.app.em.fork().transactional((tx) => insertEvents(tx, workspace, events));
}

test("events of one shipment are sent one after the other, in their order, while others go on", async () => {
  let inFlight = 0;
  let most = 0;
  const { receiver, id } = await addReceiver(service, async (response) => {
    most = Math.max(most, ++inFlight);
    await sleep(Math.random() * 20);
    inFlight--;
    response.writeHead(204).end();
  });
  await writeEvents(id, 20, 6);
  await eventually("all messages", () => receiver.received.length === 120);
  const sent = Map.groupBy(receiver.received, ({ body }) => body.shipment as string);
  expect(sent.size).toBe(20);
  for (const messages of sent.values()) {
    expect(messages.map(({ body }) => body.number)).toEqual([1, 2, 3, 4, 5, 6]);
  }
  expect(most).toBeGreaterThan(4);
});

test("a receiver that hangs gets four messages at first, and delays none of another webhook", async () => {
  const hanging = await startReceiver(() => {});
  const receiver = await startReceiver();
  const { apiKey, id } = await service.addWorkspace();
  const { data: stuck } = await addWebhook(service, apiKey, { url: hanging.url });
  await addWebhook(service, apiKey, { url: receiver.url });
  await writeEvents(id, 300, 1);
  await eventually("all messages", () => receiver.received.length === 300);
  expect(hanging.received).toHaveLength(4);
  await service.as(apiKey).deleteWebhook({ webhook: stuck.id });
});

/** Waits until so many deliveries of a webhook have succeeded; gives the ids of what was sent. */
async function untilDelivered({ receiver, webhook }: Receiving, count: number): Promise<string[]> {
  const client = await connectTo(service.databaseUrl);
  const delivered = "select from webhook_delivery where webhook_id = $1 and status = 'delivered'";
  await eventually("the end of all deliveries", async () => {
    return (await client.query(delivered, [webhook.id])).rowCount === count;
  });
  return receiver.received.map(({ headers }) => headers["webhook-id"] as string);
}

type Receiving = Pick<Awaited<ReturnType<typeof addReceiver>>, "receiver" | "webhook">;

test("lost database connections lose no delivery, and have none sent twice", async () => {
  const receiving = await addReceiver(service);
  await writeEvents(receiving.id, 300, 1);
  const client = await connectTo(service.databaseUrl);
  for (const count of [1, 100, 200]) {
    await eventually(`message ${count}`, () => receiving.receiver.received.length >= count);
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
  }
  const ids = await untilDelivered(receiving, 300);
  expect([ids.length, new Set(ids).size]).toEqual([300, 300]);
});

test("two replicas deliver each webhook message once", async () => {
  const both = [service, await startReplica(service.databaseUrl)];
  const receiving = await addReceiver(service);
  const expected: string[] = [];
  for (let i = 0; i < 10; i++) {
    const booking = Array.from({ length: 6 }, (_, j) => book(both[j % 2]!, receiving.apiKey));
    for (const { reference } of await Promise.all(booking)) expected.push(`evt_${reference}_1`);
  }
  const ids = await untilDelivered(receiving, expected.length);
  expect(ids.toSorted()).toEqual(expected.toSorted());
});

test("a process that is killed at random loses no webhook event, and sends none that was rolled back", async () => {
  const receiving = await addReceiver(service);
  for (let round = 0; round < 3; round++) {
    // This service takes over the deliveries of the others, which are killed under load.
    const doomed = await startServiceProcess({
      DATABASE_URL: service.databaseUrl,
      WEBHOOK_ALLOW_LOOPBACK_HTTP: "true",
    });
    await doomed.untilReady();
    let booked = 0;
    const { createShipment } = doomed.as(receiving.apiKey);
    const calling = Array.from({ length: 8 }, async () => {
      for (;;) {
        const answer = await createShipment(BOOKING).catch(() => undefined);
        if (answer === undefined) return;
        if (answer.status === 201) booked += 1;
      }
    });
    // The first booking of a new process can be slow.
    await eventually("some bookings", () => booked > 10 + Math.random() * 100);
    doomed.process.kill("SIGKILL");
    await doomed.ended;
    await Promise.all(calling);
  }
  const client = await connectTo(service.databaseUrl);
  const idsOf = async (sql: string): Promise<string[]> =>
    (await client.query(sql, [receiving.id])).rows.map(({ id }) => id);
  const booked = await idsOf(
    "select 'evt_' || reference || '_1' as id from shipment where workspace_id = $1",
  );
  const written = await idsOf(
    "select 'evt_' || subject || '_' || number as id from event where workspace_id = $1",
  );
  expect(written.toSorted()).toEqual(booked.toSorted());
  const sent = await untilDelivered(receiving, booked.length);
  expect(new Set(sent)).toEqual(new Set(booked));
});

test("what a killed process was sending is sent by another one", async () => {
  const database = await createDatabase();
  // The process that is killed waits for an answer; the next one gets it.
  const receiver = await startReceiver((response, count) => {
    if (count > 1) response.writeHead(204).end();
  });
  const first = await startReplica(database.url);
  const { apiKey } = await first.addWorkspace();
  const { data: webhook } = await addWebhook(first, apiKey, { url: receiver.url });
  await first.close();

  const doomed = await startServiceProcess({
    DATABASE_URL: database.url,
    WEBHOOK_ALLOW_LOOPBACK_HTTP: "true",
  });
  await doomed.untilReady();
  const { reference } = await book(doomed, apiKey);
  await eventually("the first message", () => receiver.received.length === 1);
  doomed.process.kill("SIGKILL");
  await doomed.ended;

  const survivor = await startReplica(database.url);
  await eventually("the second message", () => receiver.received.length === 2);
  const id = `evt_${reference}_1`;
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
  const delivered = await untilAttempted(survivor, apiKey, webhook.id, 1);
  expect(delivered).toMatchObject({ event: id, status: "delivered", attempts: 1 });
});
