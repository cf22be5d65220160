import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { book, BOOKING } from "../../support/bookings.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { startReplica, type TestService } from "../../support/service.ts";
import { addWebhook } from "../../support/webhooks.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});

async function untilAllEnded(service: TestService): Promise<void> {
  const pending = "select from webhook_delivery where status = 'pending' limit 1";
  await eventually(
    "the end of all deliveries",
    async () => (await service.app.em.execute(pending)).length === 0,
  );
}

test("two replicas deliver each webhook message once", async () => {
  const receiver = await startReceiver();
  const services = [await startReplica(database.url), await startReplica(database.url)] as const;
  const { apiKey } = await services[0].addWorkspace();
  await addWebhook(services[0], apiKey, { url: receiver.url });
  const references: string[] = [];
  for (let i = 0; i < 10; i++) {
    const booked = await Promise.all(
      Array.from({ length: 6 }, (_, j) => book(services[j % 2]!, apiKey)),
    );
    references.push(...booked.map(({ reference }) => reference));
  }
  await untilAllEnded(services[0]);
  await sleep(200);
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids)).toEqual(new Set(references.map((reference) => `evt_${reference}_1`)));
  expect(ids).toHaveLength(references.length);
  await Promise.all(services.map((service) => service.close()));
});

test("a process that is killed at random loses no webhook event, and sends none that was rolled back", async () => {
  const receiver = await startReceiver();
  // Takes over the deliveries of the others, which are killed under load.
  const survivor = await startReplica(database.url);
  const { apiKey, id } = await survivor.addWorkspace();
  await addWebhook(survivor, apiKey, { url: receiver.url });

  for (let round = 0; round < 3; round++) {
    const doomed = await startServiceProcess({
      DATABASE_URL: database.url,
      WEBHOOK_ALLOW_LOOPBACK_HTTP: "true",
    });
    await doomed.untilReady();
    let booked = 0;
    const calling = Array.from({ length: 8 }, async () => {
      for (;;) {
        const answer = await fetch(`${doomed.httpUrl}/v1/shipments`, {
          method: "POST",
          headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
          body: JSON.stringify(BOOKING),
        }).catch(() => undefined);
        if (answer === undefined) return;
        if (answer.status === 201) booked += 1;
        await answer.text().catch(() => "");
      }
    });
    // The first booking of a new process can be slow.
    await eventually("the first booking", () => booked > 0);
    await sleep(200 + Math.random() * 300);
    doomed.process.kill("SIGKILL");
    await doomed.ended;
    await Promise.all(calling);
  }
  await untilAllEnded(survivor);

  const { em } = survivor.app;
  const [counts] = await em.execute(
    `select (select count(*)::int from shipment where workspace_id = ?) as shipments,
            (select count(*)::int from event where workspace_id = ?) as events,
            (select count(*)::int from webhook_delivery
             where workspace_id = ? and status = 'delivered') as delivered`,
    [id, id, id],
  );
  expect(counts!.shipments).toBeGreaterThan(0);
  expect(counts).toEqual({
    shipments: counts!.shipments,
    events: counts!.shipments,
    delivered: counts!.shipments,
  });
  const rows = await em.execute("select reference from shipment where workspace_id = ?", [id]);
  const happened = new Set(rows.map(({ reference }) => `evt_${reference}_1`));
  const received = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
  expect(received).toEqual(happened);
});
