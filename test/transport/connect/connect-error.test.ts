import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { CreateShipmentRequestSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { createSecretKey } from "../../../src/domain/secret-key.ts";
import { REASONS } from "../../../src/domain/refusal-reasons.ts";
import { BOOKING } from "../../support/bookings.ts";
import { headerBytes, TAKEN_BYTES } from "../../support/header-bytes.ts";
import { frame, rawGrpc } from "../../support/raw-grpc.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { rpcError, type RpcError } from "../../support/rpc-error.ts";
import { startService, startUnprepared } from "../../support/service.ts";

const CREATE = "/shipments.v1.ShipmentService/CreateShipment";

const service = await startService();
const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });

/** Converts an RPC error's details to the equivalent `errors` in JSON. */
function errorsIn({ details }: RpcError) {
  const { BadRequest, PreconditionFailure } = details as Record<string, any>;
  const pairs = [
    ...(BadRequest?.fieldViolations ?? []).map((it: any) => [it.field, it.description]),
    ...(PreconditionFailure?.violations ?? []).map((it: any) => [it.subject, it.description]),
  ];
  return Object.fromEntries(pairs.map(([key, text]) => [key, [text]]));
}

/** Returns a booking with a gRPC client's field names. */
function camelCase(json: object) {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

describe("a gRPC error has the same content in its details as the JSON error", () => {
  const AWAY = { pickup_lat: 0, pickup_lng: 0 };
  test.each<[what: string, body: object, reason: string, code: string, kind: string]>([
    ["an empty request", {}, "FIELD_INVALID", "InvalidArgument", "BadRequest"],
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
    ["no payment provider", BOOKING, "PAYMENT_PROVIDER_NOT_CONNECTED", "FailedPrecondition", "PreconditionFailure"],
    ["too heavy", { ...BOOKING, weight_kg: 1e9 }, "WEIGHT_NOT_SERVED", "FailedPrecondition", "PreconditionFailure"],
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
    expect(json.code).toBe(reason);
    expect(Object.keys(facts.details)).toEqual(["ErrorInfo", kind]);
  });
});

describe.each([
  { what: "short", count: 300, rest: "" },
  { what: "long", count: 60, rest: "🚲".repeat(180) },
])("an error with more $what fields than fit in gRPC's trailers", ({ count, rest }) => {
  const notes = Array.from({ length: count }, (_, i) => [`${i}${rest}`, "a\0b"]);
  const metadata = Object.fromEntries(notes) as Record<string, string>;
  const body = { ...BOOKING, metadata };
  const request = create(CreateShipmentRequestSchema, { ...camelCase(BOOKING), metadata });

  test("has the first ones over gRPC, and the whole message", async () => {
    const json = await service.request("/v1/shipments", { apiKey, body });
    const facts = await rpcError(service.grpcClient(apiKey).createShipment(request));
    expect({ code: facts.code, message: facts.message }).toEqual({
      code: "InvalidArgument",
      message: json.body.message,
    });
    const first = Object.entries(errorsIn(facts));
    expect(first).toEqual(Object.entries(json.body.errors).slice(0, first.length));
    expect(first).not.toEqual([]);
  });

  test("has all of them over Connect", async () => {
    const json = await service.request("/v1/shipments", { apiKey, body });
    const client = rpcClient(ShipmentService, PROTOCOLS["Connect on the HTTP server"], service, apiKey);
    const facts = await rpcError(client.createShipment(request));
    expect({ message: facts.message, errors: errorsIn(facts) }).toEqual(json.body);
  });

  test("stays within the header limit of gRPC clients", async () => {
    const { headers, trailers } = await rawGrpc(
      service.grpcUrl,
      CREATE,
      { "content-type": "application/grpc", te: "trailers", "x-api-key": apiKey },
      frame(toBinary(CreateShipmentRequestSchema, request)),
    );
    expect(headerBytes({ ...headers, ...trailers })).toBeLessThan(TAKEN_BYTES);
  });
});

test.each([
  ["a compression", "/grpc.health.v1.Health/Check", { "grpc-encoding": '"'.repeat(12_000) }],
  ["a content type", CREATE, { "content-type": `application/grpc+${"x".repeat(9_000)}` }],
  ["an unknown RPC's content type", "/no.Such/Rpc", { "content-type": `application/grpc+${"x".repeat(9_000)}` }],
])("an error for %s of the maximum header length stays within the limit of clients", async (_, path, violations) => {
  const { headers, trailers } = await rawGrpc(
    service.grpcUrl,
    path,
    { "content-type": "application/grpc", te: "trailers", ...violations },
    frame(new Uint8Array()),
  );
  const status = trailers["grpc-status"] ?? headers["grpc-status"];
  expect(Number(status)).not.toBe(0);
  expect(headerBytes({ ...headers, ...trailers })).toBeLessThan(TAKEN_BYTES);
});

test("a non-finite number over gRPC is out of range", async () => {
  const route = { pickupLat: NaN, pickupLng: -Infinity, dropoffLat: 0, dropoffLng: 0, weightKg: 1 };
  const facts = await rpcError(service.grpcClient(apiKey).quoteShipment(route));
  const { fieldViolations } = facts.details.BadRequest as { fieldViolations: { field: string }[] };
  expect(facts.code).toBe("InvalidArgument");
  expect(new Set(fieldViolations.map(({ field }) => field))).toEqual(new Set(["pickup_lat", "pickup_lng"]));
});

test("a retryable error has RetryInfo with the delay", async () => {
  const unprepared = await startUnprepared();
  expect(await rpcError(unprepared.grpcClient(createSecretKey("shp_")).quoteShipment({}))).toEqual({
    code: "Unavailable",
    message: "The service cannot reach its database. Try again in a moment.",
    details: {
      ErrorInfo: { reason: "UNAVAILABLE", domain: "shipments.v1" },
      RetryInfo: { retryDelay: "1s" },
    },
  });
});

test("every reason has the form that ErrorInfo requires", () => {
  for (const reason of Object.keys(REASONS)) {
    expect(reason).toMatch(/^[A-Z][A-Z0-9_]{0,61}[A-Z0-9]$/);
  }
});
