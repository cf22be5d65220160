import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { createClient } from "@connectrpc/connect";
import { beforeEach, expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/grpc/health/v1/health_pb.js";
import { migrate } from "../../src/db/migrate.ts";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { DRAIN_MS } from "../../src/server/lifecycle.ts";
import { publishDocument } from "../support/publish-document.ts";
import { BOOKING, COVERED_ROUTE, RPC_BOOKING } from "../support/bookings.ts";
import { startProcess, type Environment } from "../support/command.ts";
import { createDatabase, type TestDatabase, connectTo } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { callsInFlight } from "../support/metrics.ts";
import { makeWorkspace } from "../support/platform.ts";
import { openSocket, readAnswer, untilRefused } from "../support/raw-http.ts";
import { PROTOCOLS, type ServerUrls } from "../support/rpc-client.ts";
import { OF_PROCESS, startServiceProcess, type ServiceProcess } from "../support/service-process.ts";
import { startReplica } from "../support/service.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";

/** Maximum time from the signal to the exit of a process, in milliseconds. */
const END_MS = 10_000;
const QUOTE_PATH = "/v1/shipments/quote";

let database: TestDatabase;
let environment: Environment;
let apiKey: string;

beforeEach(async () => {
  database = await createDatabase();
  environment = { DATABASE_URL: database.url };
  const orm = createOrm(database.url, { entities: ENTITIES });
  await publishDocument(orm.em, SAMPLE_TARIFF);
  ({ apiKey } = await makeWorkspace(orm.em, { name: "Acme", paymentProvider: "manual" }));
  await orm.close();
});

async function startReady(): Promise<ServiceProcess> {
  const served = await startServiceProcess(environment);
  await served.untilReady();
  expect((await quote(served)).status).toBe(200);
  return served;
}

const quote = (served: ServiceProcess) => served.request(QUOTE_PATH, { apiKey, body: COVERED_ROUTE });

/** Expects the process to exit with code 0 in time after a signal. */
async function expectEndInTime(served: ServiceProcess, signalledAt: number): Promise<void> {
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
  expect(performance.now() - signalledAt).toBeLessThan(END_MS);
}

function signal(served: ServiceProcess, name: "SIGTERM" | "SIGINT" | "SIGHUP"): number {
  served.process.kill(name);
  return performance.now();
}

/** Waits until both ports refuse connections. */
async function untilDraining(served: ServerUrls): Promise<void> {
  await untilRefused(served.httpUrl);
  await untilRefused(served.grpcUrl);
}

/** Opens a keep-alive connection as a proxy does, and returns a function that sends requests on it. */
async function keepConnection(served: ServerUrls) {
  const socket = openSocket(served.httpUrl);
  await once(socket, "connect");
  return async (method: "GET" | "POST", path: string, body?: object) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const head = [
      `${method} ${path} HTTP/1.1`,
      "Host: localhost",
      `Authorization: Bearer ${apiKey}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(text)}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
    const { status, headers, body: answered } = await readAnswer(socket);
    return { status, connection: headers.get("connection"), body: answered };
  };
}

/** Sends a POST request with only the first half of its body. */
async function sendHalf(served: ServiceProcess, path: string, body: object) {
  const text = JSON.stringify(body);
  const half = Math.floor(text.length / 2);
  const request = httpRequest(`${served.httpUrl}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      "content-length": text.length,
    },
  });
  const response = once(request, "response");
  response.catch(() => undefined);
  request.write(text.slice(0, half));
  await eventually("the call in flight", async () => (await callsInFlight(served)) === 1);
  return {
    response,
    async sendRest(): Promise<number | undefined> {
      request.end(text.slice(half));
      const [answer] = await response;
      answer.resume();
      return answer.statusCode;
    },
  };
}

