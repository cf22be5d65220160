import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { createSecretKey } from "../../../src/domain/secret-key.ts";
import { eventually } from "../../support/eventually.ts";
import { parsePrometheus, type Metric } from "../../support/metrics.ts";
import { rawHttp } from "../../support/raw-http.ts";
import { OF_PROCESS, startServiceProcess, type LogLine, type ServiceProcess } from "../../support/service-process.ts";
import { startService } from "../../support/service.ts";

const QUOTE_PATH = "/v1/shipments/quote";
const QUOTE = "shipments.v1.ShipmentService/QuoteShipment";
const CREATE = "shipments.v1.ShipmentService/CreateShipment";

const lines: LogLine[] = [];
const service = await startService({
  logged: (line) => void lines.push(line),
  trustedProxies: ["127.0.0.1"],
});
const { id: workspaceId, apiKey } = await service.addWorkspace();
const ofWorkspace = "select id from api_key where workspace_id = ?";
const rows = await service.app.em.execute(ofWorkspace, [workspaceId]);
const { id: keyId } = rows[0]!;

const calls = (log: readonly LogLine[]) => log.filter(({ msg }) => msg === "call");

const callOf = (log: () => readonly LogLine[], requestId: string): Promise<LogLine> =>
  eventually(`the log line of ${requestId}`, () => calls(log()).find((line) => line.requestId === requestId));

test("logs every call in one line with its caller, method and outcome, or its unknown path", async () => {
  const call = (requestId: string, path: string, body: object, key: string | undefined) =>
    service.request(path, {
      body,
      headers: { "x-request-id": requestId, "x-forwarded-for": "203.0.113.9, 192.0.2.1" },
      ...(key === undefined ? {} : { apiKey: key }),
    });
  await call("quote", QUOTE_PATH, COVERED_ROUTE, apiKey);
  await call("nobody", QUOTE_PATH, COVERED_ROUTE, undefined);
  await call("faulty", "/v1/shipments", {}, apiKey);
  await call("nowhere", "/v1/nonsense?of=this", {}, apiKey);
  await call("not-by-post", "/v1/workspace", {}, apiKey);
  await call("no-rpc", "/shipments.v1.ShipmentService/CreateOperatorSignInLinks", {}, apiKey);
  const secret = `/v2/${createSecretKey("shp_")}/whsec_${"ab/".repeat(12)}`;
  await call("secret", `${secret}/${"é".repeat(500)}`, {}, apiKey);
  await call("percent", `/${"%41b".repeat(12)}${"/a".repeat(500)}`, {}, apiKey);
  const options = { headers: { "x-request-id": "grpc" } };
  await expect(service.grpcClient(apiKey).quoteShipment({}, options)).rejects.toThrow();

  const number = expect.any(Number);
  const any = { time: number, durationMs: number, pid: number, hostname: expect.any(String) };
  const line = { ...any, level: "info", msg: "call" };
  const caller = { workspace: workspaceId, key: keyId };
  const address = "192.0.2.1";
  expect(await callOf(() => lines, "quote")).toEqual({
    ...line,
    requestId: "quote",
    method: QUOTE,
    address,
    ...caller,
    code: "ok",
    status: 200,
  });
  expect(await callOf(() => lines, "nobody")).toEqual({
    ...line,
    requestId: "nobody",
    method: QUOTE,
    address,
    code: "unauthenticated",
    status: 401,
  });
  expect(await callOf(() => lines, "faulty")).toEqual({
    ...line,
    requestId: "faulty",
    method: CREATE,
    address,
    ...caller,
    code: "invalid_argument",
    status: 422,
  });
  expect(await callOf(() => lines, "nowhere")).toEqual({
    ...line,
    requestId: "nowhere",
    path: "/v1/nonsense",
    address,
    code: "unimplemented",
    status: 404,
  });
  expect(await callOf(() => lines, "grpc")).toEqual({
    ...line,
    requestId: "grpc",
    method: QUOTE,
    address: "127.0.0.1",
    ...caller,
    code: "invalid_argument",
    status: 200,
  });
  const paths = ["not-by-post", "no-rpc", "secret", "percent"].map(async (requestId) => {
    const { path } = await callOf(() => lines, requestId);
    return path;
  });
  expect(await Promise.all(paths)).toEqual([
    "/v1/workspace",
    "/shipments.v1.ShipmentService/CreateOperatorSignInLinks",
    "/v2/.../...",
    `/...${"/a".repeat(98)}`,
  ]);
});

test("logs an operator's call with the operator's name and the key's id", async () => {
  const { key } = await service.addOperator();
  await service.request("/admin/v1/workspaces", { apiKey: key });
  const [row] = await service.app.em.execute("select id from operator_key");
  const line = await eventually("the line", () => lines.find(({ operator }) => operator));
  expect(line).toMatchObject({ operator: "Test owner", key: row!.id, address: "127.0.0.1" });
});

