import { expect, test } from "vitest";
import {
  GetAttentionResponseSchema,
  WorkspaceService,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { NO_PAYMENT_DETAILS } from "../../../src/domain/shipment/payment-details.ts";
import { ANY_TIME, bookAnd, type ShipmentJson, takeStep } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { eventually } from "../../support/eventually.ts";
import { startUnprepared } from "../../support/service.ts";
import { connectTo, createDatabase } from "../../support/database.ts";
import { type Bulk, insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { makeWorkspace, setPaymentProvider } from "../../support/platform.ts";
import { bookCheckout, startStripeService, untilShipment } from "../../support/stripe-service.ts";
import { addWebhook } from "../../support/webhooks.ts";

const setup = await startStripeService();
const { service, stripe } = setup;
const { em } = service.app;

/** What needs attention, the same by JSON and by gRPC. */
async function attentionOf(apiKey: string) {
  const { status, body } = await service.request("/v1/attention", { apiKey });
  const byGrpc = await service.grpcClient(apiKey, WorkspaceService).getAttention({});
  expect({ status, body }).toEqual({
    status: 200,
    body: inDialect(GetAttentionResponseSchema, byGrpc),
  });
  return body.data;
}

const NOTHING = { name: null, at: null, reason: null };

test("what stops bookings comes first, and a workspace that needs nothing has an empty list", async () => {
  const { id, apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  expect(await attentionOf(apiKey)).toEqual([{ kind: "payment_provider", count: 1, subjects: [] }]);
  await setPaymentProvider(em, id, "manual");
  expect(await attentionOf(apiKey)).toEqual([]);
  const bare = await startUnprepared((await createDatabase()).url);
  await bare.app.prepare();
  const poor = await makeWorkspace(bare.app.em, { name: "Poor", paymentProvider: undefined });
  const { body } = await bare.request("/v1/attention", { apiKey: poor.apiKey });
  expect(body.data.map(({ kind }: { kind: string }) => kind)).toEqual([
    "tariff",
    "payment_provider",
  ]);
});

test("refunds that nobody but the workspace makes are due until they are recorded", async () => {
  const { apiKey } = await service.addWorkspace();
  await bookAnd(service, apiKey, ["cancel"]);
  await bookAnd(service, apiKey, ["pay", "cancel", "refund"]);
  const first = await bookAnd(service, apiKey, ["pay", "cancel"]);
  setup.clock.ms += 1_000;
  const second = await bookAnd(service, apiKey, ["pay", "cancel"]);
  const due = (shipment: Record<string, unknown>) => ({
    ...NOTHING,
    id: shipment["reference"],
    at: shipment["cancelled_at"],
  });
  expect(await attentionOf(apiKey)).toEqual([
    { kind: "refund_due", count: 2, subjects: [due(first), due(second)] },
  ]);
  for (let i = 0; i < 9; i++) await bookAnd(service, apiKey, ["pay", "cancel"]);
  const [many] = await attentionOf(apiKey);
  expect([many.count, many.subjects.length, many.subjects[0]]).toEqual([11, 10, due(first)]);
});

test("refunds are the provider's to make until they fail, and disputes wait for the workspace", async () => {
  const workspace = await setup.connect();
  const { apiKey, account } = workspace;
  const bookPaid = async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    stripe.pay(session);
    await takeStep(service, apiKey, reference, "pay");
    return { reference, session };
  };
  const cancel = async (reference: string) =>
    (await takeStep(service, apiKey, reference, "cancel")).body.data;
  const [pending, failed, disputed] = [await bookPaid(), await bookPaid(), await bookPaid()];
  stripe.refundsBecome(account, "pending");
  await cancel(pending.reference);
  await eventually(
    "the refund to be asked for",
    async () => stripe.books(account).refunds.size > 0,
  );
  expect(await attentionOf(apiKey)).toEqual([]);
  stripe.refundsBecome(account, "failed");
  const { cancelled_at } = await cancel(failed.reference);
  stripe.openDispute(disputed.session);
  await stripe.deliverNotices();
  const details = { dispute: "open" };
  await untilShipment(service, apiKey, disputed.reference, { payment_details: details });
  await eventually("both to need attention", async () => {
    const { body } = await service.request("/v1/attention", { apiKey });
    return body.data.length === 2;
  });
  expect(await attentionOf(apiKey)).toEqual([
    {
      kind: "refund_failed",
      count: 1,
      subjects: [
        {
          id: failed.reference,
          name: null,
          at: cancelled_at,
          reason: expect.stringMatching(/^The refund failed: /),
        },
      ],
    },
    { kind: "dispute_open", count: 1, subjects: [{ ...NOTHING, id: disputed.reference }] },
  ]);
});

test("what failed for the workspace is not hidden behind the many who did not pay", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const sql = await connectTo(service.databaseUrl);
  const customer = String(await insertCustomers(sql, id, 1));
  const detail = (given: object) =>
    `'${JSON.stringify({ ...NO_PAYMENT_DETAILS, ...given })}'::jsonb`;
  const bulk = (paymentDetails: string, more: Partial<Bulk>) =>
    insertShipments(sql, { workspace: id, customer, count: 1, paymentDetails, ...more });
  const before = "timestamptz '2026-01-01' + i * interval '1 minute'";
  const delivered = { status: "'delivered'", paymentStatus: "'paid'", createdAt: before };
  const disputed = await bulk(detail({ dispute: "open" }), { ...delivered, count: 2, salt: "d" });
  await bulk(detail({ error: "Declined." }), { count: 1_100, salt: "declined" });
  expect(await attentionOf(apiKey)).toEqual([
    {
      kind: "dispute_open",
      count: 2,
      subjects: disputed.map((reference) => ({ ...NOTHING, id: reference })),
    },
  ]);
  const { body } = await service.request("/v1/shipments?failed=true&order_by=created_at", {
    apiKey,
  });
  expect(body.data.slice(0, 2).map((it: ShipmentJson) => it["reference"])).toEqual(disputed);
});

test("webhooks that fail or were given up need attention, one that was disabled does not", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const add = async (path: string) =>
    (await addWebhook(service, apiKey, { url: `https://example.org/${path}` })).data;
  const [well, off, gone, failing] = [
    await add("well"),
    await add("off"),
    await add("gone"),
    await add("failing"),
  ];
  const set = (columns: string, webhook: { id: string }) =>
    em.execute(`update webhook set ${columns} where workspace_id = ? and id = ?`, [id, webhook.id]);
  await set("disabled_reason = 'request', failing_since = now()", off);
  await set("disabled_reason = 'gone'", gone);
  await set("failing_since = '2026-11-20T08:00:00Z'", failing);
  expect(well.enabled).toBe(true);
  expect(await attentionOf(apiKey)).toEqual([
    {
      kind: "webhook_disabled",
      count: 1,
      subjects: [{ ...NOTHING, id: gone.id, name: gone.url }],
    },
    {
      kind: "webhook_failing",
      count: 1,
      subjects: [{ ...NOTHING, id: failing.id, name: failing.url, at: "2026-11-20T08:00:00.000Z" }],
    },
  ]);
});

test("keys that end are named, the next to end first", async () => {
  const { apiKey } = await service.addWorkspace();
  const create = async (name: string) =>
    (await service.request("/v1/api_keys", { apiKey, body: { name } })).body.data.id as string;
  const [late, soon] = [await create("Late"), await create("Soon")];
  for (const [key, overlap_seconds] of [
    [late, 600_000],
    [soon, 3_600],
  ] as const) {
    const body = { overlap_seconds };
    const rotated = await service.request(`/v1/api_keys/${key}/rotate`, { apiKey, body });
    expect(rotated.status, rotated.text).toBe(200);
  }
  expect(await attentionOf(apiKey)).toEqual([
    {
      kind: "api_key_ending",
      count: 2,
      subjects: [
        { ...NOTHING, id: soon, name: "Soon", at: ANY_TIME },
        { ...NOTHING, id: late, name: "Late", at: ANY_TIME },
      ],
    },
  ]);
});
