import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { publishDocument } from "../support/publish-document.ts";
import { BOOKING, COVERED_ROUTE } from "../support/bookings.ts";
import type { Environment } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { callsInFlight } from "../support/metrics.ts";
import { makeWorkspace } from "../support/platform.ts";
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

afterEach(() => database.drop());

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
  const client = new pg.Client(database.url);
  await client.connect();
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
  const client = new pg.Client(database.url);
  await client.connect();
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

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
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
        body: { message: "The service is shutting down; try again in a moment.", errors: {} },
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
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query("begin; lock table shipment in exclusive mode");
  const booking = served.grpcClient(apiKey).createShipment({
    pickupAddress: BOOKING.pickup_address,
    pickupLat: BOOKING.pickup_lat,
    pickupLng: BOOKING.pickup_lng,
    dropoffAddress: BOOKING.dropoff_address,
    dropoffLat: BOOKING.dropoff_lat,
    dropoffLng: BOOKING.dropoff_lng,
    weightKg: BOOKING.weight_kg,
    customerName: BOOKING.customer_name,
    customerEmail: BOOKING.customer_email,
  });
  await eventually("the booking to wait", async () => {
    const { rows } = await client.query("select from pg_locks where not granted");
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
