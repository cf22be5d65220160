import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { ConnectionLimits } from "../../../src/pipeline/bounds/limits.ts";
import type { TransportServer } from "../../../src/transport/connections/transport-server.ts";
import { createHttpServer } from "../../../src/transport/http/http-server.ts";
import { eventually } from "../../support/eventually.ts";

let server: TransportServer | undefined;
const opened: Socket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await server?.close(0);
});

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** Starts a server that handles every request with `answer`. Returns its port. */
async function start(limits: Partial<ConnectionLimits>, answer: Answer): Promise<number> {
  server = createHttpServer({
    serviceNames: [],
    handleRpc: () => undefined,
    gateway: (request, response) => answer(response, request),
    handlers: [],
    limits: { sweepMs: 20, ...limits },
  });
  return (await server.listen({ host: "127.0.0.1", port: 0 })).port;
}

function open(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1" }).on("error", () => undefined);
  opened.push(socket);
  return socket;
}

const GET = "GET /v1/x HTTP/1.1\r\nHost: here\r\n\r\n";

async function get(port: number): Promise<number | undefined> {
  const request = httpRequest({ port, host: "127.0.0.1", path: "/v1/x", agent: false }).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test("accepts and serves connections that wait in the backlog when a server starts to drain", async () => {
  const port = await start({}, (response) => response.end("done"));
  const waiting = Array.from({ length: 20 }, () => open(port));
  const answers = waiting.map(async (socket) => {
    socket.write(GET);
    return String((await once(socket, "data"))[0]).split("\r\n", 1);
  });
  await server!.drain();
  expect(await Promise.all(answers)).toEqual(waiting.map(() => ["HTTP/1.1 200 OK"]));
  const [error] = await once(connect({ port, host: "127.0.0.1" }), "error");
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
});

test("a new connection replaces the one that has been silent longest", async () => {
  const port = await start({ maxConnections: 3 }, (response) => response.end());
  const silent = [open(port), open(port), open(port)].map((socket) => socket.resume());
  await Promise.all(silent.map((socket) => once(socket, "connect")));
  const oldestClosed = once(silent[0]!, "close");
  expect(await get(port)).toBe(200);
  await oldestClosed;
  expect(silent.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
});

test("a new connection replaces an idle keep-alive one, not one with a call in flight", async () => {
  const held: ServerResponse[] = [];
  const port = await start({ maxConnections: 2 }, (response) => {
    if (held.length === 0) held.push(response);
    else response.end("done");
  });
  const busy = open(port);
  busy.write(GET);
  await eventually("the call", () => held.length === 1);
  const idle = open(port);
  idle.write(GET);
  await once(idle, "data");
  const idleClosed = once(idle, "close");
  expect(await get(port)).toBe(200);
  await idleClosed;
  held[0]!.end("done");
  await once(busy, "data");
});

test("closes a connection that is not read, and others continue", async () => {
  const answered: ServerResponse[] = [];
  const port = await start({ stallMs: 200 }, (response) => {
    answered.push(response);
    response.end(Buffer.alloc(answered.length === 1 ? 20_000_000 : 10));
  });
  const stalled = open(port);
  stalled.write(GET);
  await once(stalled, "readable");
  const other = open(port).resume();
  await eventually("the stalled connection to close", async () => {
    other.write(GET);
    await sleep(20);
    return answered[0]?.destroyed;
  });
  expect(other.destroyed).toBe(false);
});

test("pipelined calls beyond the limit of a connection wait and are served in order", async () => {
  let served = 0;
  let most = 0;
  const port = await start({ maxServed: 5 }, (response, request) => {
    most = Math.max(most, ++served);
    setTimeout(() => {
      served--;
      response.end(`<${request.headers.which}>`);
    }, 2);
  });
  const socket = open(port);
  let text = "";
  socket.setEncoding("latin1").on("data", (piece) => (text += piece));
  const numbers = Array.from({ length: 60 }, (_, i) => i);
  const head = (i: number) => `GET /v1/x HTTP/1.1\r\nHost: here\r\nWhich: ${i}\r\n\r\n`;
  socket.write(numbers.map(head).join(""));
  await eventually("all responses", () => text.includes("<59>"));
  expect([...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number))).toEqual(numbers);
  expect(most).toBe(5);
});
