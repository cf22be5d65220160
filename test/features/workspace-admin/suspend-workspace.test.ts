import { beforeEach, expect, test } from "vitest";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME, book, BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startReplica, startService, type TestWorkspace } from "../../support/service.ts";
import { take } from "../../support/take.ts";
import { addWebhook, hurry } from "../../support/webhooks.ts";
import { withoutHeartbeats } from "../../support/without-heartbeats.ts";

const MESSAGE = "The workspace is suspended: its calls are refused until the platform resumes it.";
const SUSPENDED_ERROR = rpcRefusal("PermissionDenied", "WORKSPACE_SUSPENDED", MESSAGE);

let workspace: TestWorkspace;
const service = await startService();
const replica = await startReplica(service.databaseUrl);
const operator = await service.addOperator("operator");
beforeEach(async () => {
  workspace = await service.addWorkspace();
});

const set = async (verb: "suspend" | "resume") => {
  const answer = await service.request(`/admin/v1/workspaces/${workspace.id}/${verb}`, {
    apiKey: operator.key,
    body: {},
  });
  return { status: answer.status, data: answer.body.data };
};
const statusesEverywhere = () =>
  Promise.all(
    [service, replica].map(async (on) => {
      const { apiKey } = workspace;
      return (await on.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE })).status;
    }),
  );
const untilAll = (status: number) =>
  eventually(`${status} everywhere`, async () =>
    (await statusesEverywhere()).every((it) => it === status),
  );

test("calls of a suspended workspace are soon refused on every replica, until it is resumed", async () => {
  expect(await statusesEverywhere()).toEqual([200, 200]);
  expect(await set("suspend")).toMatchObject({ status: 200, data: { suspended_at: ANY_TIME } });
  await untilAll(403);
  expect(await set("resume")).toMatchObject({ status: 200, data: { suspended_at: null } });
  await untilAll(200);
});

test("a suspension is noticed although its notification was lost", async () => {
  await untilAll(200);
  await service.app.em.execute("update workspace set suspended_at = now() where id = ?", [
    workspace.id,
  ]);
  await service.app.em.execute("update api_key set changed_at = now() where workspace_id = ?", [
    workspace.id,
  ]);
  await untilAll(403);
});

test("a key that was never used before the suspension is refused too", async () => {
  await set("suspend");
  expect(await statusesEverywhere()).toEqual([403, 403]);
});

test.each([
  ["GET", "/v1/workspace", undefined],
  ["GET", "/v1/shipments", undefined],
  ["GET", "/v1/api_keys", undefined],
  ["POST", "/v1/api_keys", { name: "mine" }],
  ["POST", "/v1/shipments", BOOKING],
  ["POST", "/v1/webhooks", { url: "https://example.com/" }],
])("a suspended workspace is refused %s %s by JSON", async (method, path, body) => {
  await set("suspend");
  const options = { method, apiKey: workspace.apiKey, ...(body === undefined ? {} : { body }) };
  const answer = await service.request(path, options);
  expect([answer.status, answer.body]).toEqual([403, errorBody(MESSAGE)]);
});

test.each(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[])(
  "a suspended workspace is refused by %s",
  async (protocol) => {
    await set("suspend");
    const client = rpcClient(EventService, PROTOCOLS[protocol], service, workspace.apiKey);
    expect(await rpcError(client.listEvents({}))).toEqual(SUSPENDED_ERROR);
    expect(await rpcError(take(1, client.watchEvents({})))).toEqual(SUSPENDED_ERROR);
  },
);

test("the members of a suspended workspace are refused too", async () => {
  const { id, apiKey } = workspace;
  const member = await signIn(service, apiKey, { email: "ada@example.org", role: "admin" });
  const ask = () => member.request("/v1/shipments", { headers: { "x-workspace": String(id) } });
  expect((await ask()).status).toBe(200);
  await set("suspend");
  await eventually("the refusal", async () => (await ask()).status === 403);
  expect((await ask()).body).toEqual(errorBody(MESSAGE));
});

