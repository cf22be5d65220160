import { expect, test } from "vitest";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME, book, BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { HURRIED, sharedService, startService } from "../../support/service.ts";
import { take } from "../../support/take.ts";
import { addWebhook } from "../../support/webhooks.ts";

const service = await sharedService();
const operator = service.as((await service.addOperator()).key);

test("a key of a test twin starts with shp_test_, as do the keys created with it", async () => {
  const { apiKey, twin } = await service.addWorkspace();
  const form = (prefix: string) => expect.stringMatching(`^${prefix}[0-9A-Za-z]{36}$`);
  const { body } = await service.as(twin.apiKey).createApiKey({ name: "Another" });
  const keys = [apiKey, twin.apiKey, body.api_key];
  expect(keys).toEqual([form("shp_"), form("shp_test_"), form("shp_test_")]);
  const {
    id,
    test: isTest,
    payment_provider: provider,
    booking_blockers: blockers,
  } = await data(service.as(body.api_key).getWorkspace());
  expect([id, isTest, provider, blockers]).toEqual([twin.id, true, "test", []]);
});

test.each([false, true])(
  "a booking has its mode (%j) in the shipment, its events and webhook messages",
  async (isTest) => {
    const workspace = await service.addWorkspace();
    const { apiKey } = isTest ? workspace.twin : workspace;
    const as = service.as(apiKey);
    const receiver = await startReceiver();
    await addWebhook(service, apiKey, receiver);
    const shipment = await book(service, apiKey);
    expect(shipment.test).toBe(isTest);
    const { reference } = shipment;
    expect(await data(as.getShipment({ shipment: reference }))).toEqual(shipment);
    expect(await data(as.listShipments())).toEqual([shipment]);
    const events = await data(as.listShipmentEvents({ shipment: reference }));
    expect(events).toMatchObject([{ type: "shipment.created", test: isTest, data: shipment }]);
    expect(await data(as.listEvents())).toEqual(events);
    const [watched] = await take(1, service.grpcClient(apiKey, EventService).watchEvents({}));
    expect(watched!.data).toMatchObject({ test: isTest, data: { test: isTest } });
    const message = await eventually("a webhook", () => receiver.received[0]);
    expect(message.body).toEqual(events[0]);
    expect(message.headers["webhook-test"]).toBe(isTest ? "true" : undefined);
  },
);

test("one idempotency key can make a booking in each mode", async () => {
  const { apiKey, twin } = await service.addWorkspace();
  const bookWith = (key: string) => data(service.as(key).createShipment(BOOKING, { "idempotency-key": "the-same" }));
  const [live, inTest] = [await bookWith(apiKey), await bookWith(twin.apiKey)];
  expect(inTest.reference).not.toBe(live.reference);
  expect(await bookWith(twin.apiKey)).toEqual(inTest);
});

