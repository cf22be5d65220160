import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { OWN_KEY, startOwnService, type Parcel } from "../support/own-service.ts";
import { rawGrpc } from "../support/raw-grpc.ts";
import { openSocket, rawHttp, readAnswer } from "../support/raw-http.ts";
import { PROTOCOLS, rpcClient } from "../support/rpc-client.ts";
import { rpcError } from "../support/rpc-error.ts";
import { errorBody } from "../support/endpoints.ts";

const MIB = 1024 * 1024;
/** Maximum size of a request. A process accepts two such requests at a time. */
const MAX_BYTES = 64 * MIB;
const RULE = { pattern: { case: "put", value: "/v1/parcels/{id}" }, body: "data" } as const;

let last: Parcel | undefined;
const service = await startOwnService({
  rule: RULE,
  maxRequestBytes: MAX_BYTES,
  run(parcel, makeParcel) {
    last = parcel;
    return makeParcel({ id: BigInt(parcel.data.length), tag: parcel.tag });
  },
});

const put = (path: string, body: Uint8Array, headers: Record<string, string> = {}) =>
  service.request(path, { method: "PUT", apiKey: OWN_KEY, body, headers });
const head = (more: string) => `PUT /v1/parcels/1 HTTP/1.1\r\nHost: here\r\nX-Api-Key: ${OWN_KEY}\r\n${more}\r\n\r\n`;

describe("a body that is the value of one field", () => {
  test("is accepted verbatim with any type, with the other fields from the path and query", async () => {
    const body = Buffer.from([0, 255, 128, 10, 13, 34]);
    const path = "/v1/parcels/7?tag=first&id=8";
    const { status, body: answer } = await put(path, body, { "content-type": "image/png" });
    expect([status, answer]).toEqual([200, { id: 6, tag: "first", data: "" }]);
    expect([last?.id, Buffer.compare(last!.data, body)]).toEqual([7n, 0]);
    const refused = await put(`${path}&data=AAAA&nothing=x`, body);
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ["nothing", "data"]]);
  });

  test("can be JSON, which is not parsed, or empty", async () => {
    for (const text of ['{"data":', "", "[1,2]"]) {
      const { status, body } = await put("/v1/parcels/1", Buffer.from(text));
      expect([status, body.id]).toEqual([200, text.length]);
    }
  });

  test("can be omitted, which equals an empty one", async () => {
    const { status, text } = await rawHttp(service.httpUrl, head("Content-Length: 0"));
    expect([status, JSON.parse(text)]).toEqual([200, { id: 0, tag: "", data: "" }]);
  });

  test("is refused with a content encoding", async () => {
    const { status, body } = await put("/v1/parcels/1", Buffer.from("x"), {
      "content-encoding": "gzip",
    });
    const text = "The body must be sent without Content-Encoding.";
    expect([status, body]).toEqual([415, errorBody(text, "body")]);
  });

  test("is refused together with every other field that cannot be read", async () => {
    const { status, body } = await put("/v1/parcels/x", Buffer.from("x"));
    expect([status, Object.keys(body.errors)]).toEqual([422, ["id"]]);
  });
});

const TOO_LARGE = "The body is larger than 65536 KiB.";
const BUSY = "Too many large requests are in flight. Try again in a moment.";

describe("a request for an RPC with a larger limit", () => {
  test("can have that size over HTTP, with a content length or in chunks", async () => {
    const body = Buffer.alloc(5 * MIB, 1);
    expect((await put("/v1/parcels/1", body)).body.id).toBe(body.length);
    const chunks = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]);
    const bytes = Buffer.concat([Buffer.from(head("Transfer-Encoding: chunked")), chunks]);
    expect(JSON.parse((await rawHttp(service.httpUrl, bytes)).text).id).toBe(body.length);
  });

  test("can have that size over gRPC and Connect", async () => {
    for (const [name, protocol] of Object.entries(PROTOCOLS)) {
      const client = rpcClient(service.desc, protocol, service, OWN_KEY);
      const data = new Uint8Array(2 * MIB).fill(7);
      const answer = await (client as any).send({ data });
      expect([name, answer.id]).toEqual([name, BigInt(data.length)]);
    }
  });

  test("is refused over HTTP before it is sent if it is larger", async () => {
    const announced = await rawHttp(service.httpUrl, head(`Content-Length: ${MAX_BYTES + 1}`));
    expect([announced.status, announced.body]).toEqual([413, errorBody(TOO_LARGE, "body")]);
  });

  test("is refused over gRPC before it is sent if it is larger", async () => {
    const tooLarge = Buffer.alloc(5);
    tooLarge.writeUInt32BE(MAX_BYTES + 1, 1);
    const headers = { "content-type": "application/grpc", te: "trailers", "x-api-key": OWN_KEY };
    const { trailers } = await rawGrpc(service.grpcUrl, "/own.Parcels/Send", headers, tooLarge, {
      ends: false,
    });
    expect([trailers["grpc-status"], trailers["grpc-message"]]).toEqual([
      String(Code.ResourceExhausted),
      encodeURIComponent(TOO_LARGE),
    ]);
  });

  test("is temporarily refused while others use the process's whole limit", async () => {
    const open = [1, 2].map(() => {
      const socket = openSocket(service.httpUrl);
      socket.write(head(`Content-Length: ${MAX_BYTES}`));
      socket.write(Buffer.alloc(MIB));
      return socket;
    });
    const third = Buffer.from(head(`Content-Length: ${3 * MIB}`));
    await eventually("the refusal", async () => {
      return (await rawHttp(service.httpUrl, third)).status === 503;
    });
    const refused = await rawHttp(service.httpUrl, third);
    expect([refused.status, refused.headers.get("retry-after"), refused.body]).toEqual([503, "1", errorBody(BUSY)]);
    const byGrpc = (name: keyof typeof PROTOCOLS) => rpcClient(service.desc, PROTOCOLS[name], service, OWN_KEY) as any;
    for (const name of ["gRPC on the gRPC server", "Connect on the HTTP server"] as const) {
      const error = await rpcError(byGrpc(name).send({ data: new Uint8Array(3 * MIB) }));
      expect([name, error.code, error.message]).toEqual([name, "Unavailable", BUSY]);
    }
    // Small requests must still be served.
    expect((await put("/v1/parcels/1", Buffer.from("small"))).status).toBe(200);

    open[0]!.destroy();
    await eventually("capacity for the third request", async () => {
      return (await put("/v1/parcels/1", Buffer.alloc(3 * MIB))).status === 200;
    });
    open[1]!.write(Buffer.alloc(MAX_BYTES - MIB));
    const { status, text } = await readAnswer(open[1]!);
    expect([status, JSON.parse(text).id]).toEqual([200, MAX_BYTES]);
    open[1]!.destroy();
  });

  test("frees its share if its caller disconnects over gRPC", async () => {
    const headers = {
      ":method": "POST",
      ":path": "/own.Parcels/Send",
      "content-type": "application/grpc",
      te: "trailers",
      "x-api-key": OWN_KEY,
    };
    for (let i = 0; i < 5; i++) {
      const session = connectHttp2(service.grpcUrl);
      const stream = session.request(headers).on("error", () => undefined);
      const large = Buffer.alloc(1024);
      large.writeUInt32BE(60 * MIB, 1);
      stream.write(large);
      await once(session, "remoteSettings");
      session.destroy();
    }
    await eventually("free capacity", async () => {
      return (await put("/v1/parcels/1", Buffer.alloc(60 * MIB))).status === 200;
    });
  });
});
