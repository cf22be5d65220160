import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createRequestLog, purgeRequests, writeRequests } from "../../../src/features/reports/request-log.ts";
import { refuse } from "../../../src/domain/refusal.ts";
import type { ReceivedCall } from "../../../src/pipeline/call.ts";
import { data, invalidFields } from "../../support/answers.ts";
import { ANY_TIME, book, BOOKING } from "../../support/bookings.ts";
import { callOf } from "../../support/call-of.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { em } = service.app;
const sql = await connectTo(service.databaseUrl);

/** Waits until a workspace's list has this many calls, and returns them. */
function untilListed(apiKey: string, count: number, fields: object = {}): Promise<any[]> {
  return eventually(`${count} calls to be listed`, async () => {
    const listed = await data(service.as(apiKey).listRequests({ page_size: 100, ...fields }));
    return listed.length >= count && listed;
  });
}

test("lists writes and rejected calls newest first, but no successful reads or quotes", async () => {
  const { apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  const as = service.as(apiKey);
  const { reference } = await book(service, apiKey);
  await data(as.getShipment({ shipment: reference }));
  await data(as.listShipments({}));
  const refused = await service.request("/v1/shipments", {
    apiKey,
    body: { ...BOOKING, weight_kg: -1 },
    headers: { "x-request-id": "mine-7" },
  });
  await as.getShipment({ shipment: "SHP-000000000000" });
  await book(service, other.apiKey);

  const listed = await untilListed(apiKey, 3);
  const [missing, invalid, booked] = listed;
  const made = {
    id: expect.any(Number),
    started_at: ANY_TIME,
    duration_ms: expect.any(Number),
    request_id: expect.any(String),
    caller: apiKey.slice(-4),
  };
  expect(listed).toHaveLength(3);
  expect(booked).toEqual({
    ...made,
    method: "CreateShipment",
    path: "POST /v1/shipments",
    outcome: "succeeded",
    code: "ok",
    http_status: 201,
    reason: null,
    message: null,
  });
  expect(invalid).toEqual({
    ...made,
    method: "CreateShipment",
    path: "POST /v1/shipments",
    outcome: "refused",
    code: "invalid_argument",
    http_status: 422,
    request_id: "mine-7",
    reason: "FIELD_INVALID",
    message: refused.body.message,
  });
  expect(missing).toMatchObject({
    method: "GetShipment",
    path: "GET /v1/shipments/SHP-000000000000",
    outcome: "refused",
    code: "not_found",
    reason: "SHIPMENT_NOT_FOUND",
  });
  expect(await untilListed(other.apiKey, 1)).toHaveLength(1);

  const ids = (rows: any[]) => rows.map(({ id }) => id);
  expect(ids(await untilListed(apiKey, 1, { outcome: "succeeded" }))).toEqual([booked.id]);
  expect(ids(await untilListed(apiKey, 1, { method: "GetShipment" }))).toEqual([missing.id]);
  const filters = { method: "CreateShipment", outcome: "refused" };
  expect(ids(await untilListed(apiKey, 1, filters))).toEqual([invalid.id]);
  expect(await data(as.listRequests({ outcome: "failed" }))).toEqual([]);
  const { body: first } = await as.listRequests({ page_size: 2 });
  const page_token = first.next_page_token;
  const { body: second } = await as.listRequests({ page_size: 2, page_token });
  expect([ids(first.data), ids(second.data), second.next_page_token]).toEqual([
    [missing.id, invalid.id],
    [booked.id],
    "",
  ]);
  expect(await invalidFields(as.listRequests({ page_token, method: "GetShipment" }))).toEqual(["page_token"]);
});

test("paths contain parameter values on every transport, or parameter names for an unread request", async () => {
  const { apiKey } = await service.addWorkspace();
  const { reference } = await book(service, apiKey);
  await data(service.as(apiKey).cancelShipment({ shipment: reference }));
  await service.request(`/v1/shipments/${reference}/cancel`, { apiKey, body: "[" });
  await service.request("/shipments.v1.ShipmentService/CancelShipment", {
    apiKey,
    body: { shipment: `${reference}\0` },
  });
  const listed = await untilListed(apiKey, 4);
  expect(listed.map(({ path }) => path)).toEqual([
    `POST /v1/shipments/${reference}\uFFFD/cancel`,
    "POST /v1/shipments/{shipment}/cancel",
    `POST /v1/shipments/${reference}/cancel`,
    "POST /v1/shipments",
  ]);
});

test("does not list requests for a courier location that has not been reported yet", async () => {
  const { apiKey } = await service.addWorkspace();
  const { reference: shipment } = await book(service, apiKey);
  const refused = await service.as(apiKey).getCourierPlace({ shipment });
  expect(refused.status).toBe(404);
  await service.as(apiKey).getShipment({ shipment: "SHP-000000000000" });
  const listed = await untilListed(apiKey, 2);
  expect(listed.map(({ method }) => method)).toEqual(["GetShipment", "CreateShipment"]);
});

test("lists a call without permission under the key's name", async () => {
  const { apiKey } = await service.addWorkspace();
  const { api_key: reader } = (await service.as(apiKey).createApiKey({ name: "Reader", scope: "read_only" })).body;
  await service.as(reader).createShipment(BOOKING);
  const [refused] = await untilListed(apiKey, 2);
  expect(refused).toMatchObject({
    method: "CreateShipment",
    outcome: "refused",
    code: "permission_denied",
    http_status: 403,
    caller: "Reader",
  });
});

/** Returns a finished call with the given code. */
function ended(workspace: number, code: Code | 0, text = "text"): ReceivedCall {
  const { received, caller } = callOf(workspace);
  const refusal = code === 0 ? undefined : refuse("FIELD_INVALID", text, { subject: "name" });
  return Object.assign(received, { caller, code, refusal, method: "shipments.v1.A/B" });
}

test("removes possible secrets and unstorable characters from messages", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const log = createRequestLog(() => undefined);
  const secret = "shp_0123456789abcdefghijklmnopqrstuvwxyz";
  log.record(ended(id, Code.InvalidArgument, `${secret} \0 is whsec_short`), 422);
  await writeRequests(em, log);
  const [{ message }] = await untilListed(apiKey, 1);
  expect(message).toBe("... \uFFFD is ...");
});

