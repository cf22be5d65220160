import { once } from "node:events";
import { connect, constants, type ClientHttp2Session, type ServerHttp2Stream } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ConnectionLimits } from "../../../src/pipeline/bounds/limits.ts";
import type { TransportServer } from "../../../src/transport/connections/transport-server.ts";
import { createGrpcServer } from "../../../src/transport/grpc/grpc-server.ts";
import { everLonger } from "../../support/ever-longer.ts";
import { eventually } from "../../support/eventually.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { whenOver } from "../../support/when-over.ts";

const opened: { destroy(): unknown }[] = [];
/** Server that was started last. */
let server: TransportServer;

/** Starts a server that handles every stream with `answer`. Returns its port. */
async function start(
  limits: Partial<ConnectionLimits>,
  answer: (stream: ServerHttp2Stream) => void = answerAtOnce,
): Promise<number> {
  const takeStream = (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined);
    stream.resume();
    answer(stream);
    return true;
  };
  const started = createGrpcServer(() => undefined, takeStream, { sweepMs: 20, ...limits });
  server = started;
  whenOver(async () => {
    for (const connection of opened.splice(0)) connection.destroy();
    await started.close(0);
  });
  return (await started.listen({ host: "127.0.0.1", port: 0 })).port;
}

function answerAtOnce(stream: ServerHttp2Stream, bytes = 10): void {
  stream.respond({ ":status": 200 }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.alloc(bytes));
}

function openTcp(port: number, localAddress = "127.0.0.1"): Socket {
  const socket = connectTcp({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => undefined).resume();
  opened.push(socket);
  return socket;
}

function connectTo(port: number, initialWindowSize = 65_535): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize } });
  session.on("error", () => undefined);
  opened.push(session);
  return session;
}

async function openSession(port: number, initialWindowSize?: number): Promise<ClientHttp2Session> {
  const session = connectTo(port, initialWindowSize);
  await Promise.race([once(session, "remoteSettings"), once(session, "close")]);
  return session;
}

/** Makes a call and returns its gRPC status, or the code with which the stream was reset. */
function call(session: ClientHttp2Session): Promise<string> {
  return new Promise((resolve) => {
    if (session.destroyed || session.closed) return resolve("closed");
    const stream = session.request({ ":method": "POST", ":path": "/x" });
    let status: unknown;
    stream.on("trailers", (trailers) => (status = trailers["grpc-status"]));
    stream.on("error", () => undefined).resume();
    stream.on("close", () => resolve(status === undefined ? `reset ${stream.rstCode}` : "0"));
    stream.end(Buffer.alloc(50));
  });
}

test("closes a connection that sends no call in time, whether or not it uses HTTP/2", () =>
  everLonger(100, async (silentMs) => {
    const port = await start({ silentMs });
    const speaking = await openSession(port);
    expect(await call(speaking)).toBe("0");
    const greeted = connectTo(port);
    await Promise.all([once(openTcp(port), "close"), once(greeted, "close")]);
    expect(await call(speaking)).toBe("0");
  }));

test("a new connection replaces the one that has been silent longest", async () => {
  const port = await start({ maxConnections: 4 });
  const used = await openSession(port);
  expect(await call(used)).toBe("0");
  const silent = [openTcp(port), openTcp(port), openTcp(port)];
  await Promise.all(silent.map((socket) => once(socket, "connect")));
  await sleep(20);
  const oldestClosed = once(silent[0]!, "close");
  expect(await call(await openSession(port))).toBe("0");
  await oldestClosed;
  expect(silent.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  expect(await call(used)).toBe("0");
});

test("a new connection replaces an idle one, not one with a call in flight", async () => {
  const held: ServerHttp2Stream[] = [];
  const port = await start({ maxConnections: 2 }, (stream) => held.push(stream));
  const busy = await openSession(port);
  const answer = call(busy);
  await eventually("the call", () => held.length === 1);
  const idle = await openSession(port);
  const idleAnswer = call(idle);
  await eventually("the other call", () => held.length === 2);
  answerAtOnce(held[1]!);
  expect(await idleAnswer).toBe("0");
  await sleep(20);
  const idleClosed = once(idle, "close");
  const newcomer = call(await openSession(port));
  await idleClosed;
  await eventually("the new connection's call", () => held.length === 3);
  answerAtOnce(held[0]!);
  answerAtOnce(held[2]!);
  expect(await Promise.all([answer, newcomer])).toEqual(["0", "0"]);
});

test("limits connections per address, which leaves room for others", async () => {
  const port = await start({ maxConnections: 10, maxConnectionsOfAddress: 2 });
  const sockets = ["2", "2", "2", "3"].map((last) => openTcp(port, `127.0.0.${last}`));
  await once(sockets[0]!, "close");
  await eventually("the other connections to open", () => sockets.slice(1).every((it) => it.readyState === "open"));
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]);
});

test("resets a response that is not read, and others continue", () =>
  everLonger(600, async (stallMs) => {
    const port = await start({ stallMs }, (stream) => answerAtOnce(stream, 100_000));
    const stalled = await openSession(port, 0);
    const answers = Array.from({ length: 20 }, () => call(stalled));
    const reading = await openSession(port);
    const others: string[] = [];
    for (let i = 0; i < 20; i++) {
      others.push(await call(reading));
      await sleep(20);
    }
    expect(new Set(await Promise.all(answers))).toEqual(new Set([`reset ${constants.NGHTTP2_CANCEL}`]));
    expect(new Set(others)).toEqual(new Set(["0"]));
  }));

