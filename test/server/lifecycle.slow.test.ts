import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { createClient } from "@connectrpc/connect";
import { beforeEach, expect, test } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/grpc/health/v1/health_pb.js";
import { migrate } from "../../src/db/migrate.ts";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { publishDocument } from "../support/publish-document.ts";
import { BOOKING, COVERED_ROUTE, RPC_BOOKING } from "../support/bookings.ts";
import { startProcess, type Environment } from "../support/command.ts";
import { createDatabase, type TestDatabase, connectTo } from "../support/database.ts";
import { errorBody } from "../support/endpoints.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { callsInFlight } from "../support/metrics.ts";
import { makeWorkspace } from "../support/platform.ts";
import { PROTOCOLS } from "../support/rpc-client.ts";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";

/** How long a process may take from the signal to its end, in milliseconds. */
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

const quote = (served: ServiceProcess) =>
  served.request(QUOTE_PATH, { apiKey, body: COVERED_ROUTE });

/** Waits for the process to end after a signal, which must be in time and with exit code 0. */
async function expectEndInTime(served: ServiceProcess, signalledAt: number): Promise<void> {
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
  expect(performance.now() - signalledAt).toBeLessThan(END_MS);
}

function signal(served: ServiceProcess, name: "SIGTERM" | "SIGINT" | "SIGHUP"): number {
  served.process.kill(name);
  return performance.now();
}

const untilDraining = (served: ServiceProcess) =>
  eventually("the service to drain", async () => {
    const { status, body } = await served.request("/readyz");
    return status === 503 && body.status === "shutting down";
  });

/** A POST of which only the first half of the body has been sent. */
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

