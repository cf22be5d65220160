import { fromJson, toBinary, type DescMethodUnary, type JsonObject } from "@bufbuild/protobuf";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import type { Load } from "./load/load.ts";
import { CUSTOMER, SHIPMENT } from "./numbering.ts";

/** Both statuses of a shipment. */
export type State = readonly [status: string, paymentStatus: string];

const PENDING: State = ["pending", "awaiting_payment"];
const PAID: State = ["awaiting_pickup", "paid"];

/** One kind of request, which a case measures; made by JSON, or by gRPC if it names a method. */
export interface Operation {
  readonly name: string;
  readonly json?: { readonly method: string; readonly path: string; readonly body?: object };
  readonly grpc?: { readonly method: DescMethodUnary; readonly request: JsonObject };
  /** What writes finds all shipments in this state, before every round; absent for what only reads. */
  readonly from?: State;
}

/** A route in the middle of New York City. */
export const ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
} as const;

/** Where the route begins and ends, for people. */
export const ADDRESSES = {
  pickup_address: "1 Times Square, New York",
  dropoff_address: "95 Prospect Park West, Brooklyn",
} as const;

const BOOKING = {
  customer_name: `Customer ${CUSTOMER}`,
  customer_email: `customer${CUSTOMER}@example.org`,
  ...ADDRESSES,
  ...ROUTE,
};
const ONE = `/v1/shipments/SHP-${SHIPMENT}`;
const { method } = ShipmentService;

export const quoteJson: Operation = {
  name: "quote",
  json: { method: "POST", path: "/v1/shipments/quote", body: ROUTE },
};
export const quoteGrpc: Operation = {
  name: "quote",
  grpc: { method: method.quoteShipment, request: ROUTE },
};
export const create: Operation = {
  name: "create",
  json: { method: "POST", path: "/v1/shipments", body: BOOKING },
  from: PENDING,
};
export const get: Operation = { name: "get", json: { method: "GET", path: ONE } };
export const list: Operation = {
  name: "list, 25 a page",
  json: { method: "GET", path: "/v1/shipments" },
};
export const getGrpc: Operation = {
  name: "get",
  grpc: { method: method.getShipment, request: { shipment: `SHP-${SHIPMENT}` } },
};
export const listGrpc: Operation = {
  name: "list, 25 a page",
  grpc: { method: method.listShipments, request: {} },
};
export const update: Operation = {
  name: "update",
  json: { method: "PATCH", path: ONE, body: { metadata: { order: SHIPMENT } } },
  from: PENDING,
};
export const pay: Operation = {
  name: "pay",
  json: { method: "POST", path: `${ONE}/payments`, body: { amount: 12.69, currency: "USD" } },
  from: PENDING,
};
export const advance: Operation = {
  name: "advance",
  json: { method: "POST", path: `${ONE}/advance` },
  from: PAID,
};
export const cancel: Operation = {
  name: "cancel",
  json: { method: "POST", path: `${ONE}/cancel` },
  from: PENDING,
};

/** An operation's request as the load generator sends it. */
export function requestOf({ json, grpc }: Operation, apiKey: string): Load["request"] {
  if (grpc !== undefined) {
    const { input, parent, name } = grpc.method;
    const message = toBinary(input, fromJson(input, grpc.request));
    // Whether it is compressed and its length come first (gRPC over HTTP2, Length-Prefixed-Message).
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    return {
      protocol: "HTTP/2",
      headers: [
        [":method", "POST"],
        [":scheme", "http"],
        [":path", `/${parent.typeName}/${name}`],
        [":authority", "127.0.0.1"],
        ["content-type", "application/grpc"],
        ["te", "trailers"],
        ["authorization", `Bearer ${apiKey}`],
      ],
      body: Buffer.concat([prefix, message]),
    };
  }
  const body = json!.body === undefined ? "" : JSON.stringify(json!.body);
  const lines = [
    `${json!.method} ${json!.path} HTTP/1.1`,
    "host: 127.0.0.1",
    `authorization: Bearer ${apiKey}`,
    ...(body === "" ? [] : ["content-type: application/json"]),
    ...(json!.method === "GET" ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
  ];
  return { protocol: "HTTP/1.1", bytes: Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`) };
}