test("closes a connection that is not read, however large its flow-control windows are", async () => {
  const port = await start({ stallMs: 300 }, (stream) => answerAtOnce(stream, 50_000_000));
  const proxy = await startTcpProxy(`postgres://127.0.0.1:${port}`);
  const session = await openSession(Number(new URL(proxy.url).port), 2 ** 30);
  session.setLocalWindowSize(2 ** 30);
  const stream = session.request({ ":method": "POST", ":path": "/x" }).end();
  stream.on("error", () => undefined);
  await once(stream, "response");
  proxy.hang();
  await eventually("the connection to close", () => server.openConnections() === 0);
});

test("limits all unread responses together and resets those that waited longest", async () => {
  const maxBytes = 1_000_000;
  const port = await start({ maxBytes }, (stream) => answerAtOnce(stream, 100_000));
  const stalled = await openSession(port, 0);
  let reset = 0;
  for (let i = 0; i < 20; i++) void call(stalled).then(() => reset++);
  await eventually("some calls to be reset", () => reset >= 13);
  await sleep(100);
  expect(reset).toBe(13);
});

test("calls beyond the limit of a connection wait in order, and all get a response", async () => {
  let served = 0;
  let most = 0;
  const port = await start({ maxServed: 10 }, (stream) => {
    most = Math.max(most, ++served);
    setTimeout(() => {
      served--;
      if (!stream.destroyed) answerAtOnce(stream);
    }, 5);
  });
  const session = await openSession(port);
  const answers = await Promise.all(Array.from({ length: 100 }, () => call(session)));
  expect(new Set(answers)).toEqual(new Set(["0"]));
  expect(most).toBe(10);
});

test("refuses calls beyond a server's queue as unprocessed", async () => {
  const held: ServerHttp2Stream[] = [];
  const port = await start({ maxServed: 1, maxWaiting: 2 }, (stream) => held.push(stream));
  const session = await openSession(port);
  const calls = Array.from({ length: 4 }, () => call(session));
  expect(await calls[3]).toBe(`reset ${constants.NGHTTP2_REFUSED_STREAM}`);
  for (let i = 0; i < 3; i++) answerAtOnce(await eventually("a call", () => held[i]));
  expect(await Promise.all(calls.slice(0, 3))).toEqual(["0", "0", "0"]);
});

test.each([0.14, 0.5])(
  "cancelling a share of calls does not affect others on their connection: %d of 1,500",
  async (share) => {
    const port = await start({}, (stream) => setTimeout(() => !stream.destroyed && answerAtOnce(stream), 2));
    const session = await openSession(port);
    const answers: string[] = [];
    for (let round = 0; round < 5; round++) {
      const kept = Array.from({ length: 1_500 }, (_, i) => {
        if (i % 100 >= share * 100) return call(session);
        const stream = session.request({ ":method": "POST", ":path": "/x" });
        stream.on("error", () => undefined).end(Buffer.alloc(50));
        setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), i % 8);
        return Promise.resolve("0");
      });
      answers.push(...(await Promise.all(kept)));
    }
    expect(new Set(answers)).toEqual(new Set(["0"]));
    expect(session.destroyed).toBe(false);
  },
);

test("closes a connection that floods resets", async () => {
  const port = await start({});
  const session = await openSession(port);
  const closed = new Promise((resolve) => session.once("close", resolve));
  const flood = async () => {
    while (!session.destroyed && !session.closed) {
      for (let i = 0; i < 500 && !session.destroyed && !session.closed; i++) {
        const stream = session.request({ ":method": "POST", ":path": "/x" });
        stream.on("error", () => undefined).close(constants.NGHTTP2_CANCEL);
      }
      await sleep(1);
    }
  };
  await Promise.all([closed, flood()]);
});

test("sends GOAWAY to a connection that starts HTTP/2 while its server drains", async () => {
  const port = await start({});
  const socket = openTcp(port);
  await eventually("the connection", () => server.openConnections() === 1);
  await server.drain();
  const session = connect(`http://127.0.0.1:${port}`, { createConnection: () => socket });
  opened.push(session);
  const goaway = once(session, "goaway");
  expect(await call(session)).toBe("0");
  expect((await goaway)[1]).toBe(2 ** 31 - 1);
});

test("a draining server refuses connections and serves streams that callers had already started to open", async () => {
  const port = await start({});
  const proxy = await startTcpProxy(`tcp://127.0.0.1:${port}`);
  whenOver(proxy.close);
  const session = await openSession(Number(new URL(proxy.url).port));
  const goaway = once(session, "goaway");
  proxy.hang();
  await server.drain();
  // The caller has not read the GOAWAY yet.
  const written = session.socket.bytesWritten;
  const called = call(session);
  await eventually("the call to be sent", () => session.socket.bytesWritten > written);
  proxy.resume();
  expect(await called).toBe("0");
  const [code, lastStream] = await goaway;
  expect([code, lastStream]).toEqual([constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1]);
  const [error] = await once(openTcp(port), "error");
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
  // The caller must close the connection.
  await eventually("all connections to close", () => server.openConnections() === 0);
});
