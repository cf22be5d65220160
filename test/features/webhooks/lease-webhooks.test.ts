import { beforeEach, expect, test } from "vitest";
import type { MikroORM } from "@mikro-orm/postgresql";
import { createWebhookLeases } from "../../../src/features/webhooks/lease-webhooks.ts";
import { createDatabase, openOrm } from "../../support/database.ts";

const QUOTA = { healthy: 10, failing: 10 };

let orm: MikroORM;
beforeEach(async () => {
  orm = openOrm((await createDatabase()).url);
  await orm.em.execute("insert into workspace (id, name, created_at) values (1, 'A', now()), (2, 'B', now())");
});

const leasesOf = (worker: string) => createWebhookLeases(orm.em.fork(), worker);

/** Adds a webhook with a delivery that became due some seconds ago. */
async function addDue(webhook: string, { workspace = 1, seconds = 1, failing = false } = {}) {
  await orm.em.execute(
    `insert into webhook (workspace_id, id, url, types, secrets, failing_since, created_at, updated_at)
     values (?, ?, 'https://example.org', '{*}', '[]', ?, now(), now())`,
    [workspace, webhook, failing ? new Date() : null],
  );
  await orm.em.execute(
    `insert into webhook_delivery
       (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
     values (?, ?, 'SHP-0123456789AB', 1, 'shipment.created', now(), now() - ? * interval '1 s')`,
    [workspace, webhook, seconds],
  );
  return { workspace, webhook };
}

test("one process leases the webhooks with due deliveries until it releases them", async () => {
  const [one, two] = [leasesOf("one"), leasesOf("two")];
  const due = [await addDue("wh_1"), await addDue("wh_2", { workspace: 2 })];
  await addDue("wh_3", { seconds: -60 });
  const taken = await Promise.all([one.acquire(undefined, QUOTA), two.acquire(undefined, QUOTA)]);
  expect(taken.flat().toSorted((a, b) => a.workspace - b.workspace)).toEqual(due);
  // Either process may have leased either webhook.
  const [first, second] = taken[0]!.length > 0 ? [one, two] : [two, one];
  expect(await second.acquire(undefined, QUOTA)).toEqual([]);
  // Repeats to show that released webhooks can be leased at once, at any fraction of a millisecond.
  for (let times = 0; times < 20; times++) {
    await Promise.all([first.release(due), second.release(due)]);
    expect(await second.acquire(undefined, QUOTA)).toEqual(due);
  }
});

test("a lease expires unless it is renewed, and cannot be renewed after another process has taken it", async () => {
  const [one, two] = [leasesOf("one"), leasesOf("two")];
  const due = await addDue("wh_1");
  expect(await one.acquire([1], QUOTA)).toEqual([due]);
  expect(await one.renew([due])).toEqual({ leased: [due], unknown: [] });
  expect(await two.acquire([1], QUOTA)).toEqual([]);
  const [lease] = await orm.em.execute(
    "select leased_until between now() and now() + interval '5 s' as ends from webhook_lease",
  );
  expect(lease).toEqual({ ends: true });
  await orm.em.execute("update webhook_lease set leased_until = now() - interval '1 s'");
  expect(await two.acquire([1], QUOTA)).toEqual([due]);
  expect(await one.renew([due])).toEqual({ leased: [], unknown: [] });
  await one.release([due]);
  expect(await two.renew([due])).toEqual({ leased: [due], unknown: [] });
});

test("leases only webhooks of the named workspaces", async () => {
  await addDue("wh_1");
  const due = await addDue("wh_2", { workspace: 2 });
  expect(await leasesOf("one").acquire([2], QUOTA)).toEqual([due]);
});

test("failing webhooks do not use the quota of healthy ones, and those waiting longest come first", async () => {
  await addDue("wh_1", { failing: true, seconds: 10 });
  const failing = await addDue("wh_2", { failing: true, seconds: 20 });
  await addDue("wh_3", { seconds: 1 });
  const healthy = await addDue("wh_4", { seconds: 5 });
  const taken = await leasesOf("one").acquire(undefined, { healthy: 1, failing: 1 });
  expect(taken).toEqual([failing, healthy]);
});

test("does not wait for a webhook that is being deleted", async () => {
  const deleted = await addDue("wh_1");
  const due = await addDue("wh_2");
  await orm.em.fork().transactional(async (tx) => {
    await tx.execute("select from webhook where workspace_id = ? and id = ? for update", [
      deleted.workspace,
      deleted.webhook,
    ]);
    expect(await leasesOf("one").acquire([1], QUOTA)).toEqual([due]);
  });
});
