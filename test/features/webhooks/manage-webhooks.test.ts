import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME, book } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startService } from "../../support/service.ts";
import { addWebhook, deliveriesOf, untilAttempted } from "../../support/webhooks.ts";

const service = await startService({ outside: { resolve: async () => [] } });

const URL_A = "https://hooks.example/a";

/** Creates a workspace with a webhook. Also returns the workspace's calls. */
async function addOne() {
  const { id, apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const { data: made } = await addWebhook(service, apiKey, { url: URL_A });
  return { id, apiKey, as, made, webhook: made.id as string };
}

test("a new webhook is returned with its secret, which is never shown again", async () => {
  const { apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const types = ["shipment.paid", "shipment.paid"];
  const { status, body } = await as.createWebhook({ url: URL_A, types });
  expect([status, body]).toEqual([
    201,
    {
      data: {
        id: expect.stringMatching(/^wh_[0-9a-f]{24}$/),
        url: URL_A,
        types: ["shipment.paid"],
        enabled: true,
        disabled_reason: null,
        failing_since: null,
        created_at: ANY_TIME,
        updated_at: body.data.created_at,
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    },
  ]);
  expect(await data(as.getWebhook({ webhook: body.data.id }))).toEqual(body.data);
  expect((await as.listWebhooks()).body).toEqual({ data: [body.data], next_page_token: "" });
});

test.each([
  [{}, "url"],
  [{ url: "https://10.0.0.1/" }, "url"],
  [{ url: "https://hooks.example/a\tb" }, "url"],
  [{ url: `https://a.example/${"a".repeat(2_000)}` }, "url"],
  [{ url: URL_A, types: ["nothing"] }, "types[0]"],
])("rejects a webhook with %j as an error of %s", async (fields, field) => {
  const { apiKey } = await service.addWorkspace();
  const { body } = await service.as(apiKey).createWebhook(fields);
  expect(Object.keys(body.errors)).toEqual([field]);
});

test("stores a webhook's URL in normalized form, as it will be called", async () => {
  const { as, webhook } = await addOne();
  for (const [url, parsed] of [
    ["https://HOOKS.example\\a b", "https://hooks.example/a%20b"],
    ["https://hooks.example:443/x/../b", "https://hooks.example/b"],
  ] as const) {
    expect((await data(as.updateWebhook({ webhook, url }))).url).toBe(parsed);
  }
  const refused = as.updateWebhook({ webhook, url: "https://hooks.example/a\tb" });
  const text = "url must not contain control characters.";
  await expectRefused(refused, "FIELD_INVALID", { url: text });
  expect((await data(as.getWebhook({ webhook }))).url).toBe("https://hooks.example/b");
});

test("an update of a webhook changes the given fields and leaves the rest", async () => {
  const { as, webhook, made } = await addOne();
  // Webhooks receive all event types by default.
  expect(made.types).toEqual(["*"]);
  const update = (fields: object) => data(as.updateWebhook({ webhook, ...fields }));
  const moved = { ...made, url: "https://hooks.example/b", updated_at: ANY_TIME };
  expect(await update({ url: moved.url })).toEqual(moved);
  const types = ["shipment.paid"];
  expect(await update({ types })).toEqual({ ...moved, types });
  const disabled = { ...moved, types, enabled: false, disabled_reason: "request" };
  expect(await update({ enabled: false })).toEqual(disabled);
  expect(await update({})).toEqual(disabled);
  expect(await update({ enabled: true })).toEqual({ ...moved, types });
});

test("sends nothing to a disabled webhook, not even a redelivery or a test", async () => {
  const { apiKey, as, webhook } = await addOne();
  await as.updateWebhook({ webhook, enabled: false });
  const { reference } = await book(service, apiKey);
  expect(await deliveriesOf(service, apiKey, webhook)).toEqual([]);
  await expectRefused(as.testWebhook({ webhook }), "WEBHOOK_DISABLED");
  const again = as.redeliverEvent({ webhook, event: `evt_${reference}_1` });
  await expectRefused(again, "WEBHOOK_DISABLED");
});

test("a webhook with many deliveries is disabled, and its deliveries are deleted in batches, before it is deleted", async () => {
  const { id, apiKey, as, webhook } = await addOne();
  await book(service, apiKey);
  await untilAttempted(service, apiKey, webhook, 1);
  const sql = await connectTo(service.databaseUrl);
  const { rows } = await sql.query(
    `insert into webhook_delivery
       (workspace_id, webhook_id, subject, number, type, status, created_at, ended_at)
     select $1, $2, 's', i, 'shipment.created', 'failed', now(), now() from generate_series(1, 1499) i
     returning id`,
    [id, webhook],
  );
  const last = Math.max(...rows.map((row) => Number(row.id)));
  const count = async (table: string) =>
    (await sql.query(`select count(*)::int from ${table} where workspace_id = $1`, [id])).rows[0].count;
  const holder = await connectTo(service.databaseUrl);
  await holder.query("begin");
  const hold = "select from webhook_delivery where workspace_id = $1 and id = $2 for update";
  await holder.query(hold, [id, last]);
  const deleting = as.deleteWebhook({ webhook });
  await eventually("the first batch", async () => (await count("webhook_delivery")) === 500);
  const found = await data(as.getWebhook({ webhook }));
  await holder.query("commit");
  expect(found.disabled_reason).toBe("request");
  expect((await deleting).body).toEqual({});
  expect([await count("webhook_delivery"), await count("webhook_attempt")]).toEqual([0, 0]);
  await expectRefused(as.getWebhook({ webhook }), "WEBHOOK_NOT_FOUND");
});

test("a redelivery concurrent with the webhook's deletion is rejected or deleted", async () => {
  const { apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const { reference } = await book(service, apiKey);
  for (let i = 0; i < 10; i++) {
    const { id: webhook } = (await addWebhook(service, apiKey, { url: URL_A })).data;
    const [deleted, redelivered] = await Promise.all([
      as.deleteWebhook({ webhook }),
      as.redeliverEvent({ webhook, event: `evt_${reference}_1` }),
    ]);
    expect(deleted.status).toBe(200);
    expect([201, 404], redelivered.text).toContain(redelivered.status);
  }
});

test("lists deliveries page by page and by status", async () => {
  const { apiKey, as, webhook } = await addOne();
  for (let i = 0; i < 3; i++) await book(service, apiKey);
  const all = await deliveriesOf(service, apiKey, webhook);
  expect(all).toHaveLength(3);
  const filters = { webhook, page_size: 2 };
  const first = (await as.listWebhookDeliveries(filters)).body;
  const { next_page_token: page_token } = first;
  const second = (await as.listWebhookDeliveries({ ...filters, page_token })).body;
  const ids = [...first.data, ...second.data].map((it: any) => it.id);
  expect([ids, second.next_page_token]).toEqual([all.map((it) => it.id), ""]);
  expect(await data(as.listWebhookDeliveries({ ...filters, status: "delivered" }))).toEqual([]);
  const otherFilter = await as.listWebhookDeliveries({ webhook, status: "pending", page_token });
  expect(Object.keys(otherFilter.body.errors)).toEqual(["page_token"]);
  const attempts = as.listWebhookAttempts({ webhook, delivery: 999_999 });
  await expectRefused(attempts, "DELIVERY_NOT_FOUND");
});

test("figures count all and failed attempts of the newest 500 deliveries of 7 days", async () => {
  const { id, as, webhook } = await addOne();
  const { data: second } = await as.createWebhook({ url: URL_A }).then(({ body }) => body);
  const sql = await connectTo(service.databaseUrl);
  const insert = (age: string, count: number, attempts: number, status: string) =>
    sql.query(
      `insert into webhook_delivery (workspace_id, webhook_id, subject, number, type, status,
         attempts, next_attempt_at, created_at, ended_at)
       select $1, $2, 'SHP-000000000000', 1, 'shipment.created', $3, $4,
         case when $3 = 'pending' then now() + interval '1 day' end, now() - $5::interval,
         case when $3 <> 'pending' then now() end
       from generate_series(1, $6::int)`,
      [id, webhook, status, attempts, age, count],
    );
  const figures = async () => (await as.listWebhookFigures()).body;
  const none = { webhook: second.id, attempts: 0, failed_attempts: 0 };
  await insert("8 days", 3, 1, "delivered");
  expect(await figures()).toEqual({
    data: [{ webhook, attempts: 0, failed_attempts: 0 }, none],
    next_page_token: "",
  });
  await insert("6 days", 2, 10, "failed");
  await insert("6 days", 1, 3, "delivered");
  await insert("0 days", 1, 2, "pending");
  await insert("0 days", 1, 0, "pending");
  expect(await figures()).toEqual({
    data: [{ webhook, attempts: 25, failed_attempts: 24 }, none],
    next_page_token: "",
  });
  await insert("0 days", 500, 1, "delivered");
  expect((await figures()).data[0]).toEqual({ webhook, attempts: 500, failed_attempts: 0 });
});
