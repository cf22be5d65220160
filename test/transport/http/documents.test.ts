import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { DocumentResponse } from "../../../src/pipeline/rpc-response.ts";
import { everLonger } from "../../support/ever-longer.ts";
import { eventually } from "../../support/eventually.ts";
import { OWN_KEY, startOwnService, type MakeParcel, type OwnService, type Parcel } from "../../support/own-service.ts";
import { openSocket, rawHttp } from "../../support/raw-http.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";

const RULE = { pattern: { case: "get", value: "/v1/parcels/{id}" } } as const;
const TEXT = "all the parcels of the world, ".repeat(100);
const SHORT = "a parcel";
/** Incompressible bytes that exceed the kernel's buffers for a caller that does not read. */
const HUGE = randomBytes(16 * 1024 * 1024);
/** Bytes that exceed the default message limit of gRPC clients. */
const LARGE = HUGE.subarray(0, 5 * 1024 * 1024);

function documentOf(id: bigint, body: Buffer, makeParcel: MakeParcel) {
  return new DocumentResponse(() => makeParcel({ id, data: body }), {
    contentType: "application/geo+json",
    body,
    etag: `v${id}`,
    cacheControl: "private, no-cache",
  });
}

/** Documents by id. Each is created once. */
const BODIES = new Map([
  [1n, Buffer.from(TEXT)],
  [2n, Buffer.from(SHORT)],
  [3n, LARGE],
  [4n, HUGE],
]);
const answers = new Map<bigint, DocumentResponse>();
const run = ({ id }: Parcel, makeParcel: MakeParcel) =>
  answers.getOrInsertComputed(id, () => documentOf(id, BODIES.get(id)!, makeParcel));

const service = await startOwnService({ rule: RULE, run });

