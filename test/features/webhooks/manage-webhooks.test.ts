import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { book } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startService } from "../../support/service.ts";
import { addWebhook, deliveriesOf, untilAttempted } from "../../support/webhooks.ts";

const service = await startService({ outside: { resolve: async () => [] } });

const URL_A = "https://hooks.example/a";

test("a webhook is answered 201 with its secret, which is never shown again", async () => {
  const { apiKey } = await service.addWorkspace();
  const body = { url: URL_A, types: ["shipment.paid", "shipment.paid"] };
  const created = await service.request("/v1/webhooks", { apiKey, body });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    data: {
      id: expect.stringMatching(/^wh_[0-9a-f]{24}$/),
      url: URL_A,
      types: ["shipment.paid"],
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      created_at: expect.any(String),
      updated_at: created.body.data.created_at,
    },
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const { data } = created.body;
  const got = await service.request(`/v1/webhooks/${data.id}`, { apiKey });
  expect([got.status, got.body]).toEqual([200, { data }]);
  const listed = await service.request("/v1/webhooks", { apiKey });
  expect(listed.body).toEqual({ data: [data], next_page_token: "" });
});

test("a webhook without types takes all of them", async () => {
  const { apiKey } = await service.addWorkspace();
  expect((await addWebhook(service, apiKey, { url: URL_A })).data.types).toEqual(["*"]);
});

test("an invalid webhook is refused by field", async () => {
  const { apiKey } = await service.addWorkspace();
  const keysOf = async (body: object) => {
    const answer = await service.request("/v1/webhooks", { apiKey, body });
    return [answer.status, Object.keys(answer.body.errors)];
  };
  expect(await keysOf({})).toEqual([422, ["url"]]);
  expect(await keysOf({ url: "https://10.0.0.1/" })).toEqual([422, ["url"]]);
  expect(await keysOf({ url: URL_A, types: ["nothing"] })).toEqual([422, ["types[0]"]]);
  expect(await keysOf({ url: `https://a.example/${"a".repeat(2_000)}` })).toEqual([422, ["url"]]);
});

test("a webhook's URL is stored as it is parsed, so that what is shown is where events go", async () => {
  const { apiKey } = await service.addWorkspace();
  const { data } = await addWebhook(service, apiKey, { url: "https://HOOKS.example\\a b" });
  expect(data.url).toBe("https://hooks.example/a%20b");
  const path = `/v1/webhooks/${data.id}`;
  const update = (url: string) => service.request(path, { apiKey, method: "PATCH", body: { url } });
  const moved = await update("https://hooks.example:443/x/../b");
  expect(moved.body.data.url).toBe("https://hooks.example/b");
  const text = "url must not hold control characters.";
  const refused = await update("https://hooks.example/a\tb");
  expect([refused.status, refused.body]).toEqual([422, errorBody(text, "url")]);
  expect((await service.request(path, { apiKey })).body).toEqual({ data: moved.body.data });
});

test("an update of a webhook changes the given fields and leaves the rest", async () => {
  const { apiKey } = await service.addWorkspace();
  const { data } = await addWebhook(service, apiKey, { url: URL_A, types: ["shipment.paid"] });
  const update = async (body: object) => {
    const path = `/v1/webhooks/${data.id}`;
    return (await service.request(path, { apiKey, method: "PATCH", body })).body.data;
  };
  const updated_at = expect.any(String);
  const moved = { ...data, url: "https://hooks.example/b", updated_at };
  expect(await update({ url: "https://hooks.example/b" })).toEqual(moved);
  expect(await update({ types: ["*"] })).toEqual({ ...moved, types: ["*"] });
  const disabled = { ...moved, types: ["*"], enabled: false, disabled_reason: "request" };
  expect(await update({ enabled: false })).toEqual(disabled);
  expect(await update({})).toEqual(disabled);
  expect(await update({ enabled: true })).toEqual({ ...moved, types: ["*"] });
});

