import { once } from "node:events";
import { connect, constants, type IncomingHttpHeaders } from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  HealthCheckResponse_ServingStatus as Status,
  HealthCheckResponseSchema,
} from "../../../gen/grpc/health/v1/health_pb.js";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { QuoteShipmentRequestSchema } from "../../../gen/shipments/v1/quote_pb.js";
import { CreateShipmentRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { callByGrpcio, HAS_GRPCIO, type ForeignCall } from "../../support/foreign-client.ts";
import { rpcRefusal } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";
import { RPC_ROUTE } from "../../support/bookings.ts";

const QUOTE = "/shipments.v1.ShipmentService/QuoteShipment";
const CREATE = "/shipments.v1.ShipmentService/CreateShipment";
const ROUTE = toBinary(QuoteShipmentRequestSchema, create(QuoteShipmentRequestSchema, RPC_ROUTE));
/** Body that exceeds the initial flow-control window of a new connection. */
const LARGE = Buffer.alloc(200_000, 1);

const service = await startService();
const { apiKey } = await service.addWorkspace();
const metadata = { "x-api-key": apiKey };

/** Repeats a call several times, half of them on separate connections. */
const often = (call: ForeignCall) =>
  Array.from({ length: 24 }, (_, i): ForeignCall => ({ ...call, alone: i % 2 === 0 }));

test.each(["/shipments.v1.ShipmentService/Nope", "/shipments.v1.NoService/QuoteShipment"])(
  "refuses an unknown RPC in one block of headers while its caller may still send its body: %s",
  async (path) => {
    const session = connect(service.grpcUrl);
    const headers = { "content-type": "application/grpc", te: "trailers" };
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    const aborted: unknown[] = [];
    stream.on("aborted", () => aborted.push("aborted")).resume();
    stream.write(LARGE);
    const [answer, flags] = (await once(stream, "response")) as [IncomingHttpHeaders, number];
    expect(answer).toMatchObject({
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": "12",
      "grpc-message": "This%20RPC%20does%20not%20exist.",
      "grpc-status-details-bin": expect.any(String),
      "x-request-id": expect.any(String),
    });
    expect(flags & constants.NGHTTP2_FLAG_END_STREAM).toBe(constants.NGHTTP2_FLAG_END_STREAM);
    stream.end(LARGE);
    await once(stream, "close");
    expect([stream.rstCode, aborted]).toEqual([constants.NGHTTP2_NO_ERROR, []]);
    session.close();
  },
);

describe.skipIf(!HAS_GRPCIO)("a client based on gRPC's C-core", () => {
  test.each<[what: string, path: string, message: Uint8Array]>([
    ["an unknown method", "/shipments.v1.ShipmentService/Nope", ROUTE],
    ["an unknown service", "/shipments.v1.NoService/QuoteShipment", ROUTE],
    ["an unknown service with a large body", "/shipments.v1.NoService/QuoteShipment", LARGE],
  ])("receives the reason for %s", async (_, path, message) => {
    const answers = await callByGrpcio(service.grpcUrl, often({ path, message, metadata }));
    const expected = {
      code: "UNIMPLEMENTED",
      text: "This RPC does not exist.",
      error: rpcRefusal("Unimplemented", "NO_SUCH_METHOD", "This RPC does not exist."),
    };
    expect(answers.map(({ code, text, error }) => ({ code, text, error }))).toEqual(answers.map(() => expected));
  });

  test("receives the refusal of its key before its body has arrived", async () => {
    const call = { path: QUOTE, message: LARGE, metadata: { "x-api-key": "shp_wrong" } };
    const answers = await callByGrpcio(service.grpcUrl, often(call));
    expect(answers.map(({ error }) => error?.details)).toEqual(
      answers.map(() => ({
        ErrorInfo: { reason: "CREDENTIAL_REFUSED", domain: "shipments.v1" },
      })),
    );
  });

  test("receives the refusal of a body that is too large", async () => {
    const answers = await callByGrpcio(service.grpcUrl, often({ path: QUOTE, message: LARGE, metadata }));
    expect(answers.map(({ code, error }) => [code, error?.details["ErrorInfo"]])).toEqual(
      answers.map(() => ["RESOURCE_EXHAUSTED", { reason: "BODY_TOO_LARGE", domain: "shipments.v1" }]),
    );
  });

  test("receives the errors of its fields, however many there are", async () => {
    const notes = Array.from({ length: 300 }, (_, i) => [`${i}`, "a\0b"]);
    const request = create(CreateShipmentRequestSchema, { metadata: Object.fromEntries(notes) });
    const message = toBinary(CreateShipmentRequestSchema, request);
    const call = { path: CREATE, message, metadata };
    const answers = await callByGrpcio(service.grpcUrl, often(call));
    expect(answers.map(({ code, error }) => [code, error?.details["ErrorInfo"]])).toEqual(
      answers.map(() => ["INVALID_ARGUMENT", { reason: "FIELD_INVALID", domain: "shipments.v1" }]),
    );
  });

  test("receives the refusal of an unknown compression with the supported ones", async () => {
    const call = { path: QUOTE, message: LARGE, metadata, compression: "deflate" } as const;
    const answers = await callByGrpcio(service.grpcUrl, often(call));
    const known = 'unknown compression "deflate": supported encodings are gzip,br';
    expect(answers.map(({ code, text }) => [code, text])).toEqual(answers.map(() => ["UNIMPLEMENTED", known]));
  });

  test("sends and receives compressed messages", async () => {
    const call = { path: QUOTE, message: ROUTE, metadata, compression: "gzip" } as const;
    const answers = await callByGrpcio(service.grpcUrl, often(call));
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => "OK"));
  });

  test("receives the headers of its event stream immediately", async () => {
    const { apiKey } = await service.addWorkspace();
    const call: ForeignCall = {
      kind: "stream",
      path: "/shipments.v1.EventService/WatchEvents",
      message: Buffer.alloc(0),
      metadata: { "x-api-key": apiKey },
      timeoutSeconds: 3,
    };
    const [answer] = await callByGrpcio(service.grpcUrl, [call]);
    expect([answer!.code, answer!.messages.length]).toEqual(["DEADLINE_EXCEEDED", 1]);
  });

  test("is refused the 21st event stream of its workspace, with the retry delay", async () => {
    const { apiKey } = await service.addWorkspace();
    const calls = Array.from({ length: 21 }, (): ForeignCall => ({
      kind: "stream",
      path: "/shipments.v1.EventService/WatchEvents",
      message: Buffer.alloc(0),
      metadata: { "x-api-key": apiKey },
      timeoutSeconds: 3,
    }));
    const answers = await callByGrpcio(service.grpcUrl, calls);
    const refused = answers.filter(({ code }) => code === "RESOURCE_EXHAUSTED");
    expect(refused.map(({ error }) => error?.details)).toEqual([
      {
        ErrorInfo: { reason: "RATE_LIMITED", domain: "shipments.v1" },
        RetryInfo: { retryDelay: "1s" },
      },
    ]);
  });

  test("receives NOT_SERVING on its health watch before the service closes", async () => {
    const closing = await startService();
    let closed: Promise<void> | undefined;
    const call: ForeignCall = {
      kind: "stream",
      path: "/grpc.health.v1.Health/Watch",
      message: Buffer.alloc(0),
    };
    const [answer] = await callByGrpcio(closing.grpcUrl, [call], () => (closed ??= closing.close()));
    const statuses = answer!.messages.map((it) => fromBinary(HealthCheckResponseSchema, it).status);
    expect(statuses).toEqual([Status.SERVING, Status.NOT_SERVING]);
    expect(answer!.code).toBe("OK");
    await closed;
  });

  test.each(["v1", "v1alpha"])("can list the services through reflection %s", async (version) => {
    const question = create(ServerReflectionRequestSchema, {
      messageRequest: { case: "listServices", value: "*" },
    });
    const [answer] = await callByGrpcio(service.grpcUrl, [
      {
        kind: "bidi",
        path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
        message: toBinary(ServerReflectionRequestSchema, question),
      },
    ]);
    const [listed] = answer!.messages.map((it) => fromBinary(ServerReflectionResponseSchema, it));
    expect(listed?.messageResponse).toMatchObject({
      case: "listServicesResponse",
      value: {
        service: expect.arrayContaining([expect.objectContaining({ name: "shipments.v1.ShipmentService" })]),
      },
    });
    expect(answer!.code).toBe("OK");
  });
});
