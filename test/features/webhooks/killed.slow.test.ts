import { expect, test } from "vitest";
import { book, BOOKING } from "../../support/bookings.ts";
import { connectTo, createDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { startReplica, startService } from "../../support/service.ts";
import { addReceiver, addWebhook, untilAttempted, untilDelivered } from "../../support/webhooks.ts";

test("a process that is killed at random loses no webhook event and sends none that was rolled back", async () => {
  const service = await startService();
  const receiving = await addReceiver(service);
  for (let round = 0; round < 3; round++) {
    // This service takes over the deliveries of the other processes, which are killed under load.
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
    // Waits for some bookings, because the first ones of a new process can be slow.
    await eventually("some bookings", () => booked > 10 + Math.random() * 100);
    doomed.process.kill("SIGKILL");
    await doomed.ended;
    await Promise.all(calling);
  }
  const client = await connectTo(service.databaseUrl);
  const idsOf = async (sql: string): Promise<string[]> =>
    (await client.query(sql, [receiving.id])).rows.map(({ id }) => id);
  const booked = await idsOf("select 'evt_' || reference || '_1' as id from shipment where workspace_id = $1");
  const written = await idsOf("select 'evt_' || subject || '_' || number as id from event where workspace_id = $1");
  expect(written.toSorted()).toEqual(booked.toSorted());
  const sent = await untilDelivered(service, receiving, booked.length);
  expect(new Set(sent)).toEqual(new Set(booked));
});

test("another process repeats the attempts of a killed process", async () => {
  const database = await createDatabase();
  // The killed process gets no response. The next process gets one.
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
