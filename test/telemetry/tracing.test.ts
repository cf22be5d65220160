import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { pino } from "pino";
import { expect, test } from "vitest";
import { QuoteShipmentRequestSchema } from "../../gen/shipments/v1/quote_pb.js";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { startTracing } from "../../src/telemetry/tracing.ts";
import { BOOKING, COVERED_ROUTE, NO_REFERENCE, RPC_ROUTE, RPC_BOOKING } from "../support/bookings.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startGeocoder } from "../support/geocoder.ts";
import { startOtlpReceiver } from "../support/otlp-receiver.ts";
import { frame, rawGrpc } from "../support/raw-grpc.ts";
import { startReceiver } from "../support/receiver.ts";
import { PROTOCOLS, rpcClient } from "../support/rpc-client.ts";
import { startService } from "../support/service.ts";
import { addWebhook } from "../support/webhooks.ts";

let workspace: { readonly id: number; readonly apiKey: string };

const database = await createDatabase();
const otlp = await startOtlpReceiver();
const tracing = startTracing({
  url: `${otlp.endpoint}/v1/traces`,
  sampler: "parentbased_always_on",
  ratio: 1,
  databaseUrl: database.url,
  trustedProxies: ["127.0.0.1"],
  version: "1.2.3",
  instance: "host-7",
  log: pino({ level: "silent" }),
  delayMs: 10,
});
const geocoder = await startGeocoder("photon");
const service = await startService({
  database,
  ...geocoder.settings,
  outside: { tracing, geocoderTimeoutMs: 10_000 },
});
workspace = await service.addWorkspace();
const apiKey = workspace.apiKey;

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";
const PARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;
const BOOK = "shipments.v1.ShipmentService/CreateShipment";

const portOf = (url: string) => Number(new URL(url).port);

const atServer = (url: string) => ({
  "server.address": "127.0.0.1",
  "server.port": portOf(url),
  "network.peer.address": "127.0.0.1",
});

const transaction = (calls = 1) => {
  const { hostname, port, pathname } = new URL(database.url);
  return {
    name: "transaction",
    kind: "client",
    attributes: {
      "db.system.name": "postgresql",
      "db.namespace": pathname.slice(1),
      "server.address": hostname,
      "server.port": Number(port),
      "shipments.transaction.calls": calls,
    },
  };
};

const rpcAttributes = (requestId: string, url: string, method: string) => ({
  "rpc.method": method,
  ...atServer(url),
  "shipments.request_id": requestId,
  "shipments.workspace": workspace.id,
});

test("a JSON booking is a span for its route, with its transaction as a child", async () => {
  const headers = { "x-request-id": "json-booking", "x-forwarded-for": "203.0.113.7" };
  const { status } = await service.request("/v1/shipments", { apiKey, body: BOOKING, headers });
  expect(status).toBe(201);
  expect(await otlp.treeOf("json-booking", 2)).toEqual({
    name: "POST /v1/shipments",
    kind: "server",
    attributes: {
      "http.request.method": "POST",
      "http.route": "/v1/shipments",
      "http.response.status_code": 201,
      "url.path": "/v1/shipments",
      "url.scheme": "http",
      "client.address": "203.0.113.7",
      ...rpcAttributes("json-booking", service.httpUrl, BOOK),
    },
    children: [transaction()],
  });
  const span = await otlp.spanOf("json-booking");
  const [child] = otlp.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  expect(child!.startedNs).toBeGreaterThanOrEqual(span.startedNs);
  expect(child!.endedNs).toBeLessThanOrEqual(span.endedNs);
  expect(span.resource).toEqual({
    "service.name": "shipments",
    "service.version": "1.2.3",
    "service.instance.id": "host-7",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.name": "opentelemetry",
    "telemetry.sdk.version": expect.any(String),
  });
});