test("ten replicas that start together on an empty database all become ready", async () => {
  const client = await connectTo(database.url);
  await client.query("drop schema public cascade; create schema public");
  const replicas = await Promise.all(
    Array.from({ length: 10 }, () => startServiceProcess(environment)),
  );
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

test("a service without a tariff is alive but not ready until the first one is published", async () => {
  const client = await connectTo(database.url);
  await client.query("delete from tariff_version");
  await client.end();
  const served = await startServiceProcess(environment);
  await eventually("the service to want a tariff", async () => {
    const { status, body } = await served.request("/readyz");
    return status === 503 && body.status === "waiting for its first tariff";
  });
  const says = (msg: string) => served.log().some((line) => line.msg === msg);
  await eventually("the log to say so", () =>
    says("waiting for the first tariff: publish one by `shipments tariff publish`"),
  );
  expect(says("listening")).toBe(false);
  expect((await served.request("/healthz")).status).toBe(200);
  const { status, headers } = await quote(served);
  expect({ status, retryAfter: headers.get("retry-after") }).toEqual({
    status: 503,
    retryAfter: "1",
  });
  await publishSample();
  await served.untilReady();
  expect((await quote(served)).status).toBe(200);
  await eventually("the log to say that it serves", () => says("listening"));
});

test("at SIGTERM a service is unready and serves on for SHUTDOWN_DELAY_SECONDS, which SIGINT cuts short", async () => {
  environment = { ...environment, SHUTDOWN_DELAY_SECONDS: "300" };
  const served = await startReady();
  expect((await quote(served)).headers.get("connection")).toBe("keep-alive");
  signal(served, "SIGTERM");
  await untilDraining(served);
  const health = createClient(Health, PROTOCOLS["gRPC on the gRPC server"](served));
  expect((await health.check({})).status).toBe(Status.NOT_SERVING);
  signal(served, "SIGTERM");
  const { status, headers } = await quote(served);
  expect([status, headers.get("connection")]).toEqual([200, "close"]);
  expect((await served.request("/v1/shipments", { apiKey, body: BOOKING })).status).toBe(201);
  expect((await served.grpcClient(apiKey).listShipments({})).data).toHaveLength(1);
  await expectEndInTime(served, signal(served, "SIGINT"));

  environment = { ...environment, SHUTDOWN_DELAY_SECONDS: "1" };
  const short = await startReady();
  signal(short, "SIGTERM");
  expect(await short.ended).toMatchObject({ code: 0, stderr: "" });
  // Calls before are logged in their own time.
  const said = short.log().flatMap(({ msg }) => (msg === "call" ? [] : msg));
  expect(said.slice(-2)).toEqual(["not ready, and serving on before the end", "shutting down"]);
});

test("SIGHUP, by which other programs read their configuration anew, does not end the process", async () => {
  const served = await startReady();
  signal(served, "SIGHUP");
  await eventually("the log to say so", () =>
    served.log().some(({ msg }) => msg === "SIGHUP is ignored: there is nothing to read anew"),
  );
  expect((await quote(served)).status).toBe(200);
  expect((await served.request("/readyz")).status).toBe(200);
  await expectEndInTime(served, signal(served, "SIGTERM"));
});

test.runIf(process.platform === "linux" && spawnSync("script", ["--version"]).status === 0)(
  "a process ends when the terminal that it runs on is closed",
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
    await eventually("its end", async () => (await status().catch(() => "gone")) === "gone");
  },
);

test.each(["SIGTERM", "SIGINT"] as const)(
  "at %s a call in flight is answered, new ones are refused, and the process ends",
  async (name) => {
    const served = await startReady();
    const inFlight = await sendHalf(served, "/v1/shipments", BOOKING);
    const signalledAt = signal(served, name);
    await untilDraining(served);

    await eventually("two seconds to have passed", async () => {
      expect((await served.request("/healthz")).status).toBe(200);
      const refused = await quote(served);
      expect(refused).toMatchObject({
        status: 503,
        body: errorBody("The service is shutting down; try again in a moment."),
      });
      expect(refused.headers.get("retry-after")).toBe("1");
      return performance.now() - signalledAt > 2_000;
    });
    expect(await inFlight.sendRest()).toBe(201);
    await expectEndInTime(served, signalledAt);
  },
);

test("at SIGTERM a gRPC call in flight is answered", async () => {
  const served = await startReady();
  const client = await connectTo(database.url);
  await client.query("begin; lock table shipment in exclusive mode");
  const booking = served.grpcClient(apiKey).createShipment(RPC_BOOKING);
  await eventually("the booking to wait", async () => {
    const { rows } = await client.query(
      "select from pg_locks where not granted and relation = 'shipment'::regclass",
    );
    return rows.length === 1;
  });
  const signalledAt = signal(served, "SIGTERM");
  await untilDraining(served);
  await client.query("rollback");
  expect((await booking).data?.currency).toBe("USD");
  await client.end();
  await expectEndInTime(served, signalledAt);
});

test("a call that never ends does not keep the process from ending", async () => {
  const served = await startReady();
  const { response } = await sendHalf(served, QUOTE_PATH, COVERED_ROUTE);
  const signalledAt = signal(served, "SIGTERM");
  await expect(response).rejects.toThrow();
  await expectEndInTime(served, signalledAt);
});

test("idle connections do not keep the process from ending", async () => {
  const served = await startReady();
  const { hostname, port } = new URL(served.httpUrl);
  const grpc = new URL(served.grpcUrl);
  const idle = [connect(Number(port), hostname), connect(Number(grpc.port), grpc.hostname)];
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  const signalledAt = signal(served, "SIGTERM");
  await expectEndInTime(served, signalledAt);
  for (const socket of idle) socket.destroy();
});

test("a signal sent twice, as by a terminal and by npm, does not interrupt the drain", async () => {
  const served = await startReady();
  const inFlight = await sendHalf(served, QUOTE_PATH, COVERED_ROUTE);
  const signalledAt = signal(served, "SIGINT");
  await untilDraining(served);
  signal(served, "SIGINT");
  expect(await inFlight.sendRest()).toBe(200);
  await expectEndInTime(served, signalledAt);
});