test("never logs an API key, wherever a caller sends it", async () => {
  const served = await startServiceProcess({
    DATABASE_URL: service.databaseUrl,
    LOG_LEVEL: "trace",
  });
  await served.untilReady();
  const json = { "content-type": "application/json" };
  const headers: Readonly<Record<string, string>>[] = [
    { authorization: `Bearer ${apiKey}` },
    { authorization: `Basic ${apiKey}` },
    { authorization: apiKey },
    { "x-api-key": apiKey },
    { "x-request-id": apiKey },
    { "x-request-id": `id-${apiKey}`, authorization: `Bearer ${apiKey}` },
    { cookie: `key=${apiKey}`, "user-agent": apiKey, [apiKey]: apiKey },
    { "content-type": apiKey, authorization: `Bearer ${apiKey}` },
  ];
  for (const sent of headers) {
    await served.request(QUOTE_PATH, { body: COVERED_ROUTE, headers: { ...json, ...sent } });
  }
  const misplaced = { ...BOOKING, customer_name: apiKey, pickup_address: apiKey, [apiKey]: apiKey };
  expect((await served.request("/v1/shipments", { apiKey, body: misplaced })).status).toBe(201);
  await served.request("/v1/shipments", { apiKey, body: `{"${apiKey}` });
  await served.request("/v1/shipments", { apiKey, body: { ...misplaced, weight_kg: apiKey } });
  await served.request(`${QUOTE_PATH}?api_key=${apiKey}`, { apiKey, body: COVERED_ROUTE });
  await served.request(`/v1/shipments/${apiKey}/cancel`, { apiKey, method: "POST" });
  await served.request(`/${apiKey}`, { apiKey });
  await rawHttp(served.httpUrl, `${apiKey} nonsense\r\n\r\n`);

  const grpc = served.grpcClient(apiKey);
  const metadata = { "x-api-key": apiKey, "x-request-id": apiKey, "x-other": apiKey };
  await grpc.quoteShipment({}, { headers: metadata }).catch(() => undefined);
  await grpc.cancelShipment({ shipment: apiKey }).catch(() => undefined);
  await callUnknownRpc(served, `/shipments.v1.ShipmentService/${apiKey}`);
  const last = await served.request(QUOTE_PATH, { headers: { "x-request-id": "last" } });
  expect(last.status).toBe(405);
  expect(await callOf(served.log, "last")).toMatchObject(OF_PROCESS);

  served.process.kill("SIGTERM");
  const { stdout, stderr } = await served.ended;
  expect(stderr).toBe("");
  expect(stdout).not.toContain(apiKey.slice("shp_".length, -4));
  for (const line of stdout.trimEnd().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
  expect(calls(served.log()).length).toBeGreaterThanOrEqual(16);
});

async function callUnknownRpc(served: ServiceProcess, path: string): Promise<void> {
  const session = connectHttp2(served.grpcUrl);
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    authorization: `Bearer ${apiKey}`,
  });
  stream.resume().end();
  await once(stream, "close");
  session.close();
}

test("metrics count and time calls by method and code, and report the pool and the tariff version", async () => {
  const log: LogLine[] = [];
  const served = await startService({ logged: (line) => void log.push(line) });
  const { apiKey } = await served.addWorkspace();
  for (let i = 0; i < 3; i++) {
    await served.request(QUOTE_PATH, { apiKey, body: COVERED_ROUTE });
  }
  await served.request(QUOTE_PATH, { apiKey, body: {} });
  await served.request("/v1/shipments", { apiKey, body: BOOKING });
  await served
    .grpcClient(apiKey)
    .quoteShipment({})
    .catch(() => undefined);
  await eventually("the last call to be counted", () => calls(log).length === 6);

  const pools = "shipments_database_connections";
  // Background work uses a connection briefly.
  const { status, headers, metrics } = await eventually("an idle pool", async () => {
    const { text, ...answer } = await served.request("/metrics");
    const metrics = parsePrometheus(text);
    return valueOf(metrics.get(pools)!, { state: "busy" }) === 0 && { ...answer, metrics };
  });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const metric = (name: string): Metric => {
    const found = metrics.get(name);
    expect(found, name).toBeDefined();
    return found as Metric;
  };
  const counted = (method: string, code: string) => valueOf(metric("shipments_requests_total"), { method, code });
  expect(metric("shipments_requests_total").type).toBe("counter");
  expect(counted(QUOTE, "ok")).toBe(3);
  expect(counted(QUOTE, "invalid_argument")).toBe(2);
  expect(counted(CREATE, "ok")).toBe(1);

  const durations = metric("shipments_request_duration_seconds");
  expect(durations.type).toBe("histogram");
  const quotes = durations.samples.filter(({ labels }) => labels.method === QUOTE && labels.code === "ok");
  const buckets = quotes.filter(({ name }) => name.endsWith("_bucket"));
  const counts = buckets.map(({ value }) => value);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(buckets.at(-1)).toMatchObject({ labels: { le: "+Inf" }, value: 3 });
  expect(quotes.find(({ name }) => name.endsWith("_count"))?.value).toBe(3);
  expect(quotes.find(({ name }) => name.endsWith("_sum"))?.value).toBeGreaterThan(0);

  expect(valueOf(metric("shipments_tariff_version"), {})).toBe(1);
  const pool = metric(pools);
  expect(valueOf(pool, { state: "idle" })).toBeGreaterThan(0);
  expect(valueOf(pool, { state: "waiting" })).toBe(0);
});

function valueOf(metric: Metric, labels: Readonly<Record<string, string>>): number | undefined {
  return metric.samples.find((sample) => isDeepStrictEqual(sample.labels, labels))?.value;
}
