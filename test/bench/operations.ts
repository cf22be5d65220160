import { fromJson, toBinary, type DescMethodUnary, type JsonObject } from "@bufbuild/protobuf";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import type { Load } from "./load/load.ts";
import { CUSTOMER, SHIPMENT } from "./numbering.ts";

/** Status and payment status of a shipment. */
export type State = readonly [status: string, paymentStatus: string];

/** A kind of request over JSON or gRPC. It can contain the tokens of `numbering.ts`. */
export interface Operation {
  readonly name: string;
  readonly call: JsonCall | GrpcCall;
  /** State of all shipments before each round. Omitted for reads. */
  readonly from?: State;
  /** Whether all workspaces call in turn. By default only the first one calls. */
  readonly inAll?: boolean;
}
export type JsonCall = readonly [method: string, path: string, body?: object];
export type GrpcCall = readonly [method: DescMethodUnary, request: JsonObject];

/** Whether an operation uses gRPC. */
export function isGrpc(call: Operation["call"]): call is GrpcCall {
  return typeof call[0] !== "string";
}

/** A route in New York City with its addresses. */
export const ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
};
export const ADDRESSES = {
  pickup_address: "1 Times Square, New York",
  dropoff_address: "95 Prospect Park West, Brooklyn",
};

const BOOKING = {
  customer_name: `Customer ${CUSTOMER}`,
  customer_email: `customer${CUSTOMER}@example.org`,
  ...ADDRESSES,
  ...ROUTE,
};
const ALL = "/v1/shipments";
const ONE = `${ALL}/SHP-${SHIPMENT}`;
const PAGE = "list, 25 a page";
const NOTES = { metadata: { order: SHIPMENT } };
const PAYMENT = { amount: 12.69, currency: "USD" };
const PENDING: State = ["pending", "awaiting_payment"];
const PAID: State = ["awaiting_pickup", "paid"];
const { quoteShipment, getShipment, listShipments } = ShipmentService.method;

export const quoteJson: Operation = { name: "quote", call: ["POST", `${ALL}/quote`, ROUTE] };
export const quoteGrpc: Operation = { name: "quote", call: [quoteShipment, ROUTE] };
export const create: Operation = { name: "create", call: ["POST", ALL, BOOKING], from: PENDING };
export const createInAll: Operation = { ...create, name: "create in 50 workspaces", inAll: true };
export const get: Operation = { name: "get", call: ["GET", ONE] };
export const getGrpc: Operation = {
  name: "get",
  call: [getShipment, { shipment: `SHP-${SHIPMENT}` }],
};
export const list: Operation = { name: PAGE, call: ["GET", ALL] };
export const listGrpc: Operation = { name: PAGE, call: [listShipments, {}] };
export const update: Operation = { name: "update", call: ["PATCH", ONE, NOTES], from: PENDING };
export const pay: Operation = {
  name: "pay",
  call: ["POST", `${ONE}/payments`, PAYMENT],
  from: PENDING,
};
export const advance: Operation = { name: "advance", call: ["POST", `${ONE}/advance`], from: PAID };
export const cancel: Operation = { name: "cancel", call: ["POST", `${ONE}/cancel`], from: PENDING };

/** Returns the load generator's request for an operation. */
export function requestOf({ call }: Operation, apiKey: string): Load["request"] {
  if (isGrpc(call)) return grpcRequest(call, apiKey);
  return { protocol: "HTTP/1.1", body: jsonRequest(call, apiKey) };
}

function jsonRequest([method, path, fields]: JsonCall, apiKey: string): Buffer {
  const body = fields === undefined ? "" : JSON.stringify(fields);
  const lines = Object.entries({
    host: "127.0.0.1",
    authorization: `Bearer ${apiKey}`,
    ...(body === "" ? {} : { "content-type": "application/json" }),
    ...(method === "GET" ? {} : { "content-length": Buffer.byteLength(body) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

function grpcRequest([{ parent, name, input }, fields]: GrpcCall, apiKey: string): Load["request"] {
  const message = toBinary(input, fromJson(input, fields));
  // Compression flag and message length (gRPC over HTTP/2, Length-Prefixed-Message).
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const headers = {
    ":method": "POST",
    ":scheme": "http",
    ":path": `/${parent.typeName}/${name}`,
    ":authority": "127.0.0.1",
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${apiKey}`,
  };
  return { protocol: "HTTP/2", headers, body: Buffer.concat([prefix, message]) };
}