test("a geocoder request is a child span of its call, without the query", async () => {
  const headers = { "x-request-id": "geocoding" };
  await service.request("/v1/addresses?query=karl-marx", { apiKey, headers });
  const request = {
    name: "GET",
    kind: "client",
    attributes: {
      "http.request.method": "GET",
      "http.response.status_code": 200,
      "server.address": "127.0.0.1",
      "server.port": portOf(geocoder.url),
    },
  };
  expect(await otlp.treeOf("geocoding", 2)).toMatchObject({ children: [request] });
  // A cached address causes no further request.
  const again = { "x-request-id": "geocoding-again" };
  await service.request("/v1/addresses?query=karl-marx", { apiKey, headers: again });
  expect(await otlp.treeOf("geocoding-again", 1)).not.toHaveProperty("children.0");
});

const SYSTEMS = {
  "gRPC on the gRPC server": "grpc",
  "gRPC with JSON on the gRPC server": "grpc",
  "gRPC-Web on the gRPC server": "grpc",
  "gRPC-Web on the HTTP server": "grpc",
  "Connect on the gRPC server": "connectrpc",
  "Connect on the HTTP server": "connectrpc",
} as const;

test.for(Object.entries(SYSTEMS))(
  "a booking over %s is a span for its method, with its transaction as a child",
  async ([protocol, system]) => {
    const transport = PROTOCOLS[protocol as keyof typeof SYSTEMS];
    const client = rpcClient(ShipmentService, transport, service, apiKey);
    const requestId = protocol.replaceAll(" ", "-");
    await client.createShipment(RPC_BOOKING, { headers: { "x-request-id": requestId } });
    const url = protocol.endsWith("gRPC server") ? service.grpcUrl : service.httpUrl;
    expect(await otlp.treeOf(requestId, 2)).toEqual({
      name: BOOK,
      kind: "server",
      attributes: {
        "rpc.system.name": system,
        ...(system === "grpc" ? { "rpc.status_code": "OK" } : {}),
        ...rpcAttributes(requestId, url, BOOK),
      },
      children: [transaction()],
    });
  },
);

test("a span of a client error is not an error, and a call without a key has no workspace", async () => {
  const missing = { "x-request-id": "missing" };
  const path = `/v1/shipments/${NO_REFERENCE}`;
  await service.request(path, { apiKey, headers: missing });
  expect(await otlp.treeOf("missing", 1)).toEqual({
    name: "GET /v1/shipments/{shipment}",
    kind: "server",
    attributes: {
      "http.request.method": "GET",
      "http.route": "/v1/shipments/{shipment}",
      "http.response.status_code": 404,
      "url.path": path,
      "url.scheme": "http",
      "client.address": "127.0.0.1",
      ...rpcAttributes("missing", service.httpUrl, "shipments.v1.ShipmentService/GetShipment"),
    },
  });

  const unauthenticated = service.grpcClient("shp_nobody");
  const headers = { "x-request-id": "nobody" };
  await expect(unauthenticated.getShipment({ shipment: NO_REFERENCE }, { headers })).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
  expect(await otlp.treeOf("nobody", 1)).toEqual({
    name: "shipments.v1.ShipmentService/GetShipment",
    kind: "server",
    attributes: {
      "rpc.system.name": "grpc",
      "rpc.method": "shipments.v1.ShipmentService/GetShipment",
      "rpc.status_code": "UNAUTHENTICATED",
      ...atServer(service.grpcUrl),
      "shipments.request_id": "nobody",
    },
  });
});

test("a timed-out call is an error of the service over every protocol", async () => {
  const late = (id: string) => ({ authorization: `Bearer ${apiKey}`, "x-request-id": id });
  const quote = "shipments.v1.ShipmentService/QuoteShipment";
  const message = toBinary(QuoteShipmentRequestSchema, create(QuoteShipmentRequestSchema, RPC_ROUTE));
  const grpcHeaders = { "content-type": "application/grpc", te: "trailers", "grpc-timeout": "0n" };
  const onGrpc = { ...late("late-grpc"), ...grpcHeaders };
  await rawGrpc(service.grpcUrl, `/${quote}`, onGrpc, frame(message));
  const overHttp = (id: string) => ({
    body: COVERED_ROUTE,
    headers: { ...late(id), "connect-timeout-ms": "0" },
  });
  await service.request("/v1/shipments/quote", overHttp("late-json"));
  await service.request(`/${quote}`, overHttp("late-connect"));

  expect(await otlp.treeOf("late-grpc", 1)).toEqual({
    name: quote,
    kind: "server",
    isError: true,
    attributes: {
      "rpc.system.name": "grpc",
      "rpc.status_code": "DEADLINE_EXCEEDED",
      "error.type": "DEADLINE_EXCEEDED",
      ...rpcAttributes("late-grpc", service.grpcUrl, quote),
    },
  });
  expect(await otlp.spanOf("late-json")).toMatchObject({
    isError: true,
    attributes: { "http.response.status_code": 504, "error.type": "504" },
  });
  expect(await otlp.spanOf("late-connect")).toMatchObject({
    isError: true,
    attributes: { "rpc.status_code": "deadline_exceeded", "error.type": "deadline_exceeded" },
  });
});

