import { brotliCompressSync, gzipSync } from "node:zlib";
import { toBinary, create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { QuoteShipmentRequestSchema, QuoteShipmentResponseSchema } from "../../../gen/shipments/v1/quote_pb.js";
import { CancelShipmentResponseSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { compileEncodeJson } from "../../../src/json/encode-json.ts";
import { BOOKING, COVERED_ROUTE, RPC_ROUTE } from "../../support/bookings.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { callsInFlight } from "../../support/metrics.ts";
import { frame, rawGrpc } from "../../support/raw-grpc.ts";
import { rawHttp } from "../../support/raw-http.ts";
import { PROTOCOLS, rpcClient, type ServerUrls } from "../../support/rpc-client.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";

const QUOTE = "/shipments.v1.ShipmentService/QuoteShipment";

const service = await startService();
const { apiKey } = await service.addWorkspace();

describe.each(Object.entries(PROTOCOLS))("%s", (protocol, transportTo) => {
  const client = (key = apiKey) => rpcClient(ShipmentService, transportTo, service, key);

  test("a quote equals that of plain JSON", async () => {
    const response = await client().quoteShipment(RPC_ROUTE);
    const json = await service.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
    expect(compileEncodeJson(QuoteShipmentResponseSchema)(response)).toStrictEqual(json.body);
  });

  test("a shipment that was booked in plain JSON can be cancelled", async () => {
    const { body } = await service.request("/v1/shipments", { apiKey, body: BOOKING });
    const response = await client().cancelShipment({ shipment: body.data.reference });
    const cancelled = compileEncodeJson(CancelShipmentResponseSchema)(response);
    expect(cancelled).toMatchObject({
      data: { reference: body.data.reference, status: "cancelled", payment_status: "voided" },
    });
  });

  test("an error has the same code, message and details", async () => {
    const refused = client().quoteShipment({
      ...RPC_ROUTE,
      weightKg: Infinity,
      pickupLat: undefined,
    });
    expect(await rpcError(refused)).toEqual({
      code: "InvalidArgument",
      message: "pickup_lat is required. (and 1 more error)",
      details: {
        ErrorInfo: { reason: "FIELD_INVALID", domain: "shipments.v1" },
        BadRequest: {
          fieldViolations: [
            { field: "pickup_lat", description: "pickup_lat is required." },
            { field: "weight_kg", description: "weight_kg must be finite." },
          ],
        },
      },
    });
  });

  test("a call without a valid key is unauthenticated", async () => {
    const { code, details } = await rpcError(client("shp_wrong").quoteShipment(RPC_ROUTE));
    expect([code, details]).toEqual([
      "Unauthenticated",
      { ErrorInfo: { reason: "CREDENTIAL_REFUSED", domain: "shipments.v1" } },
    ]);
  });

  test.each([65, 5_000])("refuses a message of %i KiB and leaves no call in flight", async (kib) => {
    const shipment = "x".repeat(kib * 1024);
    expect(await rpcError(client().cancelShipment({ shipment }))).toEqual(
      rpcRefusal("ResourceExhausted", "BODY_TOO_LARGE", "The body is larger than 64 KiB.", "body"),
    );
    await eventually("the call to finish", async () => (await callsInFlight(service)) === 0);
  });

  test("returns the caller's request id", async () => {
    let returned: string | null = null;
    const headers = { "x-request-id": "mine" };
    const onHeader = (received: Headers) => (returned = received.get("x-request-id"));
    await client().quoteShipment(RPC_ROUTE, { headers, onHeader });
    expect(returned).toBe("mine");
  });

  test("a call whose deadline has passed fails", async () => {
    const headers = { "grpc-timeout": "0m", "connect-timeout-ms": "0" };
    expect(await rpcError(client().quoteShipment(RPC_ROUTE, { headers }))).toEqual(
      rpcRefusal("DeadlineExceeded", "DEADLINE_EXCEEDED", "The caller's deadline passed before the response."),
    );
  });

  test.each(["soon", "1.5S", "-1m", "12345678901"])("refuses a timeout of %s as malformed", async (value) => {
    const [field, description] = protocol.startsWith("gRPC")
      ? ["grpc_timeout", "grpc-timeout must be 1 to 8 digits and a unit, one of H, M, S, m, u and n."]
      : ["connect_timeout_ms", "connect-timeout-ms must be 1 to 10 digits."];
    const headers = { "grpc-timeout": value, "connect-timeout-ms": value };
    expect(await rpcError(client().quoteShipment(RPC_ROUTE, { headers }))).toEqual(
      rpcRefusal("InvalidArgument", "FIELD_INVALID", description, field),
    );
  });
});

describe("an unknown compression is UNIMPLEMENTED, with the supported ones", () => {
  const text = 'unknown compression "deflate": supported encodings are gzip,br';

  test.each(["application/grpc", "application/grpc+json"])("%s", async (type) => {
    const headers = { "content-type": type, "grpc-encoding": "deflate", "x-api-key": apiKey };
    const answer = await rawGrpc(service.grpcUrl, QUOTE, headers, frame(Buffer.alloc(9), 1));
    expect([
      answer.headers["grpc-accept-encoding"],
      answer.trailers["grpc-status"],
      decodeURIComponent(answer.trailers["grpc-message"] as string),
    ]).toEqual(["gzip,br", String(Code.Unimplemented), text]);
  });

  test("application/grpc-web", async () => {
    const answer = await service.request(QUOTE, {
      apiKey,
      body: frame(Buffer.alloc(9), 1),
      headers: { "content-type": "application/grpc-web", "grpc-encoding": "deflate" },
    });
    expect(answer.headers.get("grpc-accept-encoding")).toBe("gzip,br");
    expect(decodeURIComponent(answer.text)).toContain(text);
  });

  test("application/json", async () => {
    const headers = { "content-encoding": "deflate" };
    const answer = await service.request(QUOTE, { apiKey, body: "{}", headers });
    expect([answer.status, answer.headers.get("accept-encoding"), answer.body]).toEqual([
      501,
      "gzip,br",
      { code: "unimplemented", message: text },
    ]);
  });
});

describe("JSON with a duplicate member is refused with the path", () => {
  const body = '{"weightKg":1,"pickupWindow":{"end":null,"end":null}}';
  const text = "The body has pickupWindow.end twice. Send each name once.";

  test("application/json", async () => {
    const answer = await service.request(QUOTE, { apiKey, body });
    expect([answer.status, answer.body]).toMatchObject([400, { code: "invalid_argument", message: text }]);
  });

  test("application/grpc+json", async () => {
    const headers = {
      "content-type": "application/grpc+json",
      te: "trailers",
      "x-api-key": apiKey,
    };
    const { trailers } = await rawGrpc(service.grpcUrl, QUOTE, headers, frame(Buffer.from(body)));
    expect(decodeURIComponent(trailers["grpc-message"] as string)).toBe(text);
  });
});

describe("an unreadable request is the caller's error, never INTERNAL", () => {
  const unreadable = [
    {
      field: "body",
      description: "The request is not a message of this RPC.",
    },
  ];
  const good = Buffer.from(toBinary(QuoteShipmentRequestSchema, create(QuoteShipmentRequestSchema, RPC_ROUTE)));
  const zipped = gzipSync(good);

  test.each<[what: string, headers: Record<string, string>, body: Uint8Array]>([
    ["bytes that are not a message", {}, frame(Buffer.from([255, 255, 255]))],
    ["a truncated field", {}, frame(good.subarray(0, 7))],
    ["a truncated frame", {}, frame(good).subarray(0, 12)],
    ["a truncated frame header", {}, Buffer.from([0, 0])],
    ["a compressed frame without an encoding", {}, frame(zipped, 1)],
    ["invalid gzip", { "grpc-encoding": "gzip" }, frame(good, 1)],
    ["truncated gzip", { "grpc-encoding": "gzip" }, frame(zipped.subarray(0, 20), 1)],
    ["invalid brotli", { "grpc-encoding": "br" }, frame(Buffer.from([1, 2, 3]), 1)],
    ["truncated brotli", { "grpc-encoding": "br" }, frame(brotliCompressSync(good).subarray(0, 9), 1)],
    ["invalid JSON", { "content-type": "application/grpc+json" }, frame(Buffer.from("{nope"))],
    ["a JSON list", { "content-type": "application/grpc+json" }, frame(Buffer.from("[1]"))],
    [
      "JSON text that is not UTF-8",
      { "content-type": "application/grpc+json" },
      frame(Buffer.from('{"note":"Jos\u00e9"}', "latin1")),
    ],
  ])("gRPC: %s", async (_, headers, body) => {
    const grpc = { "content-type": "application/grpc", te: "trailers", "x-api-key": apiKey };
    const { trailers } = await rawGrpc(service.grpcUrl, QUOTE, { ...grpc, ...headers }, body);
    expect(trailers["grpc-status"]).toBe(String(Code.InvalidArgument));
    expect(decodeURIComponent(trailers["grpc-message"] as string)).toBe("The request is not a message of this RPC.");
  });

  test.each<[what: string, headers: Record<string, string>, body: string | Uint8Array]>([
    ["bytes that are not a message", { "content-type": "application/proto" }, Buffer.from([255])],
    ["invalid JSON", {}, "{nope"],
    ["a JSON list", {}, "[]"],
    ["nothing", {}, ""],
    ["text that is not UTF-8", {}, Buffer.from('{"note":"Jos\u00e9"}', "latin1")],
    ["invalid gzip", { "content-encoding": "gzip" }, "{}"],
    ["invalid brotli", { "content-encoding": "br" }, "{}"],
  ])("Connect: %s", async (_, headers, body) => {
    const answer = await service.request(QUOTE, { apiKey, body, headers });
    expect([answer.status, answer.body.code]).toEqual([400, "invalid_argument"]);
    expect(answer.body.details[1].debug).toEqual({ fieldViolations: unreadable });
  });

  test("Connect: names a JSON field of the wrong type", async () => {
    const answer = await service.request(QUOTE, { apiKey, body: { pickup_lat: "north" } });
    const text = "pickup_lat is of the wrong type.";
    expect([answer.status, answer.body.code, answer.body.message]).toEqual([400, "invalid_argument", text]);
    expect(answer.body.details[1].debug).toEqual({
      fieldViolations: [{ field: "pickup_lat", description: text }],
    });
  });

  test("a message that is larger than 64 KiB after decompression", async () => {
    const bomb = frame(gzipSync(Buffer.alloc(10_000_000)), 1);
    const { trailers } = await rawGrpc(
      service.grpcUrl,
      QUOTE,
      { "content-type": "application/grpc", "grpc-encoding": "gzip", "x-api-key": apiKey },
      bomb,
    );
    expect(trailers["grpc-status"]).toBe(String(Code.ResourceExhausted));
  });
});

test("accepts compressed messages", async () => {
  const transportTo = ({ httpUrl }: ServerUrls, options: object) =>
    createConnectTransport({
      baseUrl: httpUrl,
      httpVersion: "1.1",
      sendCompression: compressionGzip,
      compressMinBytes: 1,
      ...options,
    });
  const client = rpcClient(ShipmentService, transportTo, service, apiKey);
  expect((await client.quoteShipment(RPC_ROUTE)).covered).toBe(true);
});

describe("a request for an unknown RPC", () => {
  const noRpc = errorBody("This RPC does not exist.");

  test("of a known service returns 404 on the HTTP server, with the usual body", async () => {
    const answer = await service.request("/shipments.v1.ShipmentService/Nope", {
      apiKey,
      body: {},
    });
    expect([answer.status, answer.body]).toEqual([404, noRpc]);
    const near = await service.request("/shipments.v1.ShipmentService/quoteshipmnt", { body: {} });
    const expected = "/shipments.v1.ShipmentService/QuoteShipment";
    const named = errorBody(`This RPC does not exist. Did you mean ${expected}?`);
    expect([near.status, near.body]).toEqual([404, named]);
  });

  test.each([
    "/shipments.v1.ShipmentService/Nope",
    "/shipments.v1.NoService/QuoteShipment",
    "/nothing",
    "/v1/shipments/quote",
  ])("returns UNIMPLEMENTED over gRPC: %s", async (path) => {
    const headers = { "content-type": "application/grpc", te: "trailers" };
    const answer = await rawGrpc(service.grpcUrl, path, headers, frame(Buffer.alloc(0)));
    expect([answer.status, answer.headers["grpc-status"], answer.text]).toEqual([200, String(Code.Unimplemented), ""]);
  });

  test("leaves no call in flight, however large its body", async () => {
    const headers = { "content-type": "application/grpc", te: "trailers" };
    await rawGrpc(service.grpcUrl, "/nothing", headers, frame(Buffer.alloc(5_000_000)));
    await eventually("the call to finish", async () => (await callsInFlight(service)) === 0);
  });

  test("with a content type of no protocol returns 415, with the usual body", async () => {
    const text = "The content type must be one of gRPC, gRPC-Web or Connect.";
    const headers = { "content-type": "text/plain" };
    const answer = await service.request(QUOTE, { apiKey, body: "{}", headers });
    expect([answer.status, answer.body]).toEqual([415, errorBody(text, "body")]);
  });
});

describe("the service refuses an invalid host and keeps running", () => {
  const message = "The Host header is missing or not valid.";

  test.each(["Host: a b\r\n", "Host: %%%\r\n", "Host: a:999999\r\n", "Host: \r\n"])(
    "on the HTTP server: %j",
    async (host) => {
      const answer = await rawHttp(
        service.httpUrl,
        `POST ${QUOTE} HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
      );
      expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "application/json"]);
      expect((await service.request("/readyz")).status).toBe(200);
    },
  );

  test("on the gRPC server", async () => {
    const headers = { ":authority": "a:999999", "content-type": "application/grpc" };
    const answer = await rawGrpc(service.grpcUrl, QUOTE, headers, frame(Buffer.alloc(0)));
    expect(answer.headers["grpc-status"]).toBe(String(Code.InvalidArgument));
    expect(decodeURIComponent(answer.headers["grpc-message"] as string)).toBe(message);
    expect((await service.grpcClient(apiKey).quoteShipment(RPC_ROUTE)).covered).toBe(true);
  });
});
