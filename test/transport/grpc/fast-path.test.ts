import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { create, toBinary, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { QuoteShipmentRequestSchema } from "../../../gen/shipments/v1/quote_pb.js";
import {
  CreateShipmentRequestSchema,
  GetShipmentRequestSchema,
  ListShipmentsRequestSchema,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { createSecretKey } from "../../../src/domain/secret-key.ts";
import { eventually } from "../../support/eventually.ts";
import { callsInFlight } from "../../support/metrics.ts";
import { setLimit } from "../../support/platform.ts";
import { frame, rawGrpc, type RawGrpcResponse, type RawHeaders } from "../../support/raw-grpc.ts";
import { startService } from "../../support/service.ts";
import { RPC_BOOKING, RPC_ROUTE } from "../../support/bookings.ts";

const SERVICE = "/shipments.v1.ShipmentService";

function message<S extends DescMessage>(schema: S, fields: MessageInitShape<S>): Buffer {
  return Buffer.from(toBinary(schema, create(schema, fields) as MessageShape<S>));
}

const QUOTE = message(QuoteShipmentRequestSchema, RPC_ROUTE);
const GOOD = frame(QUOTE);
const LIST = frame(message(ListShipmentsRequestSchema, { pageSize: 50 }));
const ONE_OF_LIST = frame(message(ListShipmentsRequestSchema, { pageSize: 1 }));
const BOOK = frame(message(CreateShipmentRequestSchema, RPC_BOOKING));
/** An unknown field with number 1000 and a varint. */
const UNKNOWN_FIELD = Buffer.from([0xc0, 0x3e, 0x05]);

const service = await startService();
const { apiKey } = await service.addWorkspace();
const { apiKey: otherKey } = await service.addWorkspace();
const limitedWorkspace = await service.addWorkspace();
const client = service.grpcClient(apiKey);
for (let i = 0; i < 10; i++) await client.createShipment({ ...RPC_BOOKING, weightKg: 1 + i / 10 });

const KEYLESS = { "content-type": "application/grpc", te: "trailers", "x-request-id": "the-same" };
const keyed = (more: RawHeaders = {}): RawHeaders => ({ ...KEYLESS, "x-api-key": apiKey, ...more });

/** Adds an empty query to a path. The fast path leaves paths with a query to Connect. */
const throughConnect = (path: string) => `${path}?`;

interface Case {
  readonly headers?: () => RawHeaders;
  readonly body?: Uint8Array;
  readonly method?: string;
  readonly sending?: Parameters<typeof rawGrpc>[4];
  readonly status: Code | 0;
}

const bad = Code.InvalidArgument;
const CASES: Readonly<Record<string, Case>> = {
  "a valid call": { status: 0 },
  "with the proto content type": {
    headers: () => keyed({ "content-type": "application/grpc+proto" }),
    status: 0,
  },
  "without te": { headers: () => keyed({ te: [] }), status: 0 },
  "with an encoding of identity": {
    headers: () => keyed({ "grpc-encoding": "identity" }),
    status: 0,
  },
  "a bearer key": {
    headers: () => ({ ...KEYLESS, authorization: `Bearer ${apiKey}` }),
    status: 0,
  },
  "binary and repeated metadata": {
    headers: () => keyed({ "trace-bin": "AAEC", "x-other": ["one", "two"] }),
    status: 0,
  },
  "an uncovered route": {
    body: frame(message(QuoteShipmentRequestSchema, { ...RPC_ROUTE, dropoffLat: 0 })),
    status: 0,
  },
  "an unknown field": {
    body: frame(Buffer.concat([QUOTE, UNKNOWN_FIELD])),
    status: 0,
  },
  "invalid flags": { body: frame(QUOTE, 0b1000_0010), status: bad },
  "invalid flags, in chunks": {
    body: frame(QUOTE, 0b10),
    sending: { pieceBytes: 1 },
    status: bad,
  },
  "invalid flags without an end": {
    body: frame(QUOTE, 0b100),
    sending: { ends: false },
    status: bad,
  },
  "a second message with invalid flags": {
    body: Buffer.concat([GOOD, frame(QUOTE, 0b10)]),
    status: bad,
  },
  "a body in chunks": { sending: { pieceBytes: 1 }, status: 0 },
  "a caller that reads a few bytes at a time": { sending: { windowBytes: 7 }, status: 0 },
  "a large response, read a hundred bytes at a time": {
    method: "ListShipments",
    body: LIST,
    sending: { windowBytes: 100, pieceBytes: 2 },
    status: 0,
  },

  "no key": { headers: () => KEYLESS, status: Code.Unauthenticated },
  "an unknown key": {
    headers: () => ({ ...KEYLESS, "x-api-key": createSecretKey("shp_") }),
    status: Code.Unauthenticated,
  },
  "a key of the wrong form": {
    headers: () => ({ ...KEYLESS, "x-api-key": "shp_wrong" }),
    status: Code.Unauthenticated,
  },
  "two keys in two headers": {
    headers: () => keyed({ authorization: `Bearer ${otherKey}` }),
    status: Code.Unauthenticated,
  },
  "two keys in one header, twice": {
    headers: () => ({ ...KEYLESS, "x-api-key": [apiKey, otherKey] }),
    status: Code.Unauthenticated,
  },
  "two authorizations": {
    headers: () => ({ ...KEYLESS, authorization: [`Bearer ${apiKey}`, `Bearer ${otherKey}`] }),
    status: Code.Unauthenticated,
  },
  "no key and an endless body": {
    headers: () => KEYLESS,
    sending: { ends: false },
    status: Code.Unauthenticated,
  },

  "invalid fields": {
    body: frame(message(QuoteShipmentRequestSchema, { pickupLat: 91, weightKg: Infinity })),
    status: bad,
  },
  "no fields": { body: frame(Buffer.alloc(0)), status: bad },
  "an unknown shipment": {
    method: "GetShipment",
    body: frame(message(GetShipmentRequestSchema, { shipment: "SHP-000000000000" })),
    status: Code.NotFound,
  },
  "an error with text in every script": {
    method: "CreateShipment",
    body: frame(message(CreateShipmentRequestSchema, { metadata: { "Ünï – 荷物 % 📦": "\0" } })),
    status: bad,
  },
  "an invalid idempotency key": {
    method: "CreateShipment",
    headers: () => keyed({ "idempotency-key": ["a", "b"] }),
    body: BOOK,
    status: bad,
  },
  "a repeated booking": {
    method: "CreateShipment",
    headers: () => keyed({ "idempotency-key": "again" }),
    body: BOOK,
    status: 0,
  },

  "no body": { body: Buffer.alloc(0), status: Code.Unimplemented },
  "a truncated frame header": { body: Buffer.from([0, 0, 0]), status: bad },
  "a truncated frame": { body: GOOD.subarray(0, 12), status: bad },
  "bytes that are not a message": { body: frame(Buffer.from([255, 255, 255])), status: bad },
  "bytes that are not a message, without an end": {
    body: frame(Buffer.from([255, 255, 255])),
    sending: { ends: false },
    status: bad,
  },
  "text that is not UTF-8": {
    method: "GetShipment",
    body: frame(Buffer.from([10, 2, 0xff, 0xfe])),
    status: bad,
  },
  "a truncated field": { body: frame(QUOTE.subarray(0, 7)), status: bad },
  "a compressed frame without an encoding": { body: frame(gzipSync(QUOTE), 1), status: bad },
  "two messages": { body: Buffer.concat([GOOD, GOOD]), status: Code.Unimplemented },
  "two messages, in chunks": {
    body: Buffer.concat([GOOD, GOOD]),
    sending: { pieceBytes: 7 },
    status: Code.Unimplemented,
  },
  "one and a half messages": {
    body: Buffer.concat([GOOD, GOOD.subarray(0, 9)]),
    status: bad,
  },
  "a message and an unreadable one": {
    body: Buffer.concat([GOOD, frame(Buffer.from([255]))]),
    status: bad,
  },
  "a message of exactly 64 KiB": { body: frame(Buffer.alloc(65_536, 255)), status: bad },
  "a message of more than 64 KiB": {
    body: frame(Buffer.alloc(65_537)),
    status: Code.ResourceExhausted,
  },
  "a message that declares 4 GiB": {
    body: Buffer.from([0, 255, 255, 255, 255]),
    status: Code.ResourceExhausted,
  },
  "a message that declares 4 GiB, without an end": {
    body: Buffer.from([0, 255, 255, 255, 255]),
    sending: { ends: false },
    status: Code.ResourceExhausted,
  },

  "a future deadline": { headers: () => keyed({ "grpc-timeout": "20S" }), status: 0 },
  "a deadline beyond all timers": {
    headers: () => keyed({ "grpc-timeout": "99999999H" }),
    status: 0,
  },
  "a deadline that has passed": {
    headers: () => keyed({ "grpc-timeout": "0n" }),
    status: Code.DeadlineExceeded,
  },
  "a deadline within the millisecond": {
    headers: () => keyed({ "grpc-timeout": "999u" }),
    status: Code.DeadlineExceeded,
  },
  "another protocol's deadline": {
    headers: () => keyed({ "connect-timeout-ms": "0" }),
    status: 0,
  },
  "an invalid deadline": { headers: () => keyed({ "grpc-timeout": "soon" }), status: bad },
  "a deadline with too many digits": {
    headers: () => keyed({ "grpc-timeout": "999999999m" }),
    status: bad,
  },

  "a small response to a caller that accepts gzip": {
    headers: () => keyed({ "grpc-accept-encoding": "identity,deflate,gzip" }),
    status: 0,
  },
  "a large response": { method: "ListShipments", body: LIST, status: 0 },
  ...Object.fromEntries(
    ["gzip", "br", "identity, br ,gzip", "deflate", "", "GZIP"].map((accepted): [string, Case] => [
      `a large response to a caller that accepts ${JSON.stringify(accepted)}`,
      {
        method: "ListShipments",
        headers: () => keyed({ "grpc-accept-encoding": accepted }),
        body: LIST,
        status: 0,
      },
    ]),
  ),
  "a response too small to be compressed": {
    method: "ListShipments",
    headers: () => keyed({ "grpc-accept-encoding": "gzip" }),
    body: ONE_OF_LIST,
    status: 0,
  },
  "an error to a caller that accepts gzip": {
    headers: () => keyed({ "grpc-accept-encoding": "gzip" }),
    body: frame(Buffer.alloc(0)),
    status: bad,
  },
};

test.each(Object.entries(CASES))(
  "the fast path responds and counts like Connect: %s",
  async (_, { headers = keyed, body = GOOD, method = "QuoteShipment", sending, status }) => {
    const path = `${SERVICE}/${method}`;
    const call = (to: string) => counted(() => rawGrpc(service.grpcUrl, to, headers(), body, sending));
    const first = await call(throughConnect(path));
    // Repeats the booking, because the response to a repeated booking differs from the first.
    const connect = first.answer.trailers["grpc-status"] === "0" ? await call(throughConnect(path)) : first;
    const byFastPath = await call(path);
    expect(comparable(byFastPath.answer)).toEqual(comparable(connect.answer));
    expect(byFastPath.answer.trailers["grpc-status"]).toBe(String(status));
    expect(byFastPath.counts).toEqual(connect.counts);
  },
);

test("the fast path responds like Connect when a call exceeds the limit", async () => {
  await setLimit(service.app.em, limitedWorkspace.id, "quote", { rate: 1, burst: 1 });
  const headers = { ...KEYLESS, "x-api-key": limitedWorkspace.apiKey };
  const refused = (path: string) =>
    eventually("a call to be refused", async () => {
      const answer = await rawGrpc(service.grpcUrl, path, headers, GOOD);
      return answer.trailers["grpc-status"] === String(Code.ResourceExhausted) && answer;
    });
  const path = `${SERVICE}/QuoteShipment`;
  const byFastPath = comparable(await refused(path));
  expect(byFastPath).toEqual(comparable(await refused(throughConnect(path))));
  expect(byFastPath.headers).toMatchObject({ "ratelimit-policy": '"quote";q=1;w=1' });
  expect(byFastPath.trailers).toMatchObject({ "retry-after": "1" });
});

/** Returns a response without the headers that vary between calls. */
function comparable({ status, headers, trailers, text }: RawGrpcResponse) {
  const steady = (headers: RawGrpcResponse["headers"]) => {
    const { date, ratelimit, ...rest } = headers;
    const left = typeof ratelimit === "string" ? ratelimit.replace(/r=\d+;t=\d+/, "") : ratelimit;
    return { ...rest, ratelimit: left, dated: date !== undefined };
  };
  return { status, headers: steady(headers), trailers: steady(trailers), text };
}

/** Makes a call. Returns its response and the call counters that changed. */
async function counted(call: () => Promise<RawGrpcResponse>) {
  const before = await requestCounts();
  const answer = await call();
  await untilCallsFinish();
  const after = await requestCounts();
  const counts = [...after].filter(([labels, count]) => count !== (before.get(labels) ?? 0));
  return { answer, counts: counts.map(([labels]) => labels) };
}

async function requestCounts(): Promise<Map<string, number>> {
  const { text } = await service.request("/metrics");
  const counts = text.matchAll(/^shipments_requests_total(\{.*\}) (\d+)$/gm);
  return new Map(counts.map(([, labels, count]) => [labels as string, Number(count)]));
}

function untilCallsFinish() {
  return eventually("every call to finish", async () => (await callsInFlight(service)) === 0);
}

describe("a gRPC caller that disconnects", () => {
  const begin = (session: ClientHttp2Session, method = "QuoteShipment") => {
    const path = `${SERVICE}/${method}`;
    const stream = session.request({ ":method": "POST", ":path": path, ...keyed() });
    return stream.on("error", () => undefined).resume();
  };

  const MOMENTS: Readonly<Record<string, (session: ClientHttp2Session) => Promise<unknown> | void>> = {
    "before the body": async (session) => {
      const stream = begin(session);
      await sleep(20);
      stream.close(8);
    },
    immediately: (session) => begin(session).close(8),
    "in the middle of the body": async (session) => {
      const stream = begin(session);
      stream.write(GOOD.subarray(0, 20));
      await sleep(20);
      stream.close(8);
    },
    "after the message, before the end": async (session) => {
      const stream = begin(session);
      stream.write(GOOD);
      await sleep(20);
      stream.close(0);
    },
    "during the response": async (session) => {
      const stream = begin(session, "CreateShipment");
      stream.end(BOOK);
      await sleep(2);
      stream.close(8);
    },
    "with its connection, in the middle of the body": async (session) => {
      begin(session).write(GOOD.subarray(0, 20));
      await sleep(20);
      session.destroy();
    },
    "with its connection, during the response": async (session) => {
      begin(session, "CreateShipment").end(BOOK);
      await sleep(2);
      session.destroy();
    },
    "with its connection, with calls of every kind": async (session) => {
      for (let i = 0; i < 50; i++) begin(session, i % 2 ? "QuoteShipment" : "ListShipments").end(LIST);
      await sleep(3);
      session.destroy();
    },
  };

  test.each(Object.entries(MOMENTS))("%s leaves no call in flight", async (_, leave) => {
    const session = connect(service.grpcUrl).on("error", () => undefined);
    await once(session, "connect");
    await leave(session);
    await untilCallsFinish();
    session.destroy();
    expect((await service.grpcClient(apiKey).quoteShipment(RPC_ROUTE)).covered).toBe(true);
  });
});

test("a gRPC caller that never reads its response counts as in flight until it disconnects", async () => {
  const session = connect(service.grpcUrl, { settings: { initialWindowSize: 0 } });
  const path = `${SERVICE}/ListShipments`;
  const stream = session.request({ ":method": "POST", ":path": path, ...keyed() });
  stream.on("error", () => undefined).end(LIST);
  await once(stream, "response");
  expect(await callsInFlight(service)).toBe(1);
  session.destroy();
  await untilCallsFinish();
});

test("refuses an empty body immediately, even if its caller must be looked up first", async () => {
  const statuses: unknown[] = [];
  for (const encoding of ["identity", "identity", "gzip", "gzip"]) {
    const { apiKey } = await service.addWorkspace();
    const headers = {
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-encoding": encoding,
      "x-api-key": apiKey,
    };
    const path = "/shipments.v1.ShipmentService/GetShipment";
    const answer = await rawGrpc(service.grpcUrl, path, headers, new Uint8Array());
    statuses.push(answer.trailers["grpc-status"] ?? answer.headers["grpc-status"]);
  }
  expect(statuses).toEqual(["12", "12", "12", "12"]);
});
