import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type pg from "pg";
import { pino } from "pino";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/grpc/health/v1/health_pb.js";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { createSecretKey } from "../../src/domain/secret-key.ts";
import { createOrm } from "../../src/db/orm.ts";
import { DATABASE_CONNECTIONS } from "../../src/pipeline/bounds/limits.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { startTracing } from "../../src/telemetry/tracing.ts";
import { BOOKING, COVERED_ROUTE, RPC_ROUTE } from "../support/bookings.ts";
import { connectTo, createDatabase, type TestDatabase } from "../support/database.ts";
import type { Answer } from "../support/client.ts";
import { errorBody } from "../support/endpoints.ts";
import { eventually } from "../support/eventually.ts";
import { callsInFlight } from "../support/metrics.ts";
import { startOtlpReceiver } from "../support/otlp-receiver.ts";
import { revokeKey, rotateKeys } from "../support/platform.ts";
import { PROTOCOLS } from "../support/rpc-client.ts";
import { spawnService, untilListening, type LogLine } from "../support/service-process.ts";
import { startReplica, startService, type TestService } from "../support/service.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

/**
 * Maximum time that a call may wait for a hanging database, in milliseconds: 2 s for a connection,
 * 8 s for a response, plus the delay of a busy machine.
 */
const LONGEST_MS = 12_000;
/** Number of concurrent calls. Exceeds the connections of one process, so that a leaked connection is detected. */
const CONCURRENT_CALLS = 24;

let database: TestDatabase;
let proxy: TcpProxy;
let service: TestService;
let workspaceId: number;
let apiKey: string;
/** Client that bypasses the proxy. */
let client: pg.Client;

beforeEach(async () => {
  database = await createDatabase();
  proxy = await startTcpProxy(database.url);
  service = await startService({ database: proxy, outside: REAL_WAITS });
  ({ id: workspaceId, apiKey } = await service.addWorkspace());
  expect((await quote()).status).toBe(200);
  client = await connectTo(database.url);
});

const quote = (key = apiKey) => service.request("/v1/shipments/quote", { apiKey: key, body: COVERED_ROUTE });
const book = (customer = "ada") =>
  service.request("/v1/shipments", {
    apiKey,
    body: { ...BOOKING, customer_email: `${customer}@example.org` },
  });
/** Maximum waits as in production. Other tests wait longer for a connection. */
const REAL_WAITS = { maxWaitMs: DATABASE_CONNECTIONS.maxWaitMs };
const callConcurrently = <T>(call: (customer: string) => Promise<T>) =>
  Promise.all(Array.from({ length: CONCURRENT_CALLS }, (_, i) => call(`customer${i}`)));

const UNAVAILABLE = errorBody("The service cannot reach its database. Try again in a moment.");

function expectUnavailable({ status, headers, body }: Answer): void {
  expect({ status, retryAfter: headers.get("retry-after"), body }).toEqual({
    status: 503,
    retryAfter: "1",
    body: UNAVAILABLE,
  });
}

/**
 * Waits until all concurrent calls succeed. There are more calls than connections, so that a lost
 * connection is detected.
 */
async function expectWorking(): Promise<void> {
  await eventually("concurrent calls to succeed", async () =>
    (await callConcurrently(book)).every(({ status }) => status === 201),
  );
  expect((await quote()).status).toBe(200);
  expect((await quote(createSecretKey("shp_"))).status).toBe(401);
}

async function rowCount(table: string): Promise<number> {
  const { rows } = await client.query(`select count(*)::int as count from ${table}`);
  return rows[0].count;
}

/** Blocks bookings inside their transactions while `meanwhile` runs. Returns their responses. */
async function inTheMiddleOfBookings(customers: readonly string[], meanwhile: () => unknown): Promise<Answer[]> {
  await client.query("begin; lock table shipment in exclusive mode");
  const bookings = Promise.all(customers.map(book));
  const waiting = "select from pg_locks where not granted and relation = 'shipment'::regclass";
  await eventually("the bookings to wait", async () => {
    const { rowCount } = await client.query(waiting);
    return rowCount === customers.length;
  });
  await meanwhile();
  const answers = await bookings;
  await client.query("rollback");
  return answers;
}

/**
 * Expects that each booking is complete or missing. First waits for transactions whose connection
 * was lost, because their commit was sent together with the writes.
 */
async function expectWholeBookings(): Promise<void> {
  const others = `select from pg_stat_activity where datname = current_database()
    and xact_start is not null and pid <> pg_backend_pid()`;
  await eventually("transactions to end", async () => (await client.query(others)).rowCount === 0);
  const shipments = await rowCount("shipment");
  expect([await rowCount("customer"), await rowCount("event")]).toEqual([shipments, shipments]);
}

test("while the database is down, calls that need it return a retry delay, and they work afterwards", async () => {
  await proxy.goDown();
  expectUnavailable(await book());
  expectUnavailable(await quote(createSecretKey("shp_")));
  await proxy.comeBack();
  await expectWorking();
});