function get(path: string, headers: string[] = []) {
  const lines = ["Host: here", `X-Api-Key: ${OWN_KEY}`, "X-Request-Id: the-same", ...headers];
  return rawHttp(service.httpUrl, `GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
}

/** Returns a document's headers without those that Node always sends. */
function headersOf({ headers }: { headers: Headers }) {
  const { date, connection, "keep-alive": _, ...rest } = Object.fromEntries(headers);
  expect([date, connection]).toEqual([expect.any(String), "keep-alive"]);
  return rest;
}

const LIMITS = {
  "ratelimit-policy": expect.any(String),
  ratelimit: expect.any(String),
  "x-request-id": "the-same",
  "x-content-type-options": "nosniff",
};
const KEPT = { "cache-control": "private, no-cache", vary: "Accept-Encoding", ...LIMITS };

describe("a document over HTTP", () => {
  test("is sent verbatim with its type, its entity tag and its caching header", async () => {
    const answer = await get("/v1/parcels/1");
    expect([answer.status, headersOf(answer), answer.text]).toEqual([
      200,
      {
        ...KEPT,
        "content-type": "application/geo+json",
        "content-length": String(TEXT.length),
        etag: '"v1"',
      },
      TEXT,
    ]);
  });

  test("is compressed for callers that accept it, with its own entity tag", async () => {
    const answer = await get("/v1/parcels/1", ["Accept-Encoding: br, gzip"]);
    const body = Buffer.from(answer.text, "latin1");
    expect([answer.status, headersOf(answer), gunzipSync(body).toString()]).toEqual([
      200,
      {
        ...KEPT,
        "content-type": "application/geo+json",
        "content-encoding": "gzip",
        "content-length": String(body.length),
        etag: '"v1-gzip"',
      },
      TEXT,
    ]);
    expect(body.length).toBeLessThan(TEXT.length / 10);
  });

  test("is compressed once for concurrent requests", async () => {
    const again = documentOf(1n, Buffer.from(TEXT), () => ({}) as Parcel);
    answers.set(9n, again);
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => get("/v1/parcels/9", ["Accept-Encoding: gzip"])),
    );
    const lengths = new Set(responses.map(({ headers }) => Number(headers.get("content-length"))));
    expect([again.heldBytes]).toEqual([...lengths].map((length) => TEXT.length + length));
  });

  test.each([
    ["gzip", true],
    ["GZIP", true],
    ["x-gzip", true],
    ["*", true],
    ["gzip;q=0.001", true],
    ["deflate, gzip ; q=1.0", true],
    ["identity;q=0.5, gzip;q=0.5", true],
    ["", false],
    ["br, deflate", false],
    ["gzip;q=0", false],
    ["*, gzip;q=0", false],
    ["*;q=0", false],
    ["identity, gzip;q=0.5", false],
    ["gzip;q=much", false],
    ["gzipped", false],
  ])("with Accept-Encoding: %s is compressed: %s", async (accepted, compressed) => {
    const { headers } = await get("/v1/parcels/1", [`Accept-Encoding: ${accepted}`]);
    expect(headers.get("content-encoding")).toBe(compressed ? "gzip" : null);
    expect(headers.get("vary")).toBe("Accept-Encoding");
  });

  test("is not compressed if it is small", async () => {
    const answer = await get("/v1/parcels/2", ["Accept-Encoding: gzip"]);
    expect([answer.headers.get("content-encoding"), answer.text]).toEqual([null, SHORT]);
  });

  test.each([
    ['"v1"'],
    ['W/"v1"'],
    ['"other", W/"v1" , "more"'],
    ['"with, a comma","v1"'],
    ["*"],
    ['"x"\r\nIf-None-Match: "v1"'],
  ])("is not sent again to a caller that has it: If-None-Match: %s", async (tags) => {
    const answer = await get("/v1/parcels/1", [`If-None-Match: ${tags}`]);
    expect([answer.status, headersOf(answer), answer.text]).toEqual([304, { ...KEPT, etag: '"v1"' }, ""]);
  });

  test("is not sent again to a caller that has the compressed form", async () => {
    const headers = ['If-None-Match: "v1-gzip"', "Accept-Encoding: gzip"];
    const answer = await get("/v1/parcels/1", headers);
    expect([answer.status, headersOf(answer)]).toEqual([304, { ...KEPT, etag: '"v1-gzip"' }]);
  });

  test.each([['"v2"'], ['"V1"'], ["v1"], ['"v1-gzip"'], ['"v1'], ["w/v1"], ['"*"'], [""]])(
    "is sent to a caller that has another one: If-None-Match: %s",
    async (tags) => {
      const answer = await get("/v1/parcels/1", [`If-None-Match: ${tags}`]);
      expect([answer.status, answer.text]).toEqual([200, TEXT]);
    },
  );

  test("HEAD returns the headers of GET, without the document", async () => {
    const { status, headers, text } = await service.request("/v1/parcels/1", {
      method: "HEAD",
      apiKey: OWN_KEY,
    });
    expect([status, headers.get("etag"), text]).toEqual([200, '"v1-gzip"', ""]);
  });

  test("leaves the connection open for further calls", async () => {
    const path = (id: number) => `GET /v1/parcels/${id} HTTP/1.1\r\nHost: here\r\n`;
    const key = `X-Api-Key: ${OWN_KEY}\r\n`;
    const socket = openSocket(service.httpUrl);
    socket.write(`${path(1)}${key}\r\n${path(3)}${key}\r\n${path(2)}${key}Connection: close\r\n\r\n`);
    const pieces: Buffer[] = [];
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    await once(socket, "close");
    const all = Buffer.concat(pieces);
    expect(all.includes(TEXT)).toBe(true);
    expect(all.indexOf(LARGE.subarray(0, 1_000))).toBeGreaterThan(0);
    expect(all.indexOf(LARGE.subarray(-1_000))).toBeGreaterThan(0);
    expect(all.subarray(-SHORT.length).toString()).toBe(SHORT);
  });
});

describe.each(Object.entries(PROTOCOLS))("a document over %s", (_, protocol) => {
  test.each([[1n], [2n], [3n]])("is the message, whether small or many MiB: %s", async (id) => {
    const client = rpcClient(service.desc, protocol, service, OWN_KEY);
    const parcel = (await (client as any).send({ id })) as Parcel;
    expect(parcel.id).toBe(id);
    expect(Buffer.compare(parcel.data, BODIES.get(id)!)).toBe(0);
  });
});

describe("a caller that stops reading in the middle of a large document", async () => {
  const sockets: ReturnType<typeof openSocket>[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  function ask(from: OwnService) {
    const socket = openSocket(from.httpUrl);
    sockets.push(socket);
    socket.write(`GET /v1/parcels/4 HTTP/1.1\r\nHost: here\r\nX-Api-Key: ${OWN_KEY}\r\n\r\n`);
    return socket;
  }

  test("is disconnected, but one that reads slowly is not", () =>
    everLonger(300, async (stallMs) => {
      const strict = await startOwnService({ rule: RULE, run, limits: { stallMs } });
      const stalled = ask(strict);
      await once(stalled, "readable");
      const slow = ask(strict);
      let read = 0;
      slow.on("data", (piece: Buffer) => {
        read += piece.length;
        slow.pause();
        setTimeout(() => slow.resume(), 1);
      });
      await eventually("the document or a disconnect", () => read > HUGE.length || slow.destroyed);
      expect(read).toBeGreaterThan(HUGE.length);
      await sleep(stallMs);
      stalled.resume();
      let taken = 0;
      stalled.on("data", (piece: Buffer) => (taken += piece.length));
      await once(stalled, "close");
      expect(taken).toBeLessThan(HUGE.length);
    }));

  test("is disconnected earlier if all callers together have too much unread data, longest wait first", () =>
    everLonger(1_500, async (waitMs) => {
      const limits = { maxBytes: 3 * HUGE.length };
      const pressed = await startOwnService({ rule: RULE, run, limits });
      const unread = Array.from({ length: 8 }, () => ({ socket: ask(pressed), taken: 0 }));
      await Promise.all(unread.map(({ socket }) => once(socket, "readable")));
      // A caller that reads nothing for a second may be disconnected.
      await sleep(waitMs);
      for (const one of unread) one.socket.on("data", (piece: Buffer) => (one.taken += piece.length));
      await eventually("each connection to close", () =>
        unread.every(({ socket, taken }) => socket.destroyed || taken > HUGE.length),
      );
      const whole = unread.filter(({ taken }) => taken > HUGE.length).length;
      expect(whole).toBeGreaterThan(0);
      expect(whole).toBeLessThan(5);
    }));

  test("uses separate memory only over Connect, where further documents are then refused", async () => {
    const connect = `POST /own.Parcels/Send HTTP/1.1\r\nHost: here\r\nX-Api-Key: ${OWN_KEY}\r\n`;
    const json = 'Content-Type: application/json\r\nContent-Length: 8\r\n\r\n{"id":4}';
    const unread = Array.from({ length: 8 }, () => {
      const socket = openSocket(service.httpUrl);
      sockets.push(socket);
      socket.write(connect + json);
      return once(socket, "readable");
    });
    await Promise.all(unread);
    const ninth = await rawHttp(service.httpUrl, connect + json);
    expect([ninth.status, ninth.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await service.request("/v1/parcels/4", { apiKey: OWN_KEY })).status).toBe(200);
  });
});
