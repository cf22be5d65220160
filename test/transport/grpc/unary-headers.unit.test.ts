import { expect, test } from "vitest";
import { createUnaryHeadersReader } from "../../../src/transport/grpc/unary-headers.ts";
import { listRpcs } from "../../../src/pipeline/rpc.ts";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";

const functions = Object.fromEntries(ShipmentService.methods.map((method) => [method.localName, () => undefined]));
const read = createUnaryHeadersReader(listRpcs(ShipmentService, functions as never, undefined, undefined as never));

const QUOTE = {
  ":method": "POST",
  ":path": "/shipments.v1.ShipmentService/QuoteShipment",
  ":authority": "localhost:9090",
  "content-type": "application/grpc",
};

test.each<[string, object, object]>([
  ["in its usual form", {}, { timeoutMs: undefined, compression: null }],
  ["with the proto content type", { "content-type": "application/grpc+proto" }, {}],
  ["with an encoding of identity", { "grpc-encoding": "identity" }, {}],
  ["with a deadline", { "grpc-timeout": "1500u" }, { timeoutMs: 1 }],
  ["to another host", { ":authority": "[::1]" }, {}],
  ["that accepts brotli first", { "grpc-accept-encoding": "br,gzip" }, { compression: { name: "br" } }],
  ["that accepts an unsupported encoding", { "grpc-accept-encoding": "zstd" }, { compression: null }],
])("the fast path accepts a call %s", (_, headers, expected) => {
  const rpc = { name: "shipments.v1.ShipmentService/QuoteShipment" };
  expect(read({ ...QUOTE, ...headers })).toMatchObject({ rpc, ...expected });
});

test.each<[string, object]>([
  ["of another method", { ":method": "GET" }],
  ["to an unknown RPC", { ":path": "/shipments.v1.ShipmentService/Nope" }],
  ["with a query", { ":path": `${QUOTE[":path"]}?` }],
  ["with JSON", { "content-type": "application/grpc+json" }],
  ["of gRPC-Web", { "content-type": "application/grpc-web" }],
  ["of Connect", { "content-type": "application/proto" }],
  ["with a content type in capitals", { "content-type": "application/GRPC" }],
  ["without a content type", { "content-type": undefined }],
  ["that is compressed", { "grpc-encoding": "gzip" }],
  ["with an unknown compression", { "grpc-encoding": "zstd" }],
  ["with an invalid deadline", { "grpc-timeout": "soon" }],
  ["with two deadlines", { "grpc-timeout": "1S, 2S" }],
  ["that expects 100-continue", { expect: "100-continue" }],
  ["without a host", { ":authority": undefined }],
  ["with an invalid host", { ":authority": "a:999999" }],
])("Connect, not the fast path, handles a call %s", (_, headers) => {
  expect(read({ ...QUOTE, ...headers })).toBeUndefined();
});