test("the open event streams of a suspended workspace end with the reason", async () => {
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
  await set("suspend");
  expect(await Promise.all(streams.map(({ error }) => error))).toEqual([
    SUSPENDED_ERROR,
    SUSPENDED_ERROR,
  ]);
});

test("a suspended workspace loses nothing", async () => {
  const { apiKey } = workspace;
  const shipment = await book(service, apiKey);
  await set("suspend");
  await untilAll(403);
  await set("resume");
  await untilAll(200);
  const path = `/v1/shipments/${shipment["reference"]}`;
  expect((await service.request(path, { apiKey })).body.data).toEqual(shipment);
  const { body } = await service.request(`${path}/events`, { apiKey });
  expect(body.data).toHaveLength(1);
});

test("webhooks are still sent what happened before the suspension", async () => {
  const suspended = Promise.withResolvers<void>();
  const receiver = await startReceiver(async (response, count) => {
    await suspended.promise;
    response.writeHead(count === 1 ? 500 : 204).end();
  });
  await addWebhook(service, workspace.apiKey, { url: receiver.url });
  const { reference } = await book(service, workspace.apiKey);
  await eventually("the first attempt", () => receiver.received.length === 1);
  await set("suspend");
  await untilAll(403);
  suspended.resolve();
  await eventually("the message that failed before", async () => {
    await hurry(service);
    return receiver.received.length === 2;
  });
  expect(receiver.received[1]!.headers["webhook-id"]).toBe(`evt_${reference}_1`);
});

test("suspending or resuming twice answers the workspace as it is, and is recorded once", async () => {
  const first = await set("suspend");
  expect(await set("suspend")).toEqual(first);
  const resumed = await set("resume");
  expect(resumed.data).toEqual({ ...first.data, suspended_at: null });
  expect(await set("resume")).toEqual(resumed);
  const { suspended_at } = first.data;
  const by = { actor: "operator", actor_name: "Test operator", operator_id: operator.id };
  const about = { subject: `workspace/${workspace.id}`, request_id: expect.any(String) };
  expect((await auditEntriesOf(service, workspace.id)).slice(1)).toEqual([
    {
      ...by,
      ...about,
      action: "SuspendWorkspace",
      changes: [{ field: "suspended_at", before: null, after: suspended_at }],
    },
    {
      ...by,
      ...about,
      action: "ResumeWorkspace",
      changes: [{ field: "suspended_at", before: suspended_at, after: null }],
    },
  ]);
});

test("operators that suspend and resume at the same time leave the workspace in one state everywhere", async () => {
  await untilAll(200);
  const grpc = service.grpcClient(operator.key, WorkspaceAdminService);
  const other = replica.grpcClient(operator.key, WorkspaceAdminService);
  const asked = { workspace: BigInt(workspace.id) };
  await Promise.all(
    Array.from({ length: 10 }, () => [
      grpc.suspendWorkspace(asked),
      other.resumeWorkspace(asked),
    ]).flat(),
  );
  const { data } = await grpc.getWorkspace(asked);
  await untilAll(data!.suspendedAt === undefined ? 200 : 403);
});

test("the keys of a suspended workspace can be rotated by operators, and work when it is resumed", async () => {
  await set("suspend");
  const { status, body } = await service.request(
    `/admin/v1/workspaces/${workspace.id}/api_keys/rotate`,
    { apiKey: operator.key, body: {} },
  );
  expect(status).toBe(200);
  const quote = { apiKey: body.api_key as string, body: COVERED_ROUTE };
  expect((await service.request("/v1/shipments/quote", quote)).status).toBe(403);
  await set("resume");
  await eventually(
    "the new key to work",
    async () => (await service.request("/v1/shipments/quote", quote)).status === 200,
  );
});