test("nothing is sent to a disabled webhook, not even a redelivery or a test", async () => {
  const { apiKey } = await service.addWorkspace();
  const { data } = await addWebhook(service, apiKey, { url: URL_A });
  const path = `/v1/webhooks/${data.id}`;
  await service.request(path, { apiKey, method: "PATCH", body: { enabled: false } });
  const { reference } = await book(service, apiKey);
  expect(await deliveriesOf(service, apiKey, data.id)).toEqual([]);
  const text = "The webhook is disabled; enable it first.";
  for (const [what, body] of [
    ["test", {}],
    ["deliveries", { event: `evt_${reference}_1` }],
  ] as const) {
    const refused = await service.request(`${path}/${what}`, { apiKey, body });
    expect([refused.status, refused.body]).toEqual([422, errorBody(text, "webhook")]);
  }
});

test("a deleted webhook is gone with its deliveries", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const { data } = await addWebhook(service, apiKey, { url: URL_A });
  await book(service, apiKey);
  await untilAttempted(service, apiKey, data.id, 1);
  const path = `/v1/webhooks/${data.id}`;
  const deleted = await service.request(path, { apiKey, method: "DELETE" });
  expect([deleted.status, deleted.body]).toEqual([200, {}]);
  expect((await service.request(path, { apiKey })).status).toBe(404);
  const left = await service.app.em.execute(
    "select from webhook_delivery where workspace_id = ? union all select from webhook_attempt where workspace_id = ?",
    [id, id],
  );
  expect(left).toEqual([]);
});

test("a webhook with many deliveries is disabled, and they are deleted in batches, before it is", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const { data } = await addWebhook(service, apiKey, { url: URL_A });
  const sql = await connectTo(service.databaseUrl);
  const { rows } = await sql.query(
    `insert into webhook_delivery
       (workspace_id, webhook_id, subject, number, type, status, created_at, ended_at)
     select $1, $2, 's', i, 'shipment.created', 'failed', now(), now() from generate_series(1, 1500) i
     returning id`,
    [id, data.id],
  );
  const last = rows
    .map((row) => Number(row.id))
    .toSorted((a, b) => a - b)
    .at(-1);
  const count = async () =>
    (await sql.query("select count(*)::int from webhook_delivery where workspace_id = $1", [id]))
      .rows[0].count;
  const holder = await connectTo(service.databaseUrl);
  await holder.query("begin");
  const hold = "select from webhook_delivery where workspace_id = $1 and id = $2 for update";
  await holder.query(hold, [id, last]);
  const path = `/v1/webhooks/${data.id}`;
  const deleting = service.request(path, { apiKey, method: "DELETE" });
  await eventually("the first batch to be gone", async () => (await count()) === 500);
  const { body } = await service.request(path, { apiKey });
  await holder.query("commit");
  expect(body.data.disabled_reason).toBe("request");
  expect((await deleting).status).toBe(200);
  expect(await count()).toBe(0);
  expect((await service.request(path, { apiKey })).status).toBe(404);
});

test("an event that is redelivered while the webhook is deleted is refused or gone with it", async () => {
  const { apiKey } = await service.addWorkspace();
  const { reference } = await book(service, apiKey);
  const body = { event: `evt_${reference}_1` };
  for (let i = 0; i < 10; i++) {
    const { data } = await addWebhook(service, apiKey, { url: URL_A });
    const path = `/v1/webhooks/${data.id}`;
    const [deleted, redelivered] = await Promise.all([
      service.request(path, { apiKey, method: "DELETE" }),
      service.request(`${path}/deliveries`, { apiKey, body }),
    ]);
    expect(deleted.status).toBe(200);
    expect([201, 404], redelivered.text).toContain(redelivered.status);
  }
});

test("a workspace has at most 20 webhooks, however many are added concurrently", async () => {
  const { apiKey } = await service.addWorkspace();
  const adding = Array.from({ length: 25 }, () =>
    service.request("/v1/webhooks", { apiKey, body: { url: URL_A } }),
  );
  const answers = await Promise.all(adding);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  const text = "The workspace has 20 webhooks, and no more fit.";
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused.map(({ body }) => body)).toEqual(Array(5).fill(errorBody(text, "webhook")));
});