test("replicas that start together on an empty database all become ready", async () => {
  const client = await connectTo(database.url);
  await client.query("drop schema public cascade; create schema public");
  const replicas = await Promise.all(Array.from({ length: 4 }, () => startServiceProcess(environment)));
  await eventually("every migration", async () => {
    const { rows } = await client.query("select to_regclass('shipment') as made");
    return rows[0].made !== null;
  });
  const { version } = (await publishSample()) as { version: number };
  expect(version).toBe(1);
  await Promise.all(replicas.map((replica) => replica.untilReady()));

  const { rows } = await client.query("select name from applied_migration");
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  await client.end();
  for (const replica of replicas) replica.process.kill("SIGTERM");
  for (const { code } of await Promise.all(replicas.map(({ ended }) => ended))) {
    expect(code).toBe(0);
  }
});

async function publishSample(): Promise<unknown> {
  await migrate(database.url);
  const orm = createOrm(database.url, { entities: ENTITIES });
  const published = await publishDocument(orm.em, SAMPLE_TARIFF);
  await orm.close();
  return published;
}

test("a service without a tariff is live but not ready until the first one is published", async () => {
  const client = await connectTo(database.url);
  await client.query("delete from tariff_version");
  await client.end();
  const served = await startServiceProcess(environment);
  await eventually("the service to wait for a tariff", async () => {
    const { status, body } = await served.request("/readyz");
    return status === 503 && body.status === "waiting for the first tariff";
  });
  await eventually("the log line about the missing tariff", () =>
    served.log().some(({ msg }) => String(msg).startsWith("waiting for the first tariff: publish one with")),
  );
  expect((await served.request("/healthz")).status).toBe(200);
  const { status, headers } = await quote(served);
  expect({ status, retryAfter: headers.get("retry-after") }).toEqual({
    status: 503,
    retryAfter: "1",
  });
  await publishSample();
  await served.untilReady();
  expect((await quote(served)).status).toBe(200);
});

test("on SIGTERM a service becomes unready and serves for SHUTDOWN_DELAY_SECONDS, unless SIGINT follows", async () => {
  environment = { ...environment, SHUTDOWN_DELAY_SECONDS: "300" };
  const served = await startReady();
  signal(served, "SIGTERM");
  await eventually("the service to be unready", async () => {
    const { status: readiness, body } = await served.request("/readyz");
    return readiness === 503 && body.status === "shutting down";
  });
  const health = createClient(Health, PROTOCOLS["gRPC on the gRPC server"](served));
  expect((await health.check({})).status).toBe(Status.NOT_SERVING);
  signal(served, "SIGTERM");
  const { status, headers } = await quote(served);
  // The port closes to new connections later. Kept connections still work.
  expect([status, headers.get("connection")]).toEqual([200, "keep-alive"]);
  expect((await served.request("/v1/shipments", { apiKey, body: BOOKING })).status).toBe(201);
  expect((await served.grpcClient(apiKey).listShipments({})).data).toHaveLength(1);
  await expectEndInTime(served, signal(served, "SIGINT"));

  environment = { ...environment, SHUTDOWN_DELAY_SECONDS: "1" };
  const short = await startReady();
  signal(short, "SIGTERM");
  expect(await short.ended).toMatchObject({ code: 0, stderr: "" });
  // Ignores the lines of earlier calls, which are logged independently.
  const messages = short.log().flatMap(({ msg }) => (msg === "call" ? [] : msg));
  expect(messages.slice(-2)).toEqual(["not ready, still serving before shutdown", "shutting down"]);
});

test.runIf(process.platform === "linux" && spawnSync("script", ["--version"]).status === 0)(
  "a process exits when its terminal is closed",
  async () => {
    const [port, grpcPort] = [await freePort(), await freePort()].map(String);
    const ports = { PORT: port!, GRPC_PORT: grpcPort! };
    const command = `exec "${process.execPath}" src/cli.js serve`;
    const terminal = startProcess("script", ["-qec", command, "/dev/null"], {
      ...environment,
      ...ports,
    });
    const status = () => fetch(`http://127.0.0.1:${port}/readyz`).then((it) => it.status);
    await eventually("the service", async () => (await status().catch(() => 0)) === 200);
    terminal.process.kill("SIGKILL");
    await eventually("the process to exit", async () => (await status().catch(() => "gone")) === "gone");
  },
);

