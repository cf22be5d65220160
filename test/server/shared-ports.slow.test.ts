import { randomUUID } from "node:crypto";
import { Agent, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { sharedPortsWarning } from "../../src/server/ports.ts";
import { startBookingLoad } from "../support/booking-load.ts";
import { BOOKING, COVERED_ROUTE, RPC_BOOKING, RPC_ROUTE } from "../support/bookings.ts";
import type { Environment } from "../support/command.ts";
import { endpointsAt } from "../support/endpoints.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startService, type StartedService } from "../support/service.ts";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.ts";

/** Maximum duration of a test that replaces processes, in milliseconds. */
const REPLACED_MS = 200_000;
/** Minimum number of calls that each client makes between two steps. */
const CALLS_OF_STEP = 20;
/** Number of clients that book while a process is killed. */
const CLIENTS = 8;
/** Pause of a client between two calls, in milliseconds. */
const PAUSE_MS = 10;

let service: StartedService;
let apiKey: string;
let environment: Environment;

beforeEach(async () => {
  service = await startService();
  onTestFinished(() => service.close());
  ({ apiKey } = await service.addWorkspace());
  environment = {
    DATABASE_URL: service.databaseUrl,
    HOST: "127.0.0.1",
    REUSE_PORT: "true",
    PORT: `${await freePort()}`,
    GRPC_PORT: `${await freePort()}`,
    OPERATIONS_PORT: "0",
  };
});

/** Starts a process that shares the ports, and waits until its own port reports ready. */
async function start(): Promise<ServiceProcess> {
  const started = await startServiceProcess(environment);
  const { operations } = started.log().find(({ msg }) => msg === "starting")!;
  const { request } = endpointsAt(operations as string, "");
  await eventually("the process to be ready", async () => (await request("/readyz")).status === 200);
  return started;
}

const countCalls = (started: ServiceProcess) => started.log().filter(({ msg }) => msg === "call").length;

async function storedReferences(): Promise<string[]> {
  const rows = await service.app.em.execute("select reference from shipment");
  return rows.map(({ reference }) => reference as string);
}

test(
  "when one of several processes on a port is killed and replaced, acknowledged bookings are stored once and calls continue",
  async () => {
    const processes = [await start(), await start(), await start()];
    const load = startBookingLoad([processes[0]!], apiKey, CLIENTS);
    const more = () => {
      const target = load.acknowledged.size + CLIENTS * CALLS_OF_STEP;
      return eventually("more bookings", () => load.acknowledged.size >= target);
    };
    await more();
    const [killed] = processes.splice(1, 1);
    killed!.process.kill("SIGKILL");
    await killed!.ended;
    await more();
    processes.push(await start());
    await more();
    await load.stop();
    // Only connections to the killed process may be lost, and no call may be refused.
    const { lost = 0, ...refused } = Object.fromEntries(load.refused);
    expect(refused).toEqual({});
    expect(lost).toBeLessThanOrEqual(CLIENTS);
    expect((await storedReferences()).toSorted()).toEqual([...load.acknowledged.values()].toSorted());
  },
  REPLACED_MS,
);

/** Returns ways to call the service: new and kept connections over HTTP/1.1 and HTTP/2. */
function createWays({ httpUrl, grpcUrl }: ServiceProcess, booked: string[]) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const send = async (agent: Agent | false, path: string, body: object, key: string = randomUUID()): Promise<any> => {
    const keyed = { ...headers, "idempotency-key": key };
    const sending = httpRequest(httpUrl + path, { method: "POST", headers: keyed, agent });
    sending.end(JSON.stringify(body));
    const answered = await once(sending, "response").catch((error: unknown) => {
      // The server may close a kept connection that was idle for a second at this moment (RFC 9112, section 9.3.1).
      if (!sending.reusedSocket) throw error;
    });
    if (answered === undefined) return send(agent, path, body, key);
    const [response] = answered;
    const answer = await text(response);
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${answer}`);
    return JSON.parse(answer);
  };
  const book = async (agent: Agent | false) => {
    booked.push((await send(agent, "/v1/shipments", BOOKING)).data.reference);
  };
  const kept = () => new Agent({ keepAlive: true, maxSockets: 1 });
  const shipmentsBy = (sessionManager: Http2SessionManager) =>
    createClient(ShipmentService, createGrpcTransport({ baseUrl: grpcUrl, sessionManager }));
  const bookBy = async (shipments: ReturnType<typeof shipmentsBy>) => {
    const { data } = await shipments.createShipment(RPC_BOOKING, { headers });
    booked.push(data!.reference);
  };
  const onNewConnection = async (call: (shipments: ReturnType<typeof shipmentsBy>) => Promise<unknown>) => {
    const session = new Http2SessionManager(grpcUrl);
    await call(shipmentsBy(session)).finally(() => session.abort());
  };
  /**
   * Retries a stream that was refused unprocessed because its connection was closing. Every gRPC
   * client retries such streams (RFC 9113, section 8.7).
   */
  const retry = (call: () => Promise<unknown>) =>
    call().catch((error: unknown) => {
      if (!String(error).includes("NGHTTP2_REFUSED_STREAM")) throw error;
      return call();
    });
  const [quoting, booking] = [kept(), kept()];
  const [quotes, bookings] = [1, 2].map(() => shipmentsBy(new Http2SessionManager(grpcUrl)));
  return [
    () => send(false, "/v1/quotes", COVERED_ROUTE),
    () => send(false, "/v1/quotes", COVERED_ROUTE),
    () => book(false),
    () => book(false),
    () => send(quoting, "/v1/quotes", COVERED_ROUTE),
    () => book(booking),
    () => retry(() => quotes!.quoteShipment(RPC_ROUTE, { headers })),
    () => retry(() => bookBy(bookings!)),
    () => onNewConnection((shipments) => shipments.quoteShipment(RPC_ROUTE, { headers })),
    () => onNewConnection(bookBy),
  ];
}

/** Whether another process takes over the pending connections of a closed port. Otherwise some calls are lost. */
const migrates = (await sharedPortsWarning({ reusePort: true })) === undefined;

test.runIf(migrates)(
  "processes on a port restart one after the other without failed calls on new or kept connections",
  async () => {
    const processes = [await start(), await start()];
    const failed: string[] = [];
    const booked: string[] = [];
    const ways = createWays(processes[0]!, booked);
    const counts = ways.map(() => 0);
    let isEnding = false;
    const clients = ways.map(async (call, i) => {
      for (; !isEnding; counts[i]!++) {
        await call().catch((error: unknown) => failed.push(`client ${i}: ${String(error)}`));
        await sleep(PAUSE_MS);
      }
    });
    const more = () => {
      const targets = counts.map((count) => count + CALLS_OF_STEP);
      return eventually("more calls", () => targets.every((count, i) => counts[i]! >= count));
    };
    await more();
    for (const i of processes.keys()) {
      const before = countCalls(processes[1 - i]!);
      processes[i]!.process.kill("SIGTERM");
      expect(await processes[i]!.ended).toMatchObject({ code: 0, stderr: "" });
      await more();
      expect(countCalls(processes[1 - i]!)).toBeGreaterThan(before);
      processes[i] = await start();
      await more();
    }
    isEnding = true;
    await Promise.all(clients);
    expect(failed).toEqual([]);
    expect((await storedReferences()).toSorted()).toEqual(booked.toSorted());
  },
  REPLACED_MS,
);