test("does not record an unknown path, since it can contain anything", async () => {
  const headers = { "x-request-id": "nowhere" };
  await service.request("/v1/nonsense/ada@example.org", { apiKey, headers });
  expect(await otlp.treeOf("nowhere", 1)).toEqual({
    name: "GET",
    kind: "server",
    attributes: {
      "http.request.method": "GET",
      "http.response.status_code": 404,
      "url.scheme": "http",
      "client.address": "127.0.0.1",
      ...atServer(service.httpUrl),
      "shipments.request_id": "nowhere",
    },
  });
});

test("does not record a key or an email in a path or a request id", async () => {
  const path = `/v1/shipments/ada@example.org/events?page_size=1`;
  const { headers } = await service.request(path, { apiKey, headers: { "x-request-id": apiKey } });
  const span = await otlp.spanOf(headers.get("x-request-id")!);
  expect(span.attributes).toMatchObject({ "url.path": "/v1/shipments/REDACTED/events" });
  expect(JSON.stringify(otlp.spans.map(({ attributes }) => attributes))).not.toContain(apiKey);
});

test("a stream is one span that ends with it", async () => {
  const requestId = "stream";
  const ending = new AbortController();
  const events = service.grpcClient(apiKey, EventService);
  const headers = { "x-request-id": requestId };
  const stream = events.watchEvents({}, { headers, signal: ending.signal });
  const first = stream[Symbol.asyncIterator]().next();
  await service.request("/v1/shipments", { apiKey, body: BOOKING });
  await first;
  ending.abort();
  expect(await otlp.treeOf(requestId, 1)).toEqual({
    name: "shipments.v1.EventService/WatchEvents",
    kind: "server",
    attributes: {
      "rpc.system.name": "grpc",
      "rpc.status_code": "CANCELLED",
      ...rpcAttributes(requestId, service.grpcUrl, "shipments.v1.EventService/WatchEvents"),
    },
  });
});

test("a call joins its caller's trace and trace state on every server", async () => {
  const headers = (requestId: string) => ({
    "x-request-id": requestId,
    traceparent: PARENT,
    tracestate: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
  });
  const requestIds = ["joins-json"];
  await service.request("/v1/shipments/quote", {
    apiKey,
    body: COVERED_ROUTE,
    headers: headers("joins-json"),
  });
  for (const [i, transport] of Object.values(PROTOCOLS).entries()) {
    const client = rpcClient(ShipmentService, transport, service, apiKey);
    const requestId = `joins-${i}`;
    requestIds.push(requestId);
    await client.quoteShipment(RPC_ROUTE, { headers: headers(requestId) });
  }
  for (const requestId of requestIds) {
    expect(await otlp.spanOf(requestId)).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: PARENT_ID,
      traceState: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
    });
  }
});

test.for([
  ["malformed", "00-1-2-01"],
  ["of zeros", `00-${"0".repeat(32)}-${PARENT_ID}-01`],
])("ignores a traceparent that is %s", async ([what, traceparent]) => {
  const headers = {
    "x-request-id": `ignored-${what!.replace(" ", "-")}`,
    traceparent: traceparent!,
  };
  await service.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE, headers });
  const span = await otlp.spanOf(headers["x-request-id"]);
  expect(span.parentSpanId).toBeUndefined();
});

