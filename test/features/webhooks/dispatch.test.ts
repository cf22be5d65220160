import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { insertEvents } from "../../../src/features/events/insert-events.ts";
import { book } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startReplica, startService } from "../../support/service.ts";
import { connectTo } from "../../support/database.ts";
import { addReceiver, addWebhook, untilDelivered } from "../../support/webhooks.ts";

const service = await startService();

/** Writes events for several shipments in one transaction. */
async function writeEvents(workspace: number, shipments: number, each: number): Promise<void> {
  const ofShipment = (shipment: number) =>
    Array.from({ length: each }, (_, i) => ({
      subject: `SHP-${String(shipment + 1).padStart(12, "0")}`,
      number: i + 1,
      type: "shipment.updated" as const,
      data: {},
      actor: null,
      apiKey: null,
      courier: null,
      createdAt: new Date(),
    }));
  const events = Array.from({ length: shipments }, (_, shipment) => ofShipment(shipment)).flat();
  await service.app.em.fork().transactional((tx) => insertEvents(tx, workspace, events));
}

test("sends events of one shipment one at a time in order, concurrently with those of others", async () => {
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

test("a receiver that does not respond gets four messages at first, and delays no other webhook", async () => {
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

test("lost database connections neither lose nor repeat a delivery", async () => {
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
  const ids = await untilDelivered(service, receiving, 300);
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
  const ids = await untilDelivered(service, receiving, expected.length);
  expect(ids.toSorted()).toEqual(expected.toSorted());
});