test("a twin has its workspace's name and suspension, for keys and members", async () => {
  const { id, apiKey, twin } = await service.addWorkspace();
  const admin = await signIn(service, apiKey, { email: `of${id}@example.org`, role: "admin" });
  const readings = [
    () => admin.request("/v1/workspace", { headers: { "x-workspace": String(twin.id) } }),
    () => service.as(twin.apiKey).getWorkspace(),
  ];
  await data(operator.renameWorkspace({ workspace: id, name: "Renamed" }));
  for (const read of readings) {
    expect(await data(read())).toMatchObject({ id: twin.id, name: "Renamed", test: true });
  }
  const untilBoth = (status: number) =>
    eventually(`status ${status} for the key and the member`, async () => {
      const answers = await Promise.all(readings.map((read) => read()));
      return answers.every((answer) => answer.status === status);
    });
  await operator.suspendWorkspace({ workspace: id });
  await untilBoth(403);
  expect(await data(operator.getWorkspace({ workspace: twin.id }))).toEqual({
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
  await operator.resumeWorkspace({ workspace: id });
  await untilBoth(200);
});

test("members have their role in test mode, and others have no access", async () => {
  const [one, another] = [await service.addWorkspace(), await service.addWorkspace()];
  const email = `viewer${one.id}@example.org`;
  await signIn(service, one.apiKey, { email: `first${one.id}@example.org`, role: "admin" });
  const viewer = await signIn(service, one.apiKey, { email, role: "viewer" });
  const listIn = (id: number) => viewer.request("/v1/shipments", { headers: { "x-workspace": String(id) } });
  expect((await listIn(one.twin.id)).status).toBe(200);
  const headers = { "x-workspace": String(one.twin.id) };
  const booking = viewer.request("/v1/shipments", { headers, body: BOOKING });
  const text = "CreateShipment requires the role member. Your role is viewer.";
  await expectRefused(booking, "ROLE_INSUFFICIENT", text);
  for (const id of [another.id, another.twin.id]) {
    const { body } = await listIn(id);
    expect(body.message).toBe("You are not a member of a workspace with this id.");
  }
  const { listMembers, removeMember } = service.as(one.apiKey);
  const { person } = (await data(listMembers())).find((member: any) => member.email === email);
  await removeMember({ person });
  await eventually("the end of the membership", async () => {
    return (await listIn(one.twin.id)).status !== 200;
  });
});

test("members can be managed only in live mode", async () => {
  const { twin } = await service.addWorkspace();
  const text = "This call works only in live mode. Use a live key, which begins with shp_ but not with shp_test_.";
  await expectRefused(service.as(twin.apiKey).listMembers(), "LIVE_MODE_ONLY", text);
});

test("operators change a twin's shared settings only on its workspace, but its keys and limits separately", async () => {
  const { id, twin } = await service.addWorkspace();
  const workspace = twin.id;
  for (const call of [
    operator.renameWorkspace({ workspace, name: "Mine" }),
    operator.suspendWorkspace({ workspace }),
    operator.resumeWorkspace({ workspace }),
    operator.connectPaymentProvider({ workspace, payment_provider: "manual" }),
    operator.disconnectPaymentProvider({ workspace }),
    operator.updateWorkspaceTimeZone({ workspace, time_zone: "Asia/Tokyo" }),
    operator.inviteWorkspaceMember({ workspace, email: "somebody@example.org" }),
  ]) {
    await expectRefused(call, "WORKSPACE_IS_TEST", {
      workspace: `Workspace ${workspace} is the test twin of workspace ${id}. Use workspace ${id}.`,
    });
  }
  const limited = await data(operator.updateWorkspaceLimits({ workspace, read: { rate: 3 } }));
  expect(limited.limits.read).toEqual({ rate: 3, burst: 6 });
  const live = await data(operator.getWorkspace({ workspace: id }));
  expect(live.limits.read.rate).not.toBe(3);
  const { body } = await operator.rotateWorkspaceApiKeys({ workspace });
  expect(body.api_key).toMatch(/^shp_test_/);
  const listed = await data(operator.listWorkspaces({ name_contains: live.name, page_size: 100 }));
  expect(listed.map((it: { id: number }) => it.id)).not.toContain(workspace);
});

test("the platform's overview excludes test mode", async () => {
  const own = await startService({ outside: HURRIED });
  const { id, apiKey, twin } = await own.addWorkspace();
  const { key } = await own.addOperator();
  for (const by of [apiKey, twin.apiKey, twin.apiKey]) {
    await own.as(by).quoteShipment(COVERED_ROUTE);
    await book(own, by);
  }
  const { data: totals, top_workspaces: top } = await eventually("the counts", async () => {
    await own.app.em.execute("update booking_roll_up set rest_until = now()");
    const { body } = await own.as(key).getPlatformOverview();
    const { bookings, quotes } = body.data.totals;
    return bookings > 0 && quotes > 0 && body;
  });
  expect(totals.totals).toMatchObject({ bookings: 1, quotes: 1 });
  expect(top).toMatchObject([{ workspace: id, bookings: 1 }]);
});
