import { expect, test } from "vitest";
import { purgeEvents } from "../../../src/features/events/purge-events.ts";
import { book, bookAnd } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService } from "../../support/service.ts";

const service = await startService();

/** Makes every event this many days older. */
async function age(days: number): Promise<void> {
  await service.app.em.execute("update event set created_at = now() - ?::interval", [`${days} days`]);
}

const feed = async (apiKey: string, after = ""): Promise<any> =>
  (await service.as(apiKey).listEvents({ page_size: 100, after })).body;

async function untilFeedHas(count: number, apiKey: string): Promise<any> {
  return eventually(`${count} events in the feed`, async () => {
    const body = await feed(apiKey);
    return body.data.length === count && body;
  });
}

test("deletes events older than the retention period, and a deleted event's cursor continues with the oldest one left", async () => {
  const { apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  await bookAnd(service, apiKey, ["pay", "advance"]);
  await book(service, other.apiKey);
  const old = await untilFeedHas(4, apiKey);
  await age(31);
  const kept = await book(service, apiKey);
  const all = await untilFeedHas(5, apiKey);

  await purgeEvents(service.app.em, 32);
  expect(await feed(apiKey)).toEqual(all);
  await purgeEvents(service.app.em, 30);
  expect((await feed(apiKey)).data).toEqual(all.data.slice(-1));
  expect(all.data.at(-1).shipment).toBe(kept.reference);
  expect((await feed(apiKey, old.cursor)).data).toEqual(all.data.slice(-1));
  expect((await feed(other.apiKey)).data).toEqual([]);
});

test("concurrent purges by several replicas delete more events than one batch", async () => {
  const { apiKey, id } = await service.addWorkspace();
  await service.app.em.execute(
    `insert into event (workspace_id, position, subject, number, type, data, created_at)
     select ?, n, 'SHP-0000000000ZZ', n, 'shipment.updated', '{}', now() - interval '9 days'
     from generate_series(1, 2500) as n`,
    [id],
  );
  await Promise.all([purgeEvents(service.app.em, 8), purgeEvents(service.app.em, 8)]);
  expect((await feed(apiKey)).data).toEqual([]);
});

test("the service deletes old events only if a retention period is configured", async () => {
  const { apiKey } = await service.addWorkspace();
  await book(service, apiKey);
  await untilFeedHas(1, apiKey);
  await age(400);
  const keeping = await startReplica(service.databaseUrl);
  await keeping.close();
  expect((await feed(apiKey)).data).toHaveLength(1);
  await startReplica(service.databaseUrl, { eventRetentionDays: 365 });
  await eventually("the purge", async () => (await feed(apiKey)).data.length === 0);
});