test("lists only failed reads, not successful or cancelled ones", () => {
  const log = createRequestLog(() => undefined);
  const reading = (code: Code | 0 | undefined) => {
    const call = ended(1, code ?? 0);
    return Object.assign(call, {
      code,
      rateLimit: { ...call.rateLimit!, limitClass: "read" as const },
    });
  };
  for (const code of [0, Code.Canceled, undefined, Code.NotFound, Code.Internal] as const) {
    log.record(reading(code), 0);
  }
  expect(log.drain().map(({ code }) => code)).toEqual(["not_found", "internal"]);
});

test("queues up to 200 calls per workspace and 5,000 in total, and counts dropped ones", async () => {
  let dropped = 0;
  const log = createRequestLog((count) => (dropped += count));
  for (let i = 0; i < 201; i++) log.record(ended(1, 0), 200);
  expect(dropped).toBe(1);
  for (let i = 0; i < 5_000; i++) log.record(ended(i + 2, 0), 200);
  expect(dropped).toBe(201);
  expect(log.drain()).toHaveLength(5_000);
  for (let i = 0; i < 200; i++) log.record(ended(1, 0), 200);
  expect([log.drain().length, dropped]).toEqual([200, 201]);
});

test("counts calls that cannot be written as dropped, and still writes the others after a workspace is deleted", async () => {
  const { id, apiKey } = await service.addWorkspace();
  let dropped = 0;
  const log = createRequestLog((count) => (dropped += count));
  log.record(ended(2_000_000_000, 0), 200);
  log.record(ended(id, 0), 200);
  await writeRequests(em, log);
  expect(dropped).toBe(1);
  expect(await untilListed(apiKey, 1)).toHaveLength(1);
  log.record(ended(2_000_000_000, 0), 200);
  await expect(writeRequests(em, log)).rejects.toThrow("api_request_workspace_id_foreign");
  expect([dropped, log.drain()]).toEqual([2, []]);
});

test("keeps the newest 10,000 calls of a workspace for up to 7 days", async () => {
  const { id } = await service.addWorkspace();
  const insert = (count: number, age: string) =>
    sql.query(
      `insert into api_request (workspace_id, started_at, method, outcome, code, http_status,
         duration_ms, request_id, caller)
       select $1, now() - $3::interval, 'B', 'succeeded', 'ok', 200, 1, 'r', 'k'
       from generate_series(1, $2::int)`,
      [id, count, age],
    );
  const left = async () => {
    const { rows } = await sql.query("select count(*)::int as count from api_request where workspace_id = $1", [id]);
    return rows[0].count;
  };
  await insert(1_200, "169 hours");
  await insert(9_000, "167 hours");
  await purgeRequests(em);
  expect(await left()).toBe(9_000);
  await insert(2_000, "0 hours");
  const log = createRequestLog(() => undefined);
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 200; i++) log.record(ended(id, 0), 200);
    await writeRequests(em, log);
  }
  expect(await left()).toBe(10_000);
});