test("while the database is down, gRPC errors have a retry delay", async () => {
  await proxy.goDown();
  const error = await service
    .grpcClient(apiKey)
    .cancelShipment({ shipment: "SHP-0123456789AB" })
    .catch((error: unknown) => ConnectError.from(error));
  expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: UNAVAILABLE.message });
  const [retryInfo] = (error as ConnectError).findDetails(RetryInfoSchema);
  expect(retryInfo?.retryDelay?.seconds).toBe(1n);
  await proxy.comeBack();
});

test("while the database is down, quotes with cached keys, probes, metrics and error responses work", async () => {
  await proxy.goDown();
  for (let i = 0; i < 10; i++) expect((await quote()).status).toBe(200);
  expect((await service.grpcClient(apiKey).quoteShipment(RPC_ROUTE)).covered).toBe(true);
  expect((await quote("shp_typo")).status).toBe(401);
  expect((await service.request("/healthz")).status).toBe(200);
  expect((await service.request("/metrics")).status).toBe(200);
  await proxy.comeBack();
});

test("while the database is down, test-mode quotes use the last known clock, otherwise the real time", async () => {
  const quotedAt = async (key: string) => {
    const answer = await service.request("/v1/quotes", { apiKey: key, body: COVERED_ROUTE });
    return answer.status === 201 ? Date.parse(answer.body.created_at) : answer.status;
  };
  const clock = (key: string, body?: object) =>
    service.request("/v1/test/clock", { apiKey: key, ...(body ? { body } : { method: "DELETE" }) });
  const keys = await Promise.all(Array.from({ length: 4 }, async () => (await service.addWorkspace()).twin.apiKey));
  // The clock of the last one stays unknown to this process.
  const [moved, released, seen] = keys;
  const time = new Date(Date.now() + 86_400_000);
  for (const key of [moved!, released!, seen!]) await clock(key, { time });
  await clock(released!);
  expect(await quotedAt(seen!)).toBe(time.getTime());
  const isFrozen = (at: number) => at === time.getTime();
  const isReal = (at: number) => at > 503 && at < time.getTime();
  // Repeated, because the change feed evicts each new key once, possibly after its first use.
  await eventually("quotes of cached keys at the times of their clocks", async () => {
    for (const apiKey of keys) await service.request("/v1/workspace", { apiKey });
    await proxy.goDown();
    const times = await Promise.all(keys.map(quotedAt));
    if (times.every((at, i) => (i % 2 === 0 ? isFrozen(at) : isReal(at)))) return true;
    await proxy.comeBack();
    for (const key of [moved!, released!, seen!]) await quotedAt(key);
    return false;
  });
  expect((await quote(seen!)).status).toBe(200);
  await proxy.comeBack();
});

test("a replica is not ready after 30 s without its database until it reconnects, unless that limit is disabled", async () => {
  let nowMs = 0;
  const outside = { ...REAL_WAITS, monotonicMs: () => nowMs };
  const patient = await startReplica(proxy.url, { outside, maxDatabaseOutageSeconds: 0 });
  const replica = await startReplica(proxy.url, { outside });
  const health = createClient(Health, PROTOCOLS["gRPC on the gRPC server"](replica));
  const readiness = async ({ request }: TestService = replica) => {
    const { status, body } = await request("/readyz");
    const { text } = await request("/metrics");
    const [age, ready] = ["database_contact_age_seconds", "ready"].map((name) =>
      Number(new RegExp(`^shipments_${name} (.+)$`, "m").exec(text)![1]),
    );
    return [status, body.status, (await health.check({})).status, age, ready];
  };
  expect(await readiness()).toEqual([200, "ready", Status.SERVING, 0, 1]);

  await proxy.goDown();
  nowMs = 29_999;
  expect(await readiness()).toEqual([200, "ready", Status.SERVING, 29.999, 1]);
  nowMs = 30_000;
  const cutOff = [503, "the database is unreachable", Status.NOT_SERVING, 30, 0];
  expect(await readiness()).toEqual(cutOff);
  nowMs = 86_400_000;
  expect((await readiness(patient)).slice(0, 2)).toEqual([200, "ready"]);

  await proxy.comeBack();
  await eventually("the replica to be ready", async () => (await readiness())[0] === 200);
  expect(await readiness()).toEqual([200, "ready", Status.SERVING, 0, 1]);
  await Promise.all([replica.close(), patient.close()]);
});

test("logs an outage of the database once and then every ten seconds", async () => {
  let nowMs = 0;
  const lines: LogLine[] = [];
  const replica = await startReplica(proxy.url, {
    outside: { ...REAL_WAITS, monotonicMs: () => nowMs },
    logged: (line) => lines.push(line),
  });
  const refusals = async () => {
    const calls = await callConcurrently(() => replica.request("/v1/shipments", { apiKey, body: BOOKING }));
    calls.forEach(expectUnavailable);
  };
  const warnings = () => lines.filter(({ level }) => level !== "info");
  const line = { during: expect.any(String), msg: "database unavailable" };
  const first = { ...line, err: expect.any(Object), notLogged: 0 };

  await proxy.goDown();
  await refusals();
  nowMs = 9_999;
  await refusals();
  expect(warnings()).toEqual([expect.objectContaining(first)]);
  nowMs = 10_000;
  await refusals();
  const second = { ...line, reason: expect.any(String), notLogged: expect.any(Number) };
  expect(warnings()).toEqual([first, second].map((it) => expect.objectContaining(it)));
  expect(warnings()[1]!.notLogged).toBeGreaterThanOrEqual(2 * CONCURRENT_CALLS - 1);

  await proxy.comeBack();
  const reached = await eventually("the log to report the end", () =>
    lines.find(({ msg }) => msg === "database reached"),
  );
  expect(reached).toMatchObject({ level: "info", seconds: 10 });
});