test("another workspace's webhook is indistinguishable from a missing one, by every method", async () => {
  const owner = await service.addWorkspace();
  const { apiKey } = await service.addWorkspace();
  const { data } = await addWebhook(service, owner.apiKey, { url: URL_A });
  const { reference } = await book(service, owner.apiKey);
  await untilAttempted(service, owner.apiKey, data.id, 1);
  const [delivery] = await deliveriesOf(service, owner.apiKey, data.id);
  const event = `evt_${reference}_1`;
  const calls = [
    ["GET", ""],
    ["PATCH", "", { enabled: false }],
    ["DELETE", ""],
    ["POST", "/rotate_secret", {}],
    ["POST", "/test", {}],
    ["POST", "/deliveries", { event }],
    ["GET", "/deliveries"],
    ["GET", `/deliveries/${delivery.id}/attempts`],
  ] as const;
  const headers = { "x-request-id": "the-same" };
  for (const [method, path, body] of calls) {
    const [foreign, missing] = await Promise.all(
      [data.id, "wh_nothing"].map((id) =>
        service.request(`/v1/webhooks/${id}${path}`, { apiKey, method, body, headers }),
      ),
    );
    expect([method, path, foreign!.status]).toEqual([method, path, 404]);
    expect(foreign!.text).toBe(missing!.text);
  }
  const still = await service.request(`/v1/webhooks/${data.id}`, { apiKey: owner.apiKey });
  expect(still.body.data.enabled).toBe(true);
});

test("deliveries are listed page by page, and by status", async () => {
  const { apiKey } = await service.addWorkspace();
  const { data } = await addWebhook(service, apiKey, { url: URL_A });
  for (let i = 0; i < 3; i++) await book(service, apiKey);
  const all = await deliveriesOf(service, apiKey, data.id);
  expect(all).toHaveLength(3);
  const path = `/v1/webhooks/${data.id}/deliveries?page_size=2`;
  const first = (await service.request(path, { apiKey })).body;
  const token = first.next_page_token;
  const second = (await service.request(`${path}&page_token=${token}`, { apiKey })).body;
  const ids = [...first.data, ...second.data].map((it: any) => it.id);
  expect(ids).toEqual(all.map((it) => it.id));
  expect(second.next_page_token).toBe("");
  const delivered = await service.request(`${path}&status=delivered`, { apiKey });
  expect(delivered.body).toEqual({ data: [], next_page_token: "" });
  const otherFilter = await service.request(`${path}&status=pending&page_token=${token}`, {
    apiKey,
  });
  expect([otherFilter.status, Object.keys(otherFilter.body.errors)]).toEqual([422, ["page_token"]]);
  const none = await service.request(`/v1/webhooks/${data.id}/deliveries/999999/attempts`, {
    apiKey,
  });
  expect([none.status, none.body.message]).toEqual([404, "There is no such delivery."]);
});

test("webhooks can be added, tested, inspected, rotated and removed by gRPC", async () => {
  const receiving = await startService();
  const receiver = await startReceiver();
  const { apiKey } = await receiving.addWorkspace();
  const webhooks = receiving.grpcClient(apiKey, WebhookService);
  const { data, secret } = await webhooks.createWebhook({ url: receiver.url });
  const webhook = data!.id;
  const tested = await webhooks.testWebhook({ webhook });
  await eventually("the first message", () => receiver.received.length === 1);
  const delivery = tested.data!.id;
  await eventually("the attempt", async () => {
    const { data: attempts } = await webhooks.listWebhookAttempts({ webhook, delivery });
    return attempts[0]?.status === 204;
  });
  await book(receiving, apiKey);
  await eventually("the second message", () => receiver.received.length === 2);
  expect((await webhooks.listWebhookDeliveries({ webhook })).data).toHaveLength(2);
  expect((await webhooks.rotateWebhookSecret({ webhook })).secret).not.toBe(secret);
  expect((await webhooks.updateWebhook({ webhook, enabled: false })).data?.enabled).toBe(false);
  expect((await webhooks.listWebhooks({})).data).toHaveLength(1);
  await webhooks.deleteWebhook({ webhook });
  const error = ConnectError.from(await webhooks.getWebhook({ webhook }).catch((it) => it));
  expect(error.code).toBe(Code.NotFound);
});
