import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent as HttpsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { readGuides } from "../docs/guide-blocks.ts";
import { BOOKING, COVERED_ROUTE, RPC_BOOKING, RPC_ROUTE } from "../support/bookings.ts";
import type { Environment } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startReplica, startService, startUnprepared } from "../support/service.ts";
import type { StartedService, TestService } from "../support/service.ts";
import { startServiceProcess, type LogLine, type ServiceProcess } from "../support/service-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const HTTP_NAME = "book.example.org";
const GRPC_NAME = "grpc.book.example.org";
/** Source address of the tests' calls, different from the proxy's address. */
const CALLER = "127.0.0.2";

const { blocks } = readGuides().find(({ name }) => name === "proxies.md")!;
const blockWith = (text: string) => blocks.find((block) => block.text.includes(text))!.text;
const { before: textOfHaproxy } = blocks.find(({ text }) => text.includes("backend http_replicas"))!;

/**
 * Proxies with the guide's configuration, and the command that runs each in the foreground with its
 * files in a folder.
 */
const PROXIES = [
  {
    name: "nginx",
    grpcName: GRPC_NAME,
    shutdownDelaySeconds: 0,
    // Adds temporary paths, because the default folders belong to another account.
    config: (folder: string) =>
      blockWith("upstream http_replicas")
        .replaceAll("/etc/nginx/tls", folder)
        .replace("http {", `http {\n  access_log off;\n${temporaryPaths(folder)}`),
    args: (folder: string, file: string) => {
      const own = `daemon off; pid ${folder}/nginx.pid;${process.getuid?.() === 0 ? " user root;" : ""}`;
      return ["-p", folder, "-e", join(folder, "error.log"), "-c", file, "-g", own];
    },
  },
  {
    name: "haproxy",
    grpcName: HTTP_NAME,
    shutdownDelaySeconds: Number(/`SHUTDOWN_DELAY_SECONDS=(\d+)`/.exec(textOfHaproxy)![1]),
    config: (folder: string) =>
      blockWith("backend http_replicas")
        .replace("/etc/haproxy/tls", folder)
        // Lowers the limit, because this machine may allow fewer open files.
        .replace("maxconn 10000", "maxconn 100"),
    args: (_: string, file: string) => ["-db", "-f", file],
  },
] as const;

/** Returns nginx settings for the folders of temporary body files. */
function temporaryPaths(folder: string): string {
  return ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `  ${kind}_temp_path ${folder}/${kind};`)
    .join("\n");
}

/** Whether a proxy can be tested. Only Linux allows `CALLER` as a source address without configuration. */
const isHere = (program: string) => process.platform === "linux" && spawnSync(program, ["-v"]).error === undefined;