test("key changes during an outage take effect after it", async () => {
  const meanwhile = createOrm(database.url, { entities: ENTITIES });
  await proxy.goDown();
  const newKey = await rotateKeys(meanwhile.em, workspaceId, 60);
  await revokeKey(meanwhile.em, workspaceId, apiKey);
  // Simulates a long outage: no key has changed recently.
  await client.query("update api_key set changed_at = now() - interval '1 hour'");
  await client.query("update api_key set ends_at = changed_at where ends_at is not null");
  await proxy.comeBack();
  await eventually("the revoked key to be refused", async () => (await quote()).status === 401);
  expect((await quote(newKey)).status).toBe(200);
  await meanwhile.close();
});

test("replaces connections that an administrator terminates", async () => {
  await expectWorking();
  await client.query(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await expectWorking();
});

test("transactions that lose their connection are rolled back and leak no pool connection", async () => {
  for (const time of ["once", "twice"]) {
    const customers = Array.from({ length: 16 }, (_, i) => `cut${time}${i}`);
    const answers = await inTheMiddleOfBookings(customers, proxy.cut);
    answers.forEach(expectUnavailable);
  }
  await expectWholeBookings();
  await expectWorking();
});

test("a hanging database delays callers only briefly, and calls work once it resumes", async () => {
  await expectWorking();
  proxy.hang();
  const began = performance.now();
  const answers = callConcurrently(book);
  expect((await quote()).status).toBe(200);
  expectUnavailable(await quote(createSecretKey("shp_")));
  (await answers).forEach(expectUnavailable);
  expect(performance.now() - began).toBeLessThan(LONGEST_MS);
  proxy.resume();
  await eventually("a booking to succeed", async () => (await book()).status === 201);
  await expectWorking();
});

test("silently dropped connections delay callers only briefly and are replaced", async () => {
  const began = performance.now();
  const answers = await inTheMiddleOfBookings(["forgotten1", "forgotten2"], proxy.forget);
  answers.forEach(expectUnavailable);
  expect(performance.now() - began).toBeLessThan(LONGEST_MS);
  await expectWholeBookings();
  await expectWorking();
});

/** Whether a log line is a warning. In these tests, all warnings are about the database. */
const isWaiting = ({ level }: LogLine) => level === "warn";

test("a service that starts before its database becomes ready once the database is up", async () => {
  await proxy.goDown();
  const starting = spawnService({ DATABASE_URL: proxy.url });
  await eventually("the service to wait for the database", () => starting.log().some(isWaiting));
  await proxy.comeBack();
  await (await untilListening(starting)).untilReady();
});

test("a service stops even if its database hangs with a call in flight", async () => {
  // The waiting calls end only at the shutdown.
  const replica = await startReplica(proxy.url);
  await replica.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
  proxy.hang();
  const booking = replica.request("/v1/shipments", { apiKey, body: BOOKING });
  const lost = expect(booking).rejects.toThrow();
  await eventually("the booking in flight", async () => (await callsInFlight(replica)) === 1);
  await replica.close();
  await lost;
  proxy.resume();
});

test("pending spans are sent at shutdown even if the database hangs", async () => {
  const otlp = await startOtlpReceiver();
  onTestFinished(otlp.close);
  const tracing = startTracing({
    url: `${otlp.endpoint}/v1/traces`,
    sampler: "always_on",
    ratio: 1,
    databaseUrl: proxy.url,
    trustedProxies: [],
    version: "1.0.0",
    instance: "host-1",
    log: pino({ level: "silent" }),
  });
  let closed = 0;
  const close = async () => {
    closed++;
    await tracing.close();
  };
  const replica = await startReplica(proxy.url, {
    outside: { ...REAL_WAITS, tracing: { ...tracing, close } },
  });
  const headers = { "x-request-id": "before-the-end" };
  await replica.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE, headers });
  proxy.hang();
  await replica.close();
  expect(closed).toBe(1);
  expect(await otlp.spanOf("before-the-end")).toMatchObject({ kind: "server" });
  proxy.resume();
});

test("a transaction that never finishes does not prevent a service from closing", async () => {
  const replica = await startReplica(database.url);
  await replica.app.em.fork().begin();
  await replica.close();
});

test("a service that waits for its database stops on SIGTERM", async () => {
  await proxy.goDown();
  const environment = { DATABASE_URL: proxy.url, SHUTDOWN_DELAY_SECONDS: "300" };
  const served = spawnService(environment);
  await eventually("the service to wait for the database", () => served.log().some(isWaiting));
  served.process.kill("SIGTERM");
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
  await proxy.comeBack();
});
