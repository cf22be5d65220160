import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CreateShipmentRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { mintKey } from "../../../src/domain/secret-key.ts";
import { REFUSAL_STATUS } from "../../../src/pipeline/refusal-status.ts";
import { BOOKING } from "../../support/bookings.ts";
import { frame, rawGrpc } from "../../support/raw-grpc.ts";
import { rpcError, type RpcError } from "../../support/rpc-error.ts";
import { startService, startUnprepared, type TestService } from "../../support/service.ts";

let service: TestService;
let apiKey: string;
beforeAll(async () => {
  service = await startService();
  ({ apiKey } = await service.addWorkspace({ paymentProvider: undefined }));
});
afterAll(() => service.close());

/** The `errors` of the JSON error that the details of an RPC's error correspond to. */
function errorsIn({ details }: RpcError) {
  const { BadRequest, PreconditionFailure } = details as Record<string, any>;
  const pairs = [
    ...(BadRequest?.fieldViolations ?? []).map((it: any) => [it.field, it.description]),
    ...(PreconditionFailure?.violations ?? []).map((it: any) => [it.subject, it.description]),
  ];
  return Object.fromEntries(pairs.map(([key, text]) => [key, [text]]));
}

/** The wire names of a booking as a gRPC client writes them. */
function camelCase(json: object) {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

describe("an error by gRPC has in its details what JSON answers", () => {
  const AWAY = { pickup_lat: 0, pickup_lng: 0 };
  test.each<[what: string, body: object, reason: string, code: string, kind: string]>([
    ["nothing given", {}, "FIELD_INVALID", "InvalidArgument", "BadRequest"],
    [
      "fields out of range",
      { ...BOOKING, pickup_lat: 91, weight_kg: 0, customer_email: "x", pickup_address: " " },
      "FIELD_INVALID",
      "InvalidArgument",
      "BadRequest",
    ],
    [
      "text with NUL",
      { ...BOOKING, customer_name: "a\u0000b", customer_id_number: "\u0000" },
      "FIELD_INVALID",
      "InvalidArgument",
      "BadRequest",
    ],
    [
      "no payment provider",
      BOOKING,
      "PAYMENT_PROVIDER_NOT_CONNECTED",
      "FailedPrecondition",
      "PreconditionFailure",
    ],
    [
      "too heavy",
      { ...BOOKING, weight_kg: 1e9 },
      "WEIGHT_NOT_SERVED",
      "FailedPrecondition",
      "PreconditionFailure",
    ],
    [
      "not covered, too heavy",
      { ...BOOKING, ...AWAY, weight_kg: 1e9 },
      "ROUTE_NOT_COVERED",
      "FailedPrecondition",
      "PreconditionFailure",
    ],
  ])("%s", async (_, body, reason, code, kind) => {
    const json = await service.request("/v1/shipments", { apiKey, body });
    const facts = await rpcError(service.grpcClient(apiKey).createShipment(camelCase(body)));
    expect(json.status).toBe(422);
    expect({ message: facts.message, errors: errorsIn(facts) }).toStrictEqual(json.body);
    expect(facts.code).toBe(code);
    expect(facts.details.ErrorInfo).toEqual({ reason, domain: "shipments.v1" });
    expect(Object.keys(facts.details)).toEqual(["ErrorInfo", kind]);
  });
});

/** What clients in Java and on gRPC's C-core take of headers or trailers, in bytes. */
const TAKEN_BYTES = 8 * 1024;
/** What each header counts besides its name and value, by RFC 9113, section 6.5.2. */
const HEADER_BYTES = 32;

test.each([
  ["short", 300, ""],
  ["long", 60, "🚲".repeat(180)],
])(
  "an error with too many %s fields for a client by gRPC has the first of them",
  async (...row) => {
    const [, count, rest] = row;
    const entries = Array.from({ length: count }, (_, i) => [`${i}${rest}`, "a\0b"]);
    const metadata = Object.fromEntries(entries) as Record<string, string>;
    const json = await service.request("/v1/shipments", { apiKey, body: { ...BOOKING, metadata } });
    const request = create(CreateShipmentRequestSchema, { ...camelCase(BOOKING), metadata });
    const facts = await rpcError(service.grpcClient(apiKey).createShipment(request));
    expect({ code: facts.code, message: facts.message }).toEqual({
      code: "InvalidArgument",
      message: json.body.message,
    });
    const first = Object.entries(errorsIn(facts));
    expect(first).toEqual(Object.entries(json.body.errors).slice(0, first.length));
    expect(first).not.toEqual([]);
    const { headers, trailers } = await rawGrpc(
      service.grpcUrl,
      "/shipments.v1.ShipmentService/CreateShipment",
      { "content-type": "application/grpc", te: "trailers", "x-api-key": apiKey },
      frame(toBinary(CreateShipmentRequestSchema, request)),
    );
    const sent = Object.entries({ ...headers, ...trailers });
    const bytes = sent.map(([name, value]) => name.length + String(value).length + HEADER_BYTES);
    expect(bytes.reduce((sum, it) => sum + it)).toBeLessThan(TAKEN_BYTES);
  },
);

test("a number by gRPC that is not finite is out of range", async () => {
  const route = { pickupLat: NaN, pickupLng: -Infinity, dropoffLat: 0, dropoffLng: 0, weightKg: 1 };
  const facts = await rpcError(service.grpcClient(apiKey).quoteShipment(route));
  const { fieldViolations } = facts.details.BadRequest as { fieldViolations: { field: string }[] };
  expect(facts.code).toBe("InvalidArgument");
  expect(new Set(fieldViolations.map(({ field }) => field))).toEqual(
    new Set(["pickup_lat", "pickup_lng"]),
  );
});

test("an error that a retry can solve has RetryInfo with the delay", async () => {
  const unprepared = await startUnprepared();
  try {
    expect(await rpcError(unprepared.grpcClient(mintKey("shp_")).quoteShipment({}))).toEqual({
      code: "Unavailable",
      message: "The service is starting; try again in a moment.",
      details: {
        ErrorInfo: { reason: "UNAVAILABLE", domain: "shipments.v1" },
        RetryInfo: { retryDelay: "1s" },
      },
    });
  } finally {
    await unprepared.app.close();
  }
});

test("every reason has the form that ErrorInfo requires", () => {
  for (const reason of Object.keys(REFUSAL_STATUS)) {
    expect(reason).toMatch(/^[A-Z][A-Z0-9_]{0,61}[A-Z0-9]$/);
  }
});