test("does not record a call whose caller does not record its trace", async () => {
  const traceparent = `00-${TRACE_ID.replace("0af7", "1111")}-${PARENT_ID}-00`;
  const headers = { "x-request-id": "unrecorded", traceparent };
  await service.request("/v1/shipments", { apiKey, body: BOOKING, headers });
  await service.request("/v1/shipments/quote", {
    apiKey,
    body: COVERED_ROUTE,
    headers: { "x-request-id": "recorded-after" },
  });
  await otlp.spanOf("recorded-after");
  expect(otlp.spans.filter(({ traceId }) => traceId.startsWith("1111"))).toEqual([]);
});

test("bookings that share a transaction share its span, which is in one trace and linked from the others", async () => {
  const bookings = Array.from({ length: 12 }, async (_, i) => {
    const headers = { "x-request-id": `group-${i}` };
    const { status } = await service.request("/v1/shipments", { apiKey, body: BOOKING, headers });
    expect(status).toBe(201);
    return otlp.spanOf(`group-${i}`);
  });
  const calls = await Promise.all(bookings);
  const ids = new Set(calls.map(({ spanId }) => spanId));
  const transactions = otlp.spans.filter(({ parentSpanId }) => ids.has(parentSpanId ?? ""));
  const shared = transactions.filter(({ links }) => links.length > 0);
  expect(shared.length).toBeGreaterThan(0);
  for (const { parentSpanId, spanId, links, attributes } of transactions) {
    expect(attributes["shipments.transaction.calls"]).toBe(links.length + 1);
    expect(ids.isSupersetOf(new Set(links))).toBe(true);
    const linked = calls.filter((call) => call.links.includes(spanId)).map((call) => call.spanId);
    expect(linked.sort()).toEqual([...links].sort());
    expect(linked).not.toContain(parentSpanId);
  }
  const total = transactions.reduce((sum, { links }) => sum + links.length + 1, 0);
  expect(total).toBe(calls.length);
});

test("a webhook attempt is in the trace of the call that caused its event, and propagates it", async () => {
  const receiver = await startReceiver();
  const own = await service.addWorkspace();
  const { data } = await addWebhook(service, own.apiKey, { url: receiver.url });
  const headers = {
    "x-request-id": "causes-a-webhook",
    traceparent: PARENT.replace("0af7", "2222"),
    tracestate: "rojo=1",
  };
  const { body } = await service.request("/v1/shipments", {
    apiKey: own.apiKey,
    body: BOOKING,
    headers,
  });
  await eventually("the message", () => receiver.received.length === 1);
  const tree = await otlp.treeOf("causes-a-webhook", 3);
  expect(tree.children).toEqual([
    transaction(),
    {
      name: "POST",
      kind: "client",
      attributes: {
        "http.request.method": "POST",
        "http.response.status_code": 204,
        "server.address": "127.0.0.1",
        "server.port": receiver.port,
        "shipments.workspace": own.id,
        "shipments.webhook": data.id,
        "shipments.event": `evt_${body.data.reference}_1`,
      },
    },
  ]);
  const attempt = otlp.spans.find(({ attributes }) => attributes["shipments.webhook"] === data.id);
  expect(receiver.received[0]!.headers).toMatchObject({
    traceparent: `00-${TRACE_ID.replace("0af7", "2222")}-${attempt!.spanId}-01`,
    tracestate: "rojo=1",
  });
});

test("a failed attempt is an error with its status or its cause", async () => {
  const failing = await startReceiver((response) => response.writeHead(500).end());
  const own = await service.addWorkspace();
  const { data } = await addWebhook(service, own.apiKey, { url: failing.url });
  const closed = await startReceiver();
  await closed.close();
  const { data: deaf } = await addWebhook(service, own.apiKey, { url: closed.url });
  await service.request("/v1/shipments", { apiKey: own.apiKey, body: BOOKING });
  const attemptAt = (webhook: string) =>
    eventually("the attempt's span", () =>
      otlp.spans.find(({ attributes }) => attributes["shipments.webhook"] === webhook),
    );
  const { isError, attributes } = await attemptAt(data.id);
  expect({ isError, ...attributes }).toMatchObject({
    isError: true,
    "http.response.status_code": 500,
    "error.type": "500",
  });
  const unanswered = await attemptAt(deaf.id);
  expect(unanswered).toMatchObject({
    isError: true,
    statusMessage: "The connection was refused.",
    attributes: { "error.type": "_OTHER" },
  });
});