test("on SIGTERM a service becomes unready, closes its ports, responds to calls in flight and on open connections, and exits", async () => {
  const served = await startReady();
  const inFlight = await sendHalf(served, "/v1/shipments", BOOKING);
  const kept = await Promise.all(Array.from({ length: 4 }, () => keepConnection(served)));
  const [probe, quoting, booking, listing] = kept;
  const client = await connectTo(database.url);
  await client.query("begin; lock table shipment in exclusive mode");
  const byGrpc = served.grpcClient(apiKey).createShipment(RPC_BOOKING);
  await eventually("the booking to wait", async () => {
    const { rows } = await client.query("select from pg_locks where not granted and relation = 'shipment'::regclass");
    return rows.length === 1;
  });
  const signalledAt = signal(served, "SIGTERM");
  await untilDraining(served);

  const unready = { status: 503, connection: "close", body: { status: "shutting down" } };
  expect(await probe!("GET", "/readyz")).toEqual(unready);
  const quoted = await quoting!("POST", QUOTE_PATH, COVERED_ROUTE);
  expect(quoted).toMatchObject({ status: 200, connection: "close", body: { covered: true } });
  await client.query("rollback");
  expect((await byGrpc).data?.currency).toBe("USD");
  const booked = await booking!("POST", "/v1/shipments", BOOKING);
  expect(booked).toMatchObject({ status: 201, connection: "close" });
  expect(await inFlight.sendRest()).toBe(201);
  const listed = await listing!("POST", "/shipments.v1.ShipmentService/ListShipments", {});
  expect(listed).toMatchObject({ status: 200, connection: "close" });
  expect(listed.body.data).toHaveLength(3);
  await client.end();
  await expectEndInTime(served, signalledAt);
});

test("idle connections stay open briefly after the ports are closed, and accept one more call", async () => {
  const service = await startReplica(database.url);
  const keep = await keepConnection(service);
  const closing = service.app.close(DRAIN_MS);
  await untilDraining(service);
  const answer = await keep("POST", "/v1/shipments", BOOKING);
  expect(answer).toMatchObject({ status: 201, connection: "close" });
  await closing;
});

test("a call that never finishes does not prevent the process from exiting, and is logged as aborted", async () => {
  const served = await startReady();
  const { response } = await sendHalf(served, QUOTE_PATH, COVERED_ROUTE);
  const signalledAt = signal(served, "SIGTERM");
  await expect(response).rejects.toThrow();
  await expectEndInTime(served, signalledAt);
  const msg = `calls were aborted because they did not finish within ${DRAIN_MS / 1_000} s`;
  expect(served.log().filter(({ level }) => level !== "info")).toEqual([
    { ...OF_PROCESS, level: "warn", time: expect.any(Number), calls: 1, msg },
  ]);
  expect(served.log().filter(({ cut }) => cut === true)).toMatchObject([
    { method: "shipments.v1.ShipmentService/QuoteShipment", code: "unavailable", status: 0 },
  ]);
});

test("SIGHUP has no effect, and neither a repeated signal, as from a terminal and npm, nor idle connections interrupt or delay the drain", async () => {
  const served = await startReady();
  // On SIGHUP, other programs reload their configuration.
  signal(served, "SIGHUP");
  await eventually("the log line about SIGHUP", () =>
    served.log().some(({ msg }) => msg === "SIGHUP is ignored: the service does not reload its configuration"),
  );
  expect((await served.request("/readyz")).status).toBe(200);
  const inFlight = await sendHalf(served, QUOTE_PATH, COVERED_ROUTE);
  const idle = [served.httpUrl, served.grpcUrl].map(openSocket);
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  const signalledAt = signal(served, "SIGINT");
  await untilDraining(served);
  signal(served, "SIGINT");
  expect(await inFlight.sendRest()).toBe(200);
  await expectEndInTime(served, signalledAt);
  for (const socket of idle) socket.destroy();
});
