import { beforeEach, expect, test } from "vitest";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { data, expectRefused } from "../../support/answers.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME, book, COVERED_ROUTE } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { HURRIED, startReplica, startService, type TestWorkspace } from "../../support/service.ts";
import { addWebhook, hurry } from "../../support/webhooks.ts";
import { withoutHeartbeats } from "../../support/without-heartbeats.ts";

const MESSAGE = "The workspace is suspended: its calls are refused until an operator resumes it.";

const service = await startService({ outside: HURRIED });
const replica = await startReplica(service.databaseUrl, { outside: HURRIED });
const operator = service.as((await service.addOperator("operator")).key);

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await service.addWorkspace();
});

const suspend = () => data(operator.suspendWorkspace({ workspace: workspace.id }));
const resume = () => data(operator.resumeWorkspace({ workspace: workspace.id }));
const statuses = async (apiKey = workspace.apiKey) => {
  const calls = [service, replica].map((on) => on.as(apiKey).quoteShipment(COVERED_ROUTE));
  return (await Promise.all(calls)).map(({ status }) => status);
};
const untilAll = (status: number, apiKey?: string) =>
  eventually(`status ${status} on every replica`, async () => (await statuses(apiKey)).every((it) => it === status));

test("every replica soon rejects calls of a suspended workspace until it is resumed, without losing data", async () => {
  const shipment = await book(service, workspace.apiKey);
  expect(await statuses()).toEqual([200, 200]);
  const first = await suspend();
  expect(first.suspended_at).toEqual(ANY_TIME);
  expect(await suspend()).toEqual(first);
  await untilAll(403);
  const as = service.as(workspace.apiKey);
  await expectRefused(as.listShipments(), "WORKSPACE_SUSPENDED", MESSAGE);
  const created = as.createApiKey({ name: "mine" });
  await expectRefused(created, "WORKSPACE_SUSPENDED", MESSAGE);
  const resumed = await resume();
  expect(resumed).toEqual({ ...first, suspended_at: null });
  expect(await resume()).toEqual(resumed);
  await untilAll(200);
  expect(await data(as.listShipments())).toEqual([shipment]);
  // Each change is recorded once.
  const actions = (await auditEntriesOf(service, workspace.id)).map(({ action }) => action);
  expect(actions.slice(1)).toEqual(["SuspendWorkspace", "ResumeWorkspace"]);
});

test("a suspension takes effect even if its notification was lost", async () => {
  await untilAll(200);
  for (const change of [
    "update workspace set suspended_at = now() where id = ?",
    "update api_key set changed_at = now() where workspace_id = ?",
  ]) {
    await service.app.em.execute(change, [workspace.id]);
  }
  await untilAll(403);
});

test("a suspension applies to keys that were not used before it or that operators create", async () => {
  await suspend();
  expect(await statuses()).toEqual([403, 403]);
  const { body } = await operator.rotateWorkspaceApiKeys({ workspace: workspace.id });
  expect(await statuses(body.api_key)).toEqual([403, 403]);
  await resume();
  await untilAll(200, body.api_key);
});

test("a suspension applies to the workspace's members", async () => {
  const { id, apiKey } = workspace;
  const member = await signIn(service, apiKey, { email: `of${id}@example.org`, role: "admin" });
  const list = () => member.request("/v1/shipments", { headers: { "x-workspace": String(id) } });
  expect((await list()).status).toBe(200);
  await suspend();
  await eventually("the refusal", async () => (await list()).status === 403);
  await expectRefused(list(), "WORKSPACE_SUSPENDED", MESSAGE);
});

test("a suspension ends open event streams with the reason", async () => {
  const streams = [service, replica].map((on) => {
    const client = on.grpcClient(workspace.apiKey, EventService);
    let seen = 0;
    const watch = async () => {
      for await (const _ of withoutHeartbeats(client.watchEvents({}))) seen++;
    };
    return { seen: () => seen, error: rpcError(watch()) };
  });
  await eventually("an event on both streams", async () => {
    await book(service, workspace.apiKey);
    return streams.every(({ seen }) => seen() > 0);
  });
  await suspend();
  const ended = rpcRefusal("PermissionDenied", "WORKSPACE_SUSPENDED", MESSAGE);
  expect(await Promise.all(streams.map(({ error }) => error))).toEqual([ended, ended]);
});

test("webhooks still receive events from before the suspension", async () => {
  const suspended = Promise.withResolvers<void>();
  const receiver = await startReceiver(async (response, count) => {
    await suspended.promise;
    response.writeHead(count === 1 ? 500 : 204).end();
  });
  await addWebhook(service, workspace.apiKey, { url: receiver.url });
  const { reference } = await book(service, workspace.apiKey);
  await eventually("the first attempt", () => receiver.received.length === 1);
  await suspend();
  await untilAll(403);
  suspended.resolve();
  await eventually("the message that failed before", async () => {
    await hurry(service);
    return receiver.received.length === 2;
  });
  expect(receiver.received[1]!.headers["webhook-id"]).toBe(`evt_${reference}_1`);
});

test("concurrent suspensions and resumptions leave the workspace in the same state on every replica", async () => {
  await untilAll(200);
  await Promise.all(Array.from({ length: 10 }, () => [suspend(), resume()]).flat());
  const { suspended_at } = await data(operator.getWorkspace({ workspace: workspace.id }));
  await untilAll(suspended_at === null ? 200 : 403);
});
