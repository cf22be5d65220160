import { expect, test } from "vitest";
import {
  GetPlatformAttentionResponseSchema,
  PlatformReportService,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { createDatabase } from "../../support/database.ts";
import { inDialect } from "../../support/dialect.ts";
import { addOperator, startService, startUnprepared } from "../../support/service.ts";
import { addWebhook } from "../../support/webhooks.ts";

const NOW = new Date("2026-11-22T12:00:00.000Z");
const service = await startService({ now: () => NOW });
const { em } = service.app;
const { key } = await service.addOperator("viewer");

/** What operators have to do, the same by JSON and by gRPC. */
async function attention() {
  const { status, body } = await service.request("/admin/v1/attention", { apiKey: key });
  const byGrpc = await service.grpcClient(key, PlatformReportService).getPlatformAttention({});
  expect({ status, body }).toEqual({
    status: 200,
    body: inDialect(GetPlatformAttentionResponseSchema, byGrpc),
  });
  return body.data;
}

const NOTHING = { workspace: null, operator: null, owner: null, id: null, name: null, at: null };

const before = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000).toISOString();

test("a platform that needs nothing has an empty list, and one without a tariff that alone", async () => {
  expect(await attention()).toEqual([]);
  const bare = await startUnprepared((await createDatabase()).url);
  await bare.app.prepare();
  const { key: apiKey } = await addOperator(bare.app.em, "viewer");
  const { body } = await bare.request("/admin/v1/attention", { apiKey });
  expect(body.data).toEqual([{ kind: "tariff", count: 1, subjects: [] }]);
});

test("webhooks are an operator's matter after a day of failures, until 14 days, unless their owner disabled them", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const failing = async (path: string, hours: number, disabled: string | null = null) => {
    const webhook = (await addWebhook(service, apiKey, { url: `https://example.org/${path}` }))
      .data;
    await em.execute(
      "update webhook set failing_since = ?, disabled_reason = ? where workspace_id = ? and id = ?",
      [before(hours), disabled, id, webhook.id],
    );
    return {
      ...NOTHING,
      workspace: id,
      owner: "Test",
      id: webhook.id,
      name: webhook.url,
      at: before(hours),
    };
  };
  await failing("just-now", 23);
  const day = await failing("day", 25);
  const givenUp = await failing("given-up", 13 * 24, "failing");
  await failing("disabled", 48, "request");
  await failing("long-ago", 15 * 24, "failing");
  expect(await attention()).toEqual([
    { kind: "webhook_failing", count: 2, subjects: [givenUp, day] },
  ]);
  await em.execute("update webhook set failing_since = null");
});

test("a workspace whose provider stopped is named, its test twin and one that only begins are not", async () => {
  const [stopped, begun] = [await service.addWorkspace(), await service.addWorkspace()];
  const become = (workspace: number, state: string) =>
    em.execute(
      "update payment_connection set provider = 'stripe', state = ? where workspace_id = ?",
      [state, workspace],
    );
  await become(stopped.id, "restricted");
  await become(stopped.twin.id, "revoked");
  await become(begun.id, "onboarding");
  const expected = {
    kind: "payment_provider",
    count: 1,
    subjects: [{ ...NOTHING, workspace: stopped.id, owner: "Test" }],
  };
  expect(await attention()).toEqual([expected]);
  await become(stopped.id, "ready");
  expect(await attention()).toEqual([]);
});

test("mails that wait for five minutes are counted, with since when", async () => {
  await em.execute(
    `insert into mail (kind, state, email, created_at, next_attempt_at, attempts)
     values ('sign_in', 'waiting', 'a@example.org', ?, ?, 2), ('sign_in', 'waiting', 'b@example.org', ?, ?, 1),
       ('sign_in', 'sent', 'c@example.org', ?, ?, 1)`,
    [before(0.1), before(-9), before(0), before(-9), before(1), before(-9)],
  );
  expect(await attention()).toEqual([
    { kind: "mail_waiting", count: 2, subjects: [{ ...NOTHING, at: before(0.1) }] },
  ]);
  await em.execute("update mail set created_at = ?", [before(0.05)]);
  expect(await attention()).toEqual([]);
});

test("operators' keys that end are named, the next to end first", async () => {
  const [ann, bob] = [await service.addOperator(), await service.addOperator()];
  const until = (operator: { readonly id: number }, hours: number, name: string | null) =>
    em.execute("update operator_key set ends_at = ?, name = ? where operator_id = ?", [
      before(-hours),
      name,
      operator.id,
    ]);
  await until(ann, 13 * 24, "CI");
  await until(bob, 2, null);
  const subject = (operator: { readonly id: number }, hours: number, name: string | null) => ({
    ...NOTHING,
    operator: operator.id,
    owner: "Test owner",
    id: expect.stringMatching(/^key_/),
    name,
    at: before(-hours),
  });
  expect(await attention()).toEqual([
    {
      kind: "operator_key_ending",
      count: 2,
      subjects: [subject(bob, 2, null), subject(ann, 13 * 24, "CI")],
    },
  ]);
  await until(ann, 15 * 24, "CI");
  await until(bob, -1, null);
  expect(await attention()).toEqual([]);
});
