import { expect, test } from "vitest";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { ANY_TIME, book, BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";
import { take } from "../../support/take.ts";
import { addWebhook } from "../../support/webhooks.ts";

const service = await startService();
const operator = await service.addOperator();
const asOperator = async (method: string, path: string, body?: object) => {
  const answer = await service.request(`/admin/v1${path}`, {
    apiKey: operator.key,
    method,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: answer.body };
};

test("a key of a test twin begins with shp_test_, and so do those that it makes", async () => {
  const { apiKey, twin } = await service.addWorkspace();
  const form = (prefix: string) => expect.stringMatching(`^${prefix}[0-9A-Za-z]{36}$`);
  expect([apiKey, twin.apiKey]).toEqual([form("shp_"), form("shp_test_")]);
  const made = await service.request("/v1/api_keys", {
    apiKey: twin.apiKey,
    body: { name: "Another" },
  });
  expect(made.body.api_key).toEqual(form("shp_test_"));
  const { body } = await service.request("/v1/workspace", { apiKey: made.body.api_key });
  expect(body.data).toMatchObject({
    id: twin.id,
    name: "Test",
    test: true,
    payment_provider: "test",
    booking_blockers: [],
  });
});

test("what is booked in test mode says so: the shipment, its events, and what webhooks are sent", async () => {
  const { apiKey, twin } = await service.addWorkspace();
  const receiver = await startReceiver();
  for (const key of [apiKey, twin.apiKey]) await addWebhook(service, key, receiver);
  for (const [key, isTest] of [
    [apiKey, false],
    [twin.apiKey, true],
  ] as const) {
    const sent = receiver.received.length;
    const shipment = await book(service, key);
    expect(shipment.test).toBe(isTest);
    const of = { apiKey: key };
    const { reference } = shipment;
    const [read, listed, events, feed] = await Promise.all(
      [
        `/v1/shipments/${reference}`,
        "/v1/shipments",
        `/v1/shipments/${reference}/events`,
        "/v1/events",
      ].map(async (path) => (await service.request(path, of)).body.data),
    );
    expect([read, listed]).toEqual([shipment, [shipment]]);
    const event = { type: "shipment.created", test: isTest, data: shipment };
    expect([events, feed]).toMatchObject([[event], [event]]);
    const watching = rpcClient(EventService, PROTOCOLS["gRPC on the gRPC server"], service, key);
    const [watched] = await take(1, watching.watchEvents({}));
    expect(watched!.data).toMatchObject({ test: isTest, data: { test: isTest } });
    const message = await eventually("a webhook", () => receiver.received[sent]);
    expect(message.body).toEqual(events[0]);
    expect(message.headers["webhook-test"]).toBe(isTest ? "true" : undefined);
  }
});

test("one idempotency key makes a booking in each mode", async () => {
  const { apiKey, twin } = await service.addWorkspace();
  const bookWith = (key: string) =>
    service.request("/v1/shipments", {
      apiKey: key,
      body: BOOKING,
      headers: { "idempotency-key": "the-same" },
    });
  const [live, inTest] = [await bookWith(apiKey), await bookWith(twin.apiKey)];
  expect([live.status, inTest.status]).toEqual([201, 201]);
  expect(inTest.body.data.reference).not.toBe(live.body.data.reference);
  expect((await bookWith(twin.apiKey)).body).toEqual(inTest.body);
});

test("a twin follows its workspace in name and suspension, for keys and members", async () => {
  const { id, apiKey, twin } = await service.addWorkspace();
  const admin = await signIn(service, apiKey, { email: `of${id}@example.org`, role: "admin" });
  const inTwin = () =>
    admin.request("/v1/workspace", { headers: { "x-workspace": String(twin.id) } });
  const byKey = () => service.request("/v1/workspace", { apiKey: twin.apiKey });
  expect(await asOperator("PATCH", `/workspaces/${id}`, { name: "Renamed" })).toMatchObject({
    status: 200,
  });
  for (const ask of [inTwin, byKey]) {
    expect((await ask()).body.data).toMatchObject({ id: twin.id, name: "Renamed", test: true });
  }
  const everywhere = async (status: number) =>
    eventually(`${status} for both`, async () => {
      const statuses = [(await inTwin()).status, (await byKey()).status];
      return statuses.every((each) => each === status);
    });
  await asOperator("POST", `/workspaces/${id}/suspend`, {});
  await everywhere(403);
  expect((await asOperator("GET", `/workspaces/${twin.id}`)).body.data).toEqual({
    id: twin.id,
    name: "Renamed",
    payment_provider: "test",
    suspended_at: ANY_TIME,
    created_at: ANY_TIME,
    limits: expect.any(Object),
    test_workspace: null,
    live_workspace: id,
    time_zone: "UTC",
  });
  await asOperator("POST", `/workspaces/${id}/resume`, {});
  await everywhere(200);
});

test("members act in test mode in their role, and strangers and those who have left do not", async () => {
  const [one, another] = [await service.addWorkspace(), await service.addWorkspace()];
  const email = `viewer${one.id}@example.org`;
  await signIn(service, one.apiKey, { email: `first${one.id}@example.org`, role: "admin" });
  const viewer = await signIn(service, one.apiKey, { email, role: "viewer" });
  const of = (id: number) => ({ headers: { "x-workspace": String(id) } });
  expect((await viewer.request("/v1/shipments", of(one.twin.id))).status).toBe(200);
  const booking = await viewer.request("/v1/shipments", { ...of(one.twin.id), body: BOOKING });
  expect([booking.status, booking.body.message]).toEqual([
    403,
    "CreateShipment needs the role member; yours is viewer.",
  ]);
  for (const id of [another.id, another.twin.id]) {
    const { status, body } = await viewer.request("/v1/shipments", of(id));
    expect([status, body.message]).toEqual([403, "You are no member of a workspace with this id."]);
  }
  const { body } = await service.request("/v1/members", { apiKey: one.apiKey });
  const { person } = body.data.find((member: any) => member.email === email);
  await service.request(`/v1/members/${person}`, { apiKey: one.apiKey, method: "DELETE" });
  await eventually("the end of the membership", async () => {
    return (await viewer.request("/v1/shipments", of(one.twin.id))).status !== 200;
  });
});

test("members are managed in live mode alone", async () => {
  const { twin } = await service.addWorkspace();
  const text =
    "This works in live mode alone; use a live key, which begins with shp_ but not with shp_test_.";
  const { status, body } = await service.request("/v1/members", { apiKey: twin.apiKey });
  expect({ status, body }).toEqual({ status: 403, body: errorBody(text) });
  expect(await rpcError(service.grpcClient(twin.apiKey, MemberService).listMembers({}))).toEqual(
    rpcRefusal("PermissionDenied", "LIVE_MODE_ONLY", text),
  );
});

test("operators change what a twin follows on its workspace alone, and its keys and limits apart", async () => {
  const { id, twin } = await service.addWorkspace();
  const path = `/workspaces/${twin.id}`;
  const message = `Workspace ${twin.id} is the test twin of ${id}, which it follows: name that one.`;
  const refused = {
    status: 422,
    body: errorBody(message, "workspace"),
  };
  for (const [method, to, fields] of [
    ["PATCH", "", { name: "Mine" }],
    ["POST", "/suspend", {}],
    ["POST", "/resume", {}],
    ["PUT", "/payment_provider", { payment_provider: "manual" }],
    ["DELETE", "/payment_provider", undefined],
    ["POST", "/members", { email: "somebody@example.org" }],
  ] as const) {
    expect(await asOperator(method, `${path}${to}`, fields)).toEqual(refused);
  }
  const limited = await asOperator("PATCH", `${path}/limits`, { read: { rate: 3 } });
  expect(limited.body.data.limits.read).toEqual({ rate: 3, burst: 6 });
  const live = await asOperator("GET", `/workspaces/${id}`);
  expect(live.body.data.limits.read.rate).not.toBe(3);
  const rotated = await asOperator("POST", `${path}/api_keys/rotate`, {});
  expect(rotated.body.api_key).toMatch(/^shp_test_/);
  const { body } = await asOperator("GET", "/workspaces?page_size=100");
  expect(body.data.map((it: { id: number }) => it.id)).not.toContain(twin.id);
});

test("the platform's overview leaves test mode out", async () => {
  const own = await startService();
  const { id, apiKey, twin } = await own.addWorkspace();
  const { key } = await own.addOperator();
  for (const it of [apiKey, twin.apiKey, twin.apiKey]) {
    await own.request("/v1/shipments/quote", { apiKey: it, body: COVERED_ROUTE });
    await book(own, it);
  }
  const totals = await eventually("the calls and bookings are counted", async () => {
    const { body } = await own.request("/admin/v1/overview", { apiKey: key });
    const { bookings, quotes } = body.data.totals;
    return bookings > 0 && quotes > 0 && body;
  });
  expect(totals.data.totals).toMatchObject({ bookings: 1, quotes: 1 });
  expect(totals.top_workspaces).toMatchObject([{ workspace: id, bookings: 1 }]);
});