let folder: string;
let ca: string;
beforeAll(() => {
  folder = makeTemporaryFolder("proxies");
  const names = `subjectAltName=DNS:${HTTP_NAME},DNS:${GRPC_NAME}`;
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem"];
  const signed = ["-x509", "-out", "fullchain.pem", "-days", "2", "-subj", `/CN=${HTTP_NAME}`];
  const options = ["req", ...key, ...signed, "-addext", names];
  execFileSync("openssl", options, { cwd: folder, stdio: "ignore" });
  ca = readFileSync(join(folder, "fullchain.pem"), "utf8");
  writeFileSync(join(folder, "book.pem"), ca + readFileSync(join(folder, "key.pem"), "utf8"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Resolves all names in the proxy's configuration to this machine. */
const lookup: LookupFunction = (_, { all }, callback) => {
  if (all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(null, "127.0.0.1", 4);
};

/** Starts a proxy in front of two replicas until the test ends. */
async function startProxy(
  proxy: (typeof PROXIES)[number],
  replicas: readonly Pick<TestService, "httpUrl" | "grpcUrl">[],
) {
  const port = await freePort();
  let config = proxy
    .config(folder)
    .replaceAll(/(listen |bind :)443/g, (_, word: string) =>
      word === "listen " ? `listen 127.0.0.1:${port}` : `bind 127.0.0.1:${port}`,
    );
  replicas.forEach(({ httpUrl, grpcUrl }, i) => {
    config = config
      .replaceAll(`10.0.0.1${i + 1}:8080`, new URL(httpUrl).host)
      .replaceAll(`10.0.0.1${i + 1}:9090`, new URL(grpcUrl).host);
  });
  const file = join(folder, `${proxy.name}-${port}`);
  writeFileSync(file, config);
  const child = spawn(proxy.name, proxy.args(folder, file), {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  let output = "";
  child.stderr.on("data", (text) => (output += String(text)));
  const agent = new Agent({ localAddress: CALLER, connect: { ca, lookup } });
  onTestFinished(async () => {
    await agent.close();
    child.kill("SIGTERM");
    await ended;
  });

  const urlOf = (name: string) => `https://${name}:${port}`;
  const send = async (
    path: string,
    { apiKey, body, headers = {} }: { apiKey?: string; body?: object | string; headers?: object } = {},
  ) => {
    const answer = await request(urlOf(HTTP_NAME) + path, {
      dispatcher: agent,
      method: body === undefined ? "GET" : "POST",
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...headers,
      },
    });
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  };
  await eventually(`a response from ${proxy.name}`, () => {
    if (child.exitCode !== null) throw new Error(output);
    return send("/healthz").then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  const grpc = createGrpcTransport({
    baseUrl: urlOf(proxy.grpcName),
    nodeOptions: { ca, lookup } as object,
  });
  const connect = createConnectTransport({
    baseUrl: urlOf(HTTP_NAME),
    httpVersion: "1.1",
    nodeOptions: { agent: new HttpsAgent({ ca, lookup }) },
  });
  return { origin: urlOf(HTTP_NAME), send, grpc, connect };
}

/** Maximum duration of a test that restarts replicas, in milliseconds. */
const RESTARTS_MS = 300_000;
/** Minimum number of calls that each client makes between two steps. */
const CALLS_OF_STEP = 20;
/** Pause of a client between two calls, in milliseconds. */
const PAUSE_MS = 10;

/**
 * Starts twelve clients that each repeat a different kind of call: bookings with and without keys,
 * quotes, coverage and lists, over JSON, Connect and gRPC.
 */
function startLoad(apiKey: string, send: Awaited<ReturnType<typeof startProxy>>["send"], grpc: Transport) {
  const failed: string[] = [];
  const booked: string[] = [];
  const counts: number[] = [];
  let ending = false;
  let keys = 0;
  const key = () => `load-${++keys}`;
  const json = async (path: string, body?: object, headers: object = {}) => {
    const { status, text } = await send(path, { apiKey, headers, ...(body && { body }) });
    if (status !== 200 && status !== 201) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text);
  };
  const book = async (headers: object = {}) => {
    booked.push((await json("/v1/shipments", BOOKING, headers)).data.reference);
  };
  const shipments = createClient(ShipmentService, grpc);
  const headers = { authorization: `Bearer ${apiKey}` };
  const bookByGrpc = async (more: object = {}) => {
    const { data } = await shipments.createShipment(RPC_BOOKING, {
      headers: { ...headers, ...more },
    });
    booked.push(data!.reference);
  };
  const zones = { lat: COVERED_ROUTE.pickup_lat, lng: COVERED_ROUTE.pickup_lng };
  const ways: (() => Promise<unknown>)[] = [
    () => book(),
    () => book(),
    () => book({ "idempotency-key": key() }),
    () => json("/v1/shipments/quote", COVERED_ROUTE),
    () => json("/v1/quotes", COVERED_ROUTE),
    () => json("/v1/coverage/zones", { points: [zones] }),
    () => json("/v1/shipments?page_size=5"),
    () => json("/shipments.v1.ShipmentService/ListShipments", { pageSize: 5 }),
    () => bookByGrpc(),
    () => bookByGrpc({ "idempotency-key": key() }),
    () => shipments.quoteShipment(RPC_ROUTE, { headers }),
    () => shipments.listShipments({ pageSize: 5 }, { headers }),
  ];
  const clients = ways.map(async (call, i) => {
    for (counts[i] = 0; !ending; counts[i]!++) {
      await call().catch((error: unknown) => failed.push(`client ${i}: ${String(error)}`));
      // Pauses, so that connections are idle at times, and restarting replicas get CPU time.
      await sleep(PAUSE_MS);
    }
  });
  return {
    /** Waits until every client has made some more calls. */
    async more(): Promise<void> {
      const targets = counts.map((count) => count + CALLS_OF_STEP);
      await eventually("more calls", () => targets.every((count, i) => counts[i]! >= count));
    },
    async end() {
      ending = true;
      await Promise.all(clients);
      return { calls: counts.reduce((sum, count) => sum + count, 0), failed, booked };
    },
  };
}

describe.each(PROXIES)("$name", (proxy) => {
  describe.skipIf(!isHere(proxy.name) || !isHere("openssl"))("configured as in the guide", () => {
    const logs: LogLine[][] = [[], []];
    let service: StartedService;
    let second: StartedService;
    let apiKey: string;
    beforeAll(async () => {
      const options = { trustedProxies: ["127.0.0.1"], publicUrl: `https://${HTTP_NAME}` };
      service = await startService({ ...options, logged: (line) => logs[0]!.push(line) });
      second = await startReplica(service.databaseUrl, {
        ...options,
        logged: (line) => logs[1]!.push(line),
      });
      ({ apiKey } = await service.addWorkspace());
    });
    afterAll(async () => {
      await second.close();
      await service.close();
    });

    test("forwards JSON, gRPC and streams over TLS, with the caller's address and the host", async () => {
      const { origin, send, grpc, connect } = await startProxy(proxy, [service, second]);
      const headers = { authorization: `Bearer ${apiKey}` };
      const forged = { "x-forwarded-for": "203.0.113.9", "x-request-id": `${proxy.name}-forged` };
      const quoted = await send("/v1/shipments/quote", {
        apiKey,
        body: COVERED_ROUTE,
        headers: forged,
      });
      expect([quoted.status, JSON.parse(quoted.text).covered]).toEqual([200, true]);
      const line = await eventually("the log line of the call", () =>
        logs.flat().find(({ requestId }) => requestId === forged["x-request-id"]),
      );
      expect(line.address).toBe(CALLER);

      const listed = createClient(ShipmentService, grpc).listShipments({}, { headers });
      expect((await listed).data).toEqual([]);
      const watch = async (transport: Transport) => {
        const stopping = new AbortController();
        const { signal } = stopping;
        const events = createClient(EventService, transport).watchEvents({}, { headers, signal });
        const watching = events[Symbol.asyncIterator]();
        // Waits for a heartbeat, because there are no events yet.
        await watching.next();
        return { next: () => watching.next(), stop: () => stopping.abort() };
      };
      const streams = [await watch(grpc), await watch(connect)];
      const booked = await send("/v1/shipments", { apiKey, body: BOOKING });
      expect(booked.status).toBe(201);
      const { reference } = JSON.parse(booked.text).data;
      for (const { next, stop } of streams) {
        const { value } = await next();
        expect(value?.data?.shipment).toBe(reference);
        stop();
      }

      // Sends a same-origin form, which the service recognizes by the Host header.
      const member = { email: `${proxy.name}@example.org`, role: "viewer" };
      const invited = await send("/v1/members", { apiKey, body: member });
      const [, token] = /#token=(.+)$/.exec(JSON.parse(invited.text).sign_in_path)!;
      const form = { origin, "content-type": "application/x-www-form-urlencoded" };
      const entered = await send("/sign-in", { body: `token=${token}`, headers: form });
      expect(entered.status).toBe(303);
    });

    test("retries only repeatable calls, on the replica that serves", async () => {
      // Starts a replica without a database connection, which refuses calls.
      const refusing = await startUnprepared();
      const { send } = await startProxy(proxy, [service, refusing]);
      const book = async (headers: object) => (await send("/v1/shipments", { apiKey, body: BOOKING, headers })).status;
      const quote = async () => (await send("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE })).status;
      const { length: before } = await stored();
      const once: number[] = [];
      const repeatable: number[] = [];
      // Calls in sequence, because the proxy alternates between replicas.
      for (let i = 0; i < 4; i++) once.push(await book({}));
      for (let i = 0; i < 4; i++) {
        repeatable.push(await book({ "idempotency-key": `${proxy.name}-${i}` }));
      }
      for (let i = 0; i < 4; i++) repeatable.push(await quote());
      for (let i = 0; i < 4; i++) repeatable.push((await send("/v1/workspace", { apiKey })).status);
      expect(new Set(repeatable)).toEqual(new Set([200, 201]));
      // HAProxy may already have taken the replica out of service.
      if (proxy.name === "nginx") expect(once).toContain(503);
      const acknowledged = [...once, ...repeatable].filter((status) => status === 201).length;
      expect((await stored()).length - before).toBe(acknowledged);
    });

    const stored = () => service.app.em.execute("select reference from shipment");

    test(
      "restarts of both replicas cause no failed calls and lose no acknowledged bookings",
      async () => {
        const environments = [];
        for (let i = 0; i < 2; i++) {
          environments.push({
            DATABASE_URL: service.databaseUrl,
            HOST: "127.0.0.1",
            PORT: `${await freePort()}`,
            GRPC_PORT: `${await freePort()}`,
            TRUSTED_PROXIES: "127.0.0.1",
            SHUTDOWN_DELAY_SECONDS: `${proxy.shutdownDelaySeconds}`,
          });
        }
        const started: ServiceProcess[] = [];
        const start = async (environment: Environment) => {
          const replica = await startServiceProcess(environment);
          started.push(replica);
          await replica.untilReady();
          return replica;
        };
        const replicas = await Promise.all(environments.map(start));
        const { send, grpc } = await startProxy(proxy, replicas);
        const before = await stored();
        const load = startLoad(apiKey, send, grpc);
        await load.more();
        for (const [i, environment] of environments.entries()) {
          replicas[i]!.process.kill("SIGTERM");
          expect(await replicas[i]!.ended).toMatchObject({ code: 0, stderr: "" });
          await load.more();
          replicas[i] = await start(environment);
          await load.more();
        }
        const { calls, failed, booked } = await load.end();
        const cut = started.flatMap((it) => it.log().filter((line) => line.cut === true));
        expect({ failed, cut }).toEqual({ failed: [], cut: [] });
        expect(calls).toBeGreaterThan(booked.length);
        // No booking may be lost or duplicated.
        const known = new Set(before.map(({ reference }) => reference));
        const references = (await stored()).map(({ reference }) => reference as string);
        expect(references.filter((it) => !known.has(it)).toSorted()).toEqual(booked.toSorted());
      },
      RESTARTS_MS,
    );

    test.runIf(proxy.name === "haproxy")(
      "stops using a terminating replica before it refuses calls, and serves quotes if no replica is ready",
      async () => {
        const { send } = await startProxy(proxy, [service, second]);
        const statuses = new Set<number>();
        const quoteBy = async (id: string) => {
          const headers = { "x-request-id": id };
          const { status } = await send("/v1/shipments/quote", {
            apiKey,
            body: COVERED_ROUTE,
            headers,
          });
          statuses.add(status);
          return eventually(
            "the log line of the call",
            () => logs.findIndex((log) => log.some(({ requestId }) => requestId === id)) + 1 || false,
          );
        };
        expect(second.app.leave()).toBe(true);
        let round = 0;
        await eventually("all calls to reach the first replica", async () => {
          round++;
          const timesMs = [await quoteBy(`${round}a`), await quoteBy(`${round}b`)];
          return timesMs.every((replica) => replica === 1);
        });
        expect(service.app.leave()).toBe(true);
        await eventually("calls to reach the second replica again", async () => {
          round++;
          return (await quoteBy(`${round}c`)) === 2;
        });
        expect([...statuses]).toEqual([200]);
      },
    );
  });
});
