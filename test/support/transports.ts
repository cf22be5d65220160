import { createClient, type Client, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import type { Doors } from "./service.ts";

/** What a transport may be told, whatever its protocol. */
interface Options {
  readonly interceptors?: Interceptor[];
  readonly useBinaryFormat?: boolean;
}

/** Every protocol at every door that speaks it, in its binary and its JSON form. */
export const PROTOCOLS: Readonly<Record<string, (doors: Doors, options?: Options) => Transport>> = {
  "gRPC at the gRPC door": ({ grpcUrl }, options) =>
    createGrpcTransport({ baseUrl: grpcUrl, ...options }),
  "gRPC with JSON at the gRPC door": ({ grpcUrl }, options) =>
    createGrpcTransport({ baseUrl: grpcUrl, ...options, useBinaryFormat: false }),
  "gRPC-Web at the gRPC door": ({ grpcUrl }, options) =>
    createGrpcWebTransport({ baseUrl: grpcUrl, httpVersion: "2", ...options }),
  "Connect at the gRPC door": ({ grpcUrl }, options) =>
    createConnectTransport({ baseUrl: grpcUrl, httpVersion: "2", ...options }),
  "Connect with binary messages at the gRPC door": ({ grpcUrl }, options) =>
    createConnectTransport({
      baseUrl: grpcUrl,
      httpVersion: "2",
      ...options,
      useBinaryFormat: true,
    }),
  "gRPC-Web at the HTTP door": ({ httpUrl }, options) =>
    createGrpcWebTransport({ baseUrl: httpUrl, httpVersion: "1.1", ...options }),
  "gRPC-Web with JSON at the HTTP door": ({ httpUrl }, options) =>
    createGrpcWebTransport({
      baseUrl: httpUrl,
      httpVersion: "1.1",
      ...options,
      useBinaryFormat: false,
    }),
  "Connect at the HTTP door": ({ httpUrl }, options) =>
    createConnectTransport({ baseUrl: httpUrl, httpVersion: "1.1", ...options }),
  "Connect with binary messages at the HTTP door": ({ httpUrl }, options) =>
    createConnectTransport({
      baseUrl: httpUrl,
      httpVersion: "1.1",
      ...options,
      useBinaryFormat: true,
    }),
};

/** A client of the shipment service that sends the key, over the given transport. */
export function clientOver(
  transport: (options: Options) => Transport,
  apiKey: string,
): Client<typeof ShipmentService> {
  const withKey: Interceptor = (next) => (request) => {
    request.header.set("x-api-key", apiKey);
    return next(request);
  };
  return createClient(ShipmentService, transport({ interceptors: [withKey] }));
}
